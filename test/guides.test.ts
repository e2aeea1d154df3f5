// The examples in the guides, run as they stand: with the sources in place of the package.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseScript } from "../src/agents/index.ts";
import { examples, onSources } from "./support/guides.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-guides-"));
// Examples use other packages, too.
symlinkSync(join(import.meta.dirname, "../node_modules"), join(folder, "node_modules"));
/** Leaders of process groups that run. */
const groups = new Set<number>();
afterAll(() => {
	for (const group of groups) end(group);
	rmSync(folder, { recursive: true, force: true });
});

function run(code: string, name: string): Promise<{ code: number | null; said: string }> {
	const file = join(folder, `${name}.mts`);
	writeFileSync(file, onSources(code));
	const env = { ...process.env, NODE_OPTIONS: "--disable-warning=ExperimentalWarning" };
	const child = spawn(process.execPath, [file], { env, detached: true });
	groups.add(child.pid as number);
	let said = "";
	for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		// An example that failed may have left a program of its own behind.
		child.on("exit", () => end(child.pid as number));
		child.on("close", (exit) => resolve({ code: exit, said }));
	});
}

function end(group: number): void {
	groups.delete(group);
	try {
		process.kill(-group, "SIGKILL");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}

describe("the guide to testing", () => {
	const programs = examples("testing.md", "ts");

	test("has examples", () => {
		expect([programs.length, examples("testing.md", "yaml").length]).toEqual([3, 1]);
	});

	test.each(programs.map((code, index) => [`${index + 1}`, code]))(
		"example %s does what it says",
		async (name, code) => {
			expect(await run(code, name)).toEqual({ code: 0, said: "" });
		},
	);

	test.each(examples("testing.md", "yaml"))("shows a script that can be played", (text) => {
		expect(parseScript(text).rules).toHaveLength(4);
	});
});

describe("the guide to confirmations", () => {
	const programs = examples("confirmations.md", "ts");

	test.each(programs.map((code, index) => [`${index + 1}`, code]))(
		"example %s of two does what it says",
		async (name, code) => {
			expect(programs).toHaveLength(2);
			expect(await run(code, `confirmations-${name}`)).toEqual({ code: 0, said: "" });
		},
	);
});

test("the guide to tools has an example that does what it says", async () => {
	const [program = "", ...others] = examples("tools.md", "ts");
	expect(others).toEqual([]);
	expect(await run(program, "tools")).toEqual({ code: 0, said: "" });
});
