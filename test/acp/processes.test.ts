// Which programs run: one per conversation, so many in all, none that nobody needs, none without Keryx.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { AcpAgent } from "../../src/agents/index.ts";
import { programFile } from "../support/programs.ts";
import { person } from "./input.ts";
import { answer, Bench, begun, goneSoon, isGone, PROGRAM, textIn } from "./support.ts";

const MINUTE = 60_000;
const bench = new Bench();
afterAll(() => bench.end());

interface Place {
	readonly pid: number;
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
}

async function place(agent: AcpAgent, conversation = "c"): Promise<Place> {
	return JSON.parse(textIn(await answer(agent, { conversation, history: [person("where")] })));
}

async function familyOf(turn: { readonly first: unknown }): Promise<{ pid: number; child: number }> {
	return JSON.parse((turn.first as { delta: string }).delta);
}

test("two conversations at once have two programs, each in its own workspace", async () => {
	const workspaceOf = (conversation: string) => {
		const folder = join(bench.folder, conversation);
		mkdirSync(folder, { recursive: true });
		return folder;
	};
	const { agent } = bench.make("good", { workspaceOf });
	const waiting = await begun(agent, { conversation: "a", history: [person("wait")] });
	const b = await place(agent, "b");
	waiting.abort();
	const a = await place(agent, "a");
	expect([a.cwd, b.cwd]).toEqual([join(bench.folder, "a"), join(bench.folder, "b")]);
	expect(a.pid).not.toBe(b.pid);
	expect(await place(agent, "b")).toMatchObject({ pid: b.pid });
});

test("a program sees the environment it was given, and nothing else", async () => {
	vi.stubEnv("KERYX_TEST_SECRET", "do not look");
	const { agent } = bench.make();
	const { env } = await place(agent);
	vi.unstubAllEnvs();
	const ofTheShell = ["PWD", "OLDPWD", "SHLVL", "_"];
	expect(
		Object.keys(env)
			.filter((name) => !ofTheShell.includes(name))
			.sort(),
	).toEqual(Object.keys(bench.env).sort());
});

test("a program without a prompt is stopped after its time, and not before; the next turn starts another", async () => {
	const { agent, clock } = bench.make("good", { idleMinutes: 15 });
	const { pid } = await place(agent);
	await clock.advance(10 * MINUTE);
	expect(await place(agent)).toMatchObject({ pid });
	await clock.advance(14 * MINUTE);
	expect(isGone(pid)).toBe(false);
	await clock.advance(MINUTE);
	await goneSoon(pid);
	expect((await place(agent)).pid).not.toBe(pid);
});

test("a program at work is not idle, however long it takes", async () => {
	const { agent, clock } = bench.make("good", { idleMinutes: 1 });
	const { pid } = await place(agent);
	const turn = await begun(agent, { history: [person("wait")] });
	await clock.advance(60 * MINUTE);
	expect(isGone(pid)).toBe(false);
	turn.abort();
});

test("where no more may run, the longest idle one goes", async () => {
	const { agent } = bench.make("good", { maxPrograms: 2 });
	const a = await place(agent, "a");
	const b = await place(agent, "b");
	expect(await place(agent, "a")).toMatchObject({ pid: a.pid });
	await place(agent, "c");
	expect([isGone(a.pid), isGone(b.pid)]).toEqual([false, true]);
});

test("where all are at work, another waits until one is free; whoever stops waiting takes no place", async () => {
	const { agent } = bench.make("good", { maxPrograms: 1 });
	const first = await begun(agent, { conversation: "a", history: [person("wait")] });
	const impatient = new AbortController();
	const given = answer(agent, { conversation: "b", history: [person("hello")], signal: impatient.signal });
	const patient = answer(agent, { conversation: "c", history: [person("hello")] });
	impatient.abort();
	expect(await given).toEqual([]);
	first.abort();
	expect(textIn(await patient)).toBe("You said: hello");
});

test("one that ignores a cancel has five seconds, then its whole group is gone", async () => {
	const { agent, clock } = bench.make("deaf");
	const turn = await begun(agent, { history: [person("wait with a child")] });
	const { pid, child } = await familyOf(turn);
	turn.abort();
	expect(await turn.next()).toEqual({ done: true, value: undefined });
	await clock.advance(4999);
	expect([isGone(pid), isGone(child)]).toEqual([false, false]);
	await clock.advance(1);
	await goneSoon(pid, child);
	expect((await place(agent)).pid).not.toBe(pid);
});

test("a program that ends by itself leaves nothing of its group behind", async () => {
	const { agent } = bench.make();
	const turn = await begun(agent, { history: [person("wait with a child")] });
	const { pid, child } = await familyOf(turn);
	process.kill(pid, "SIGTERM");
	expect((await turn.next()).value).toMatchObject({ type: "failed", failure: { kind: "program_failed" } });
	await goneSoon(pid, child);
});

test("when the agent is closed all programs end; one that does not is ended", async () => {
	const good = bench.make();
	const deaf = bench.make("deaf");
	const { pid } = await place(good.agent);
	const turn = await begun(deaf.agent, { history: [person("wait with a child")] });
	const family = await familyOf(turn);
	await good.agent.close();
	expect(isGone(pid)).toBe(true);
	const closing = deaf.agent.close();
	await deaf.clock.advance(2000);
	await closing;
	await goneSoon(family.pid, family.child);
	expect(await answer(good.agent, "hello")).toMatchObject([{ type: "failed" }]);
});

test("when Keryx is killed with SIGKILL, its programs and what they started are gone, even those that do not listen", async () => {
	const host = programFile(new URL("host-child.ts", import.meta.url));
	const args = ["--disable-warning=ExperimentalWarning", host, PROGRAM, "deaf", bench.folder];
	const keryx = spawn(process.execPath, args, { env: bench.env, stdio: ["ignore", "pipe", "inherit"] });
	const said = await new Promise<string>((resolve) =>
		keryx.stdout.once("data", (data) => resolve(String(data))),
	);
	const { pid, child } = JSON.parse(said);
	expect([isGone(pid), isGone(child)]).toEqual([false, false]);
	keryx.kill("SIGKILL");
	await goneSoon(pid, child);
});
