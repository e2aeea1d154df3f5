import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programFile } from "../support/programs.ts";
import { type Bench, filesOf, openBench, put } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
	bench = await openBench();
});
afterAll(() => bench.end());

const KB = 1024;
const HOLDER = programFile(new URL("./lock-child.ts", import.meta.url));

describe("the limits", () => {
	test("on snapshots drop the oldest and free their space", async () => {
		const folder = bench.workspace();
		const few = bench.again({ maxSnapshots: 1000 });
		for (let n = 0; n < 6; n++) {
			put(folder, "noise.bin", randomBytes(500 * KB));
			await few.take({ workspace: folder, label: `${n}` });
		}
		const { dropped, bytesBefore, bytes } = await bench.again({ maxSnapshots: 2 }).prune(folder);
		expect(dropped).toHaveLength(4);
		expect(bytesBefore).toBeGreaterThan(3000 * KB);
		expect(bytes).toBeLessThan(1100 * KB);
		const list = await bench.checkpoints.list(folder);
		expect(list.map(({ label }) => label)).toEqual(["5", "4"]);
		await bench.checkpoints.restore(folder, list[1]?.id ?? "", { force: true });
	});

	test("on space drop as many as it takes, and never the newest", async () => {
		const folder = bench.workspace();
		for (let n = 0; n < 6; n++) {
			put(folder, "noise.bin", randomBytes(500 * KB));
			await bench.checkpoints.take({ workspace: folder, label: `${n}` });
		}
		const { bytes } = await bench.again({ maxTotalMb: 1.6 }).prune(folder);
		expect(bytes).toBeLessThanOrEqual(1.6 * KB * KB);
		expect(await bench.checkpoints.list(folder)).toHaveLength(3);
		await bench.again({ maxTotalMb: 0.001 }).prune(folder);
		expect(await bench.checkpoints.list(folder)).toMatchObject([{ label: "5" }]);
	});

	test("hold by themselves, and the last snapshot goes on being compared with", async () => {
		const folder = bench.workspace();
		const few = bench.again({ maxSnapshots: 3 });
		for (let n = 0; n < 8; n++) {
			put(folder, "a.txt", `${n}`);
			await few.take({ workspace: folder, label: `${n}` });
		}
		await few.close();
		expect((await bench.checkpoints.list(folder)).map(({ label }) => label)).toEqual(["7", "6", "5"]);
		expect(await bench.checkpoints.take({ workspace: folder, label: "x" })).toMatchObject({
			kind: "unchanged",
		});
	});

	test("do not remove what an open restore goes back to, or is undone by", async () => {
		const folder = bench.workspace();
		const ids: string[] = [];
		for (let n = 0; n < 5; n++) {
			put(folder, "a.txt", `${n}`);
			const outcome = await bench.checkpoints.take({ workspace: folder, label: `${n}` });
			ids.push(outcome.kind === "failed" ? "" : outcome.id);
		}
		const [{ workspace } = { workspace: "" }] = await bench.checkpoints.list(folder);
		const [target = "", , before = ""] = ids;
		const plan = { steps: [], kept: [], untouched: [], emptyThen: [] };
		const open = await bench.store.beginRestore({ workspace, folder, target, before, plan });
		await bench.again({ maxSnapshots: 1 }).prune(folder);
		const kept = (await bench.checkpoints.list(folder)).map(({ id }) => id);
		expect(kept).toEqual([ids[4], before, target]);
		await bench.store.endRestore({ id: open.id, restored: 0, removed: 0, kept: 0 });
		await bench.again({ maxSnapshots: 1 }).prune(folder);
		expect(await bench.checkpoints.list(folder)).toHaveLength(1);
	});

	test("a repository whose cache is damaged, or builds on what is gone, is read anew", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "1");
		const first = await bench.checkpoints.take({ workspace: folder, label: "1" });
		if (first.kind === "failed") throw new Error(first.reason);
		const cache = join(bench.home, "checkpoints", first.checkpoint.workspace, "scan.cache");
		expect(existsSync(cache)).toBe(true);
		writeFileSync(cache, "{}\nnothing");
		expect(await bench.checkpoints.take({ workspace: folder, label: "2" })).toMatchObject({
			kind: "unchanged",
		});
		put(folder, "a.txt", "2");
		expect(await bench.checkpoints.take({ workspace: folder, label: "3" })).toMatchObject({ kind: "taken" });
	});
});

describe("the lock", () => {
	test("lets one after the other work on a workspace, and all of them be done", async () => {
		const folder = bench.workspace();
		put(folder, "a.txt", "1");
		const first = await bench.checkpoints.take({ workspace: folder, label: "first" });
		put(folder, "a.txt", "2");
		await Promise.all(
			Array.from({ length: 5 }, (_, n) => bench.checkpoints.take({ workspace: folder, label: `${n}` })),
		);
		expect(await bench.checkpoints.list(folder)).toHaveLength(2);
		const others = [bench.again(), bench.again()];
		await Promise.all(
			others.map((other) => other.restore(folder, first.kind === "failed" ? "" : first.id, { force: true })),
		);
		expect(filesOf(folder)).toEqual({ "a.txt": "file 1" });
		const names = readdirSync(join(bench.home, "checkpoints"));
		expect(names.filter((name) => name.endsWith(".owner.txt"))).toEqual([]);
	});

	test("of another process is waited for, but not for ever, and its holder is named; that of a dead process is free at once", async () => {
		const folder = bench.workspace();
		const quick = bench.again({ lockWaitMs: 100 });
		const taken = await quick.take({ workspace: folder, label: "first" });
		if (taken.kind === "failed") throw new Error(taken.reason);
		const lock = join(bench.home, "checkpoints", `${taken.checkpoint.workspace}.owner`);
		const holder = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", HOLDER, lock], {
			stdio: ["pipe", "pipe", "inherit"],
		});
		await once(holder.stdout, "data");
		const busy = await quick.take({ workspace: folder, label: "x" });
		expect(busy).toMatchObject({ kind: "failed", code: "checkpoint.busy" });
		await expect(quick.restore(folder, taken.id)).rejects.toMatchObject({
			code: "checkpoint.busy",
			message: expect.stringContaining(JSON.stringify({ host: hostname(), pid: holder.pid })),
		});
		const ended = once(holder, "exit");
		holder.kill("SIGKILL");
		await ended;
		// What it left is no obstacle, not even for a caller that does not wait.
		expect(existsSync(`${lock}.txt`)).toBe(true);
		const hasty = bench.again({ lockWaitMs: 0 });
		expect(await hasty.restore(folder, taken.id)).toMatchObject({ kept: [] });
		expect(existsSync(`${lock}.txt`)).toBe(false);
	});
});
