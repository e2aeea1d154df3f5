// The database server that the store is on: its version, clock and connections, and the gateways that use it.
import { type Home, isOnServer, storeUrlOf } from "../../../app/home.ts";
import type { Config } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { SCHEMA_VERSION, serverFacts } from "../../../store/index.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";

/** Leases go by the server's clock, everything else by this machine's. */
const CLOCKS_APART_MS = 2000;
/** The connections that one gateway needs. */
const CONNECTIONS = 8;

export async function lookAtServer(
	home: Home,
	config: Pick<Config, "store">,
	now: () => number,
): Promise<Finding[]> {
	if (!isOnServer(config.store)) return [];
	try {
		const { version, aheadMs, connections, schema, nodes } = await serverFacts(storeUrlOf(home, config), now);
		const { used, most } = connections;
		const words = texts.doctor.server;
		const apart = (aheadMs / 1000).toFixed(1);
		const silent = nodes.filter(({ leaseMs }) => leaseMs < 0).map(({ name }) => name);
		return [
			schema !== null && schema < SCHEMA_VERSION
				? wrong("server", words.older(version, schema, SCHEMA_VERSION), words.migrate)
				: fine("server", words.found(version, schema ?? SCHEMA_VERSION)),
			Math.abs(aheadMs) > CLOCKS_APART_MS
				? remark("clock", words.apart(apart), words.setClocks)
				: fine("clock", words.together(apart)),
			most - used < CONNECTIONS
				? wrong("connections", words.connections(used, most), words.raiseConnections)
				: fine("connections", words.connections(used, most)),
			silent.length > 0
				? remark("nodes", words.silent(silent.join(", ")))
				: fine("nodes", words.nodes(nodes.map(({ name }) => name).join(", ") || words.none)),
		];
	} catch (error) {
		if (!(error instanceof KeryxError)) throw error;
		return [wrong("server", error.message, error.hint)];
	}
}
