// What the store keeps of checkpoints, the same on each engine.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_SECRETS, openStore, type Store } from "../../src/store/index.ts";
import { countedIds, createWallClock } from "../support/clock.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { openEmptied } from "../support/postgres-store.ts";

const OPERATOR = { kind: "operator" } as const;
type Recorded = Parameters<Store["recordCheckpoint"]>[0];

let server: PostgresServer;
beforeAll(async () => {
	server = await startPostgres();
});
afterAll(() => server.remove());

const ENGINES: Record<string, () => Promise<Store>> = {
	SQLite: () =>
		openStore({ url: "sqlite::memory:", clock: createWallClock(), ids: countedIds(), secrets: NO_SECRETS }),
	PostgreSQL: async () => (await openEmptied(server.url())).store,
};

describe.each(Object.entries(ENGINES))("on %s", (_, open) => {
	test("checkpoints, the stretches between them and restores are kept, and what a restore needs is not dropped", async () => {
		const store = await open();
		const workspace = "w1";
		const record = (
			n: number,
			tree: string,
			window: Recorded["window"] = null,
			replaces: string | null = null,
		) =>
			store.recordCheckpoint({
				...{ id: `id${n}`, workspace, folder: "/w", kind: "manual", label: `label ${n}`, conversation: null },
				...{
					session: null,
					turn: null,
					commit: `commit${n}`,
					replaces,
					tree,
					total: n,
					excluded: [],
					window,
				},
				changed: n === 1 ? null : { files: 1, insertions: 2, deletions: 3 },
			});
		expect(await record(1, "A", { owner: "turn", edge: "from" })).toMatchObject({ kind: "taken" });
		expect(await record(2, "A", null, "commit1")).toMatchObject({
			kind: "unchanged",
			checkpoint: { id: "id1", commit: "commit2", changed: null },
		});
		await record(3, "B", { owner: "turn", edge: "to" });
		await record(4, "C", { owner: "later", edge: "from" });
		const list = await store.checkpoints({ scope: OPERATOR, workspace });
		expect(list.map(({ id }) => id)).toEqual(["id1", "id3", "id4"]);
		expect(list[1]).toMatchObject({ label: "label 3", changed: { files: 1, insertions: 2, deletions: 3 } });
		const [first, third, fourth] = list.map(({ n }) => n);
		expect(await store.checkpointWindows({ scope: OPERATOR, workspace })).toEqual([
			{ owner: "turn", from: first, to: third },
			{ owner: "later", from: fourth, to: null },
		]);

		const restore = await store.beginRestore({
			workspace,
			folder: "/w",
			target: "id1",
			before: "id4",
			plan: [1],
		});
		expect(await store.openRestores({ scope: OPERATOR })).toEqual([restore]);
		const second = store.beginRestore({ workspace, folder: "/w", target: "id1", before: "id4", plan: [] });
		await expect(second).rejects.toMatchObject({ code: "checkpoint.busy" });
		expect(await store.dropCheckpoints({ workspace, ids: ["id1", "id3", "id4"] })).toEqual(["id3"]);
		expect(await store.endRestore({ id: restore.id, restored: 1, removed: 0, kept: 0 })).not.toBeNull();
		expect(await store.endRestore({ id: restore.id, restored: 1, removed: 0, kept: 0 })).toBeNull();
		expect(await store.dropCheckpoints({ workspace, ids: ["id1"] })).toEqual(["id1"]);
		expect(await store.checkpoints({ scope: OPERATOR, workspace })).toHaveLength(1);
		// A stretch that ended before the oldest one that is left says nothing any more.
		const left = await store.checkpointWindows({ scope: OPERATOR, workspace });
		expect(left.map(({ owner }) => owner).sort()).toEqual([restore.id, "later"].sort());
		await store.close();
	});
});
