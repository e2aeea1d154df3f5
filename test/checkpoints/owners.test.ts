// Several gateways on one store, whose workspaces have the same path on different disks, as in containers: each has its own snapshots, and
// finishes only its own restores.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Checkpoints, createCheckpoints } from "../../src/checkpoints/index.ts";
import { type Bench, openBench, put, SETTINGS } from "./support.ts";

let bench: Bench;
let opened: Checkpoints[] = [];
beforeEach(async () => {
	bench = await openBench();
});
afterEach(async () => {
	for (const checkpoints of opened) await checkpoints.close();
	opened = [];
	await bench.end();
});

/** A gateway with a disk of its own, where workspaces have the path that all gateways have. */
function gateway(owner: string | undefined, home = owner ?? "only"): { of: Checkpoints; folder: string } {
	const disk = join(bench.folder, home);
	const folder = join(disk, "workspace");
	for (const one of [join(disk, "home"), folder]) mkdirSync(one, { recursive: true });
	const of = createCheckpoints({
		home: join(disk, "home"),
		owner,
		nameOf: () => "/the/same/path",
		store: bench.store,
		clock: bench.clock,
		settings: () => SETTINGS,
	});
	opened.push(of);
	return { of, folder };
}

async function taken({ of, folder }: ReturnType<typeof gateway>, text: string): Promise<string> {
	put(folder, "a.txt", text);
	const outcome = await of.take({ workspace: folder, label: text });
	if (outcome.kind !== "taken") throw new Error(`not taken: ${outcome.kind}`);
	return outcome.checkpoint.id;
}

test("each gateway lists, restores and prunes its own snapshots", async () => {
	const [a, b] = [gateway("a"), gateway("b")];
	const first = await taken(a, "of a");
	const second = await taken(b, "of b");
	expect((await a.of.list(a.folder)).map(({ id }) => id)).toEqual([first]);
	expect((await b.of.list(b.folder)).map(({ id }) => id)).toEqual([second]);
	await expect(b.of.restore(b.folder, first)).rejects.toMatchObject({ code: "store.not_found" });
	await a.of.restore(a.folder, first);
});

test("an interrupted restore is finished by the gateway that began it", async () => {
	const [a, b] = [gateway("a"), gateway("b")];
	const target = await taken(a, "then");
	const before = await taken(a, "now");
	await taken(b, "of b");
	const [{ workspace = "" } = {}] = await a.of.list(a.folder);
	const plan = { steps: [], kept: [], untouched: [], emptyThen: [] };
	const { id } = await bench.store.beginRestore({ workspace, folder: a.folder, target, before, plan });
	expect(await b.of.recover()).toEqual([]);
	expect(await a.of.recover()).toMatchObject([{ id, problem: null }]);
});

test("a gateway that was alone finds its snapshots when others join it", async () => {
	const alone = gateway(undefined);
	const id = await taken(alone, "before");
	const joined = gateway("only");
	expect((await joined.of.list(joined.folder)).map((one) => one.id)).toEqual([id]);
	await joined.of.restore(joined.folder, id);
});
