// Several gateways on one store, started by the command, each with its own home: they need the same keys, and one that hangs is given up.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient, socketTransport } from "../../src/http/index.ts";
import { asJson, commandIn, type Gateway } from "../support/keryx.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { onServer } from "../support/postgres-store.ts";

const NODES = 2;

const root = mkdtempSync(join(tmpdir(), "keryx-cluster-"));
const { keryx, start } = commandIn(root);
let server: PostgresServer;
const running = new Map<string, Gateway>();
beforeAll(async () => {
	server = await startPostgres();
});
afterEach(async () => {
	await Promise.all([...running.values()].map((gateway) => gateway.stop("SIGKILL")));
	running.clear();
});
afterAll(async () => {
	await server.remove();
	rmSync(root, { recursive: true, force: true });
});

const homeOf = (schema: string, n: number) => join(root, `${schema}-${n}`);

function clusterOf(schema: string) {
	const url = `${server.url()}?schema=${schema}`;
	const envOf = (n: number) => ({
		KERYX_HOME: homeOf(schema, n),
		KERYX_STORE_URL: url,
		KERYX_STORE_NODES: "many",
		...(n === 0 && { KERYX_NODE_NAME: "berlin" }),
		KERYX_LEASE_SECONDS: "2",
		KERYX_LEASE_HEARTBEAT_SECONDS: "0.5",
	});
	const begin = async (n: number) => {
		const gateway = await start(homeOf(schema, n), [], envOf(n));
		running.set(homeOf(schema, n), gateway);
	};
	return {
		begin,
		envOf,
		copyKeys: (n: number) => {
			mkdirSync(homeOf(schema, n), { recursive: true, mode: 0o700 });
			for (const key of ["audit.key", "pseudonym.key"])
				copyFileSync(join(homeOf(schema, 0), key), join(homeOf(schema, n), key));
		},
		clientOf: (n: number) => createClient(socketTransport(join(homeOf(schema, n), "keryx.sock"))),
		rows: <Row extends object>(sql: string) => onServer<Row & Record<string, unknown>>(server.url(), sql),
	};
}

type Cluster = ReturnType<typeof clusterOf>;

/** Until some node has taken it: under the same id, so that it is taken once. */
async function say(cluster: Cluster, user: number, text: string, first = user + text.length): Promise<void> {
	for (let n = first; ; n++) {
		const taken = await cluster
			.clientOf(n % NODES)
			.send({
				text,
				client_message_id: text,
				source: { platform: "local", chat_type: "dm", user_id: `user ${user}` },
			})
			.then(
				() => true,
				() => false,
			);
		if (taken) return;
	}
}

describe("several gateways on one store", () => {
	test("one that stands still for longer than its lease does nothing afterwards, and ends", {
		timeout: 120_000,
	}, async () => {
		const cluster = clusterOf("stopped");
		await cluster.begin(0);
		await expect(cluster.begin(1)).rejects.toThrow("audit.key and pseudonym.key from the home of another");
		cluster.copyKeys(1);
		const called = await keryx([], { env: { ...cluster.envOf(1), KERYX_NODE_NAME: "berlin" } });
		expect(called.stderr).toContain("another gateway on this store is called berlin");
		expect(called.stderr).toContain("set node.name");
		await cluster.begin(1);
		const gateway = running.get(homeOf("stopped", 0)) as Gateway;
		const listed = await keryx(["nodes", "--json"], { env: cluster.envOf(1) });
		expect(asJson(listed).nodes).toHaveLength(2);
		await say(cluster, 0, "before", 0);
		process.kill(gateway.pid, "SIGSTOP");
		const asleep = say(cluster, 0, "meanwhile", 1);
		const live = "SELECT name FROM stopped.nodes WHERE ended_at IS NULL";
		await expect.poll(() => cluster.rows(live)).toHaveLength(1);
		await asleep;
		process.kill(gateway.pid, "SIGCONT");
		expect(await gateway.ended).toBe(1);
		expect(gateway.complaints()).toContain("another gateway has taken over");
		const told = "SELECT disposition, count(*)::int AS n FROM stopped.inbox GROUP BY disposition";
		await expect.poll(() => cluster.rows(told)).toEqual([{ disposition: "answered", n: 2 }]);
	});
});
