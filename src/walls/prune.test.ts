import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pruneStatus, pruneTmp } from "./prune.ts";

let top: string;
let folder: string;
beforeEach(() => {
	top = mkdtempSync("/var/tmp/keryx-prune-");
	folder = join(top, "tmp");
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const LONG_AGO = new Date("2020-01-01");
const BEFORE = Date.parse("2021-01-01");

function make(name: string, files: Readonly<Record<string, Date>>): void {
	mkdirSync(join(folder, name), { recursive: true });
	for (const [file, at] of Object.entries(files)) {
		writeFileSync(join(folder, name, file), "x");
		utimesSync(join(folder, name, file), at, at);
	}
	utimesSync(join(folder, name), LONG_AGO, LONG_AGO);
}

test("what nobody has used for long is removed, and nothing else", () => {
	make("old", { file: LONG_AGO });
	make("empty", {});
	make("written", { file: new Date("2022-01-01") });
	make("running", { file: LONG_AGO });
	make("begun", {});
	utimesSync(join(folder, "begun"), new Date("2022-01-01"), new Date("2022-01-01"));
	expect(pruneTmp({ folder, before: BEFORE, isUsed: (name) => name === "running" })).toBe(2);
	expect(readdirSync(folder).sort()).toEqual(["begun", "running", "written"]);
});

test("links are removed, what they lead to is not, and folders without rights go too", () => {
	const outside = join(top, "outside");
	mkdirSync(outside);
	writeFileSync(join(outside, "file"), "stays");
	make("old", {});
	mkdirSync(join(folder, "old/locked/deeper"), { recursive: true });
	symlinkSync(outside, join(folder, "old/locked/link"));
	for (const name of ["old/locked/deeper", "old/locked"]) {
		utimesSync(join(folder, name), LONG_AGO, LONG_AGO);
		chmodSync(join(folder, name), 0);
	}
	utimesSync(join(folder, "old"), LONG_AGO, LONG_AGO);
	expect(pruneTmp({ folder, before: BEFORE, isUsed: () => false })).toBe(1);
	expect(existsSync(join(folder, "old"))).toBe(false);
	expect(readdirSync(outside)).toEqual(["file"]);
});

test("where there is no folder yet, nothing is pruned", async () => {
	expect(pruneTmp({ folder, before: BEFORE, isUsed: () => false })).toBe(0);
	await pruneStatus(folder);
});

test("notes of namespaces that are gone are removed, other files stay", async () => {
	mkdirSync(folder);
	for (const name of ["a.status", "b.status", "other"]) writeFileSync(join(folder, name), "");
	writeFileSync(join(folder, "b.status"), '{ "child-pid": 4194305, "pid-namespace": 4026531836 }\n');
	await pruneStatus(folder);
	expect(readdirSync(folder)).toEqual(["other"]);
});
