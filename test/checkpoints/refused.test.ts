// What the system refuses: folders that cannot be changed, mount points. Root is refused nothing, so these tests run as nobody.
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asNobody, type Bench, filesOf, openBench, put, takeTurn } from "./support.ts";

let bench: Bench;
let back: () => void;
beforeAll(async () => {
	back = asNobody();
	bench = await openBench();
});
afterAll(async () => {
	await bench.end();
	back();
});

test("a folder that cannot be removed is named, and the restore ends; later ones are not in its way", async () => {
	const folder = bench.workspace();
	put(folder, "a", "old");
	mkdirSync(join(folder, "locked"));
	const before = await takeTurn(bench, folder, () => {
		put(folder, "a", "agent");
		put(folder, "locked/made/by/agent", "agent");
	});
	chmodSync(join(folder, "locked"), 0o555);
	try {
		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({
			restored: ["a"],
			removed: ["locked/made/by/agent"],
			kept: [{ path: "locked/made/", reason: "refused" }],
		});
		expect(filesOf(folder)).toEqual({ a: "file old" });
		await bench.checkpoints.restore(folder, report.before.id);
		expect(filesOf(folder)).toEqual({ a: "file agent", "locked/made/by/agent": "file agent" });
	} finally {
		chmodSync(join(folder, "locked"), 0o755);
	}
});

test("a file in a folder that cannot be changed is kept and named, and so is one that cannot be put there", async () => {
	const folder = bench.workspace();
	put(folder, "locked/gone", "old");
	const before = await takeTurn(bench, folder, () => {
		rmSync(join(folder, "locked/gone"));
		put(folder, "locked/made", "agent");
	});
	chmodSync(join(folder, "locked"), 0o555);
	try {
		expect(await bench.checkpoints.restore(folder, before)).toMatchObject({
			restored: [],
			removed: [],
			kept: [
				{ path: "locked/made", reason: "refused" },
				{ path: "locked/gone", reason: "refused" },
			],
		});
	} finally {
		chmodSync(join(folder, "locked"), 0o755);
	}
	expect(await bench.checkpoints.restore(folder, before)).toMatchObject({
		restored: ["locked/gone"],
		removed: ["locked/made"],
		kept: [],
	});
	expect(readdirSync(join(folder, "locked"))).toEqual(["gone"]);
});
