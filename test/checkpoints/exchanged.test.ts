// Snapshots and restores of a workspace in which a program runs that exchanges folders for links to Keryx's home, without pause. What is
// found at one moment is something else at the next; whatever that is, nothing of the home is read and nothing is written there.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Folders } from "../../src/checkpoints/folders.ts";
import { type Bench, openBench, put } from "./support.ts";

const SECRET = "the operator's own";
const ROUNDS = 2;
const FILES = 200;

/** The folder and the link change places, over and over. */
const EXCHANGE = `
	const { renameSync } = require("node:fs");
	const [, folder, link] = process.argv;
	const move = (from, to) => { try { renameSync(from, to); } catch {} };
	process.stdout.write("begun");
	for (;;) {
		move(folder, folder + ".aside"); move(link, folder);
		move(folder, link); move(folder + ".aside", folder);
	}`;

let bench: Bench;
let workspace: string;
const running = new Set<ChildProcess>();
beforeEach(async () => {
	bench = await openBench({ maxSnapshots: 100 });
	workspace = bench.workspace();
	put(bench.home, "operator.secret", SECRET);
	put(bench.home, "config.yaml", "approvals: {}\n");
	put(workspace, "a/operator.secret", "decoy");
	put(workspace, "a/config.yaml", "approvals: {mode: off}\n");
	for (let n = 0; n < FILES; n++) put(workspace, `a/file-${n}`, `${n}`);
});
afterEach(async () => {
	await Promise.all([...running].map(ended));
	await bench.end();
});

describe("while folders are exchanged for links to the home", () => {
	test("no snapshot holds anything of the home", async () => {
		symlinkSync(bench.home, join(workspace, "link"));
		await exchange();
		for (let n = 0; n < ROUNDS; n++) {
			put(workspace, "changed", `${n}`);
			expect((await bench.checkpoints.take({ workspace, label: `${n}` })).kind).toBe("taken");
		}
		expect(savedContents().includes(SECRET)).toBe(false);
	});

	test("no restore writes there or removes anything", async () => {
		const { id } = (await bench.checkpoints.take({ workspace, label: "then" })) as { id: string };
		for (let round = 0; round < ROUNDS; round++) {
			for (const name of readdirSync(workspace)) rmSync(join(workspace, name), { recursive: true });
			for (let n = 0; n < FILES; n++) put(workspace, `a/file-${n}`, "changed");
			symlinkSync(bench.home, join(workspace, "link"));
			const stop = await exchange();
			await bench.checkpoints.restore(workspace, id, { force: true });
			await stop();
		}
		expect(readdirSync(bench.home).sort()).toEqual(["checkpoints", "config.yaml", "operator.secret"]);
		expect(readFileSync(join(bench.home, "config.yaml"), "utf8")).toBe("approvals: {}\n");
	});
});

test("of a workspace that was exchanged for a link into the home, none is taken", async () => {
	put(bench.home, "processes/log", SECRET);
	rmSync(workspace, { recursive: true });
	symlinkSync(join(bench.home, "processes"), workspace);
	expect(await bench.checkpoints.take({ workspace, label: "linked" })).toMatchObject({
		kind: "failed",
		code: "checkpoint.refused",
	});
});

describe("a folder", () => {
	test("that a link stands in the place of, or above, is none", () => {
		symlinkSync(bench.home, join(workspace, "link"));
		mkdirSync(join(bench.home, "below"));
		const folders = new Folders(workspace);
		expect([folders.open("link"), folders.open("link/below"), folders.open("nowhere")]).toEqual([
			"blocked",
			"blocked",
			"missing",
		]);
		expect(folders.read("link/operator.secret")).toBe(null);
		folders.close();
	});

	test("that is open stays the one it was, whatever stands in its place", () => {
		const folders = new Folders(workspace);
		const folder = folders.open("a");
		renameSync(join(workspace, "a"), join(workspace, "aside"));
		symlinkSync(bench.home, join(workspace, "a"));
		expect(typeof folder === "string" ? folder : readFileSync(folder.at("operator.secret"), "utf8")).toBe(
			"decoy",
		);
		expect(folders.open("a")).toBe("blocked");
		folders.close();
	});
});

/** Answers how to end it. */
async function exchange(): Promise<() => Promise<unknown>> {
	const child = spawn(process.execPath, ["-e", EXCHANGE, join(workspace, "a"), join(workspace, "link")], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	running.add(child);
	await new Promise((resolve) => child.stdout?.once("data", resolve));
	return () => ended(child);
}

function ended(child: ChildProcess): Promise<unknown> {
	running.delete(child);
	const gone = new Promise((resolve) => child.once("exit", resolve));
	child.kill("SIGKILL");
	return gone;
}

/** Everything in every repository. */
function savedContents(): string {
	const folder = join(bench.home, "checkpoints");
	const repositories = readdirSync(folder).filter((name) => /^[0-9a-f]{32}$/.test(name));
	return repositories
		.map((name) =>
			execFileSync("git", ["cat-file", "--batch-all-objects", "--batch"], {
				cwd: join(folder, name),
				env: { PATH: process.env.PATH, GIT_DIR: join(folder, name) },
				encoding: "latin1",
			}),
		)
		.join("");
}
