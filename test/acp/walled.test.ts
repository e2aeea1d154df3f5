// The ends of programs behind a wall, as seen from outside: with them goes everything they started, whoever of them, or Keryx, dies.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { programFile } from "../support/programs.ts";
import { eventually } from "../support/soon.ts";
import { until } from "../support/until.ts";
import { read } from "../walls/scene.ts";
import { person } from "./input.ts";
import { answer, Bench, begun, PROGRAM, textIn } from "./support.ts";

/** How often Keryx is killed while a program starts. */
const KILLS = Number(process.env.KERYX_CRASH_RUNS ?? 6);
const bench = new Bench("mask");
afterAll(() => bench.end());

/** Everything on this machine, launchers included, that has this word among its arguments. */
function withWord(word: string): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
		.filter(
			(pid) => read(`/proc/${pid}/cmdline`).includes(word) && !/\) [ZX] /.test(read(`/proc/${pid}/stat`)),
		)
		.map(Number);
}

const gone = (word: string) => eventually(() => expect(withWord(word)).toEqual([]));
const marked = (manner: string) => {
	const word = `mark-${randomBytes(8).toString("hex")}`;
	const args = ["--disable-warning=ExperimentalWarning", PROGRAM, manner, word];
	return { word, ...bench.make(manner, { args }) };
};

test("I17: a program does not see Keryx's home, and its pids are its own", async () => {
	const { agent } = marked("good");
	const where = JSON.parse(textIn(await answer(agent, { history: [person("where")] })));
	expect(where.cwd).toBe(bench.folder);
	expect(where.pid).toBeLessThan(100);
	expect(readdirSync(join(bench.folder, ".keryx/walls"))).toHaveLength(1);
	await agent.close();
	expect(readdirSync(join(bench.folder, ".keryx/walls"))).toEqual([]);
});

test("one that ignores a cancel is gone after five seconds, with what it started", async () => {
	const { agent, clock, word } = marked("deaf");
	const turn = await begun(agent, { history: [person("wait with a child")] });
	expect(withWord(word).length).toBeGreaterThan(0);
	turn.abort();
	await clock.advance(5000);
	await gone(word);
});

test("when the agent is closed its program is gone, and nothing is left of its wall", async () => {
	const { agent, clock, word } = marked("deaf");
	await begun(agent, { history: [person("wait with a child")] });
	const closing = agent.close();
	await clock.advance(2000);
	await closing;
	expect(withWord(word)).toEqual([]);
});

test("however early Keryx is killed with SIGKILL, its programs and what they started are gone", {
	timeout: 120_000 + KILLS * 5000,
}, async () => {
	const host = programFile(new URL("host-child.ts", import.meta.url));
	for (let i = 0; i < KILLS; i++) {
		const manner = i % 2 ? "deaf" : "good";
		const args = ["--disable-warning=ExperimentalWarning", host, PROGRAM, manner, bench.folder, "mask"];
		const keryx = spawn(process.execPath, args, {
			env: bench.env,
			stdio: ["ignore", "pipe", "inherit"],
		});
		const ended = new Promise((resolve) => keryx.once("exit", resolve));
		// From the first moment that a program of it is there, to when it works.
		if (i % 3 === 0) await new Promise((resolve) => keryx.stdout.once("data", resolve));
		else await until(() => childrenOf(keryx.pid as number).length > 0);
		const family = descendantsOf(keryx.pid as number);
		keryx.kill("SIGKILL");
		await ended;
		await eventually(() => expect(family.filter(isAlive)).toEqual([]));
	}
});

function childrenOf(pid: number): number[] {
	return read(`/proc/${pid}/task/${pid}/children`).trim().split(" ").filter(Boolean).map(Number);
}

/** By pid and start time: a number may be given to somebody else meanwhile. */
function descendantsOf(pid: number): { readonly pid: number; readonly start: string }[] {
	return childrenOf(pid).flatMap((child) => [{ pid: child, start: startOf(child) }, ...descendantsOf(child)]);
}

function isAlive({ pid, start }: { readonly pid: number; readonly start: string }): boolean {
	return start !== "" && startOf(pid) === start && !/\) [ZX] /.test(read(`/proc/${pid}/stat`));
}

function startOf(pid: number): string {
	return read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[19] ?? "";
}
