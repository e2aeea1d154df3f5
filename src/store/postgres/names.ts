// A name belongs to one living node and identifies its programs and workspaces. A node that starts under a taken name waits until
// the other is known to be alive or dead.
import { setTimeout as pause } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import type { ServerSettings } from "./address.ts";
import type { Connection } from "./connection.ts";
import { bury, type LiveNode, type NodeSettings, seenNodes } from "./nodes.ts";

/** A node whose lock is free for this long has crashed. After a server outage, living nodes are back before that. */
export const UNLOCKED_MS = 2500;
export const LOOK_MS = 250;

/** Buries a dead node of this name. Throws store.node_name if it renews its lease. */
export async function freeName(
	connection: Connection,
	settings: ServerSettings,
	{ name, nodes }: { readonly name: string; readonly nodes: NodeSettings["nodes"] },
): Promise<void> {
	let first: LiveNode | undefined;
	let unlockedSince: number | null = null;
	for (;;) {
		const other = (await seenNodes(connection, settings)).find((node) => node.name === name);
		if (!other) return;
		// Someone else took the name meanwhile, or its holder renewed the lease.
		if (first && (first.epoch !== other.epoch || first.expires_at !== other.expires_at))
			throw nameTaken(name);
		first = other;
		const now = performance.now();
		unlockedSince = other.held ? null : (unlockedSince ?? now);
		const hasCrashed = unlockedSince !== null && now - unlockedSince > UNLOCKED_MS;
		// An exclusive node has the store's lock: every other node is dead.
		if (nodes === "one" || hasCrashed) await bury(connection, settings, [other.epoch], { anyway: true });
		else if (other.expired && other.held) await bury(connection, settings, [other.epoch], { anyway: false });
		else await pause(LOOK_MS);
	}
}

export function nameTaken(name: string): KeryxError {
	return new KeryxError("store.node_name", `another gateway on this store is called ${name}`);
}
