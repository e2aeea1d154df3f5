// A program behind the real gateway: messages in, answers out, the transcript Keryx's.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { Scene, type SceneOptions } from "../gateway/support.ts";
import { asJson, call, commandIn, workspacesOf } from "../support/keryx.ts";
import { eventually } from "../support/soon.ts";
import { read } from "../walls/scene.ts";
import { Bench, goneSoon, isGone, PROGRAM } from "./support.ts";

const bench = new Bench();
const scenes: Scene[] = [];
/** Of Keryx in processes of its own. */
const started: number[] = [];
/** Not in /tmp: the program's wall has its own. */
const root = mkdtempSync("/var/tmp/keryx-acp-host-");
afterEach(async () => {
	for (const scene of scenes.splice(0)) await scene.end();
});
afterAll(async () => {
	await bench.end();
	for (const pid of started) if (!isGone(pid)) process.kill(pid, "SIGKILL");
	rmSync(root, { recursive: true, force: true });
});

async function scene(config: SceneOptions["config"] = {}): Promise<Scene> {
	const made = await Scene.start({ agent: (clock) => bench.make("good", { clock }).agent, config });
	scenes.push(made);
	return made;
}

/** The program has a process of its own, which no virtual clock waits for. */
async function answers(life: Scene, count: number): Promise<string[]> {
	await eventually(async () => {
		await life.clock.advance(0);
		expect(life.texts()).toHaveLength(count);
	});
	return life.texts();
}

/** What the program said it was shown, when it was asked last. */
async function told(life: Scene): Promise<{ texts: string[] }> {
	const id = await life.say("tell");
	await eventually(async () => {
		await life.clock.advance(0);
		expect(await life.disposition(id)).toBe("answered");
	});
	return JSON.parse(String((await life.rows(id)).at(-1)?.content));
}

test("a message is answered by the program, and its calls stand in the transcript", async () => {
	const life = await scene();
	const id = await life.say("look");
	expect(await answers(life, 1)).toEqual(["Milk and eggs."]);
	expect((await life.rows(id)).map(({ role, content }) => [role, content])).toEqual([
		["user", "look"],
		["assistant", "Looking."],
		["tool", "milk, eggs"],
		["assistant", "Milk and eggs."],
	]);
	const shown = await told(life);
	expect(shown).toMatchObject({ sessions: 1, prompts: 2 });
	expect(shown.texts[0]).toBe("tell");
});

test("a program that is killed in mid-turn is told to the user, and the next one goes on with what was said", async () => {
	const life = await scene();
	const id = await life.say("die");
	expect(await answers(life, 1)).toEqual([expect.stringContaining("The agent program failed")]);
	expect((await life.rows(id)).map(({ role, content }) => [role, content])).toEqual([
		["user", "die"],
		["assistant", "I am about to"],
		["meta", expect.stringContaining("stopped by SIGKILL")],
	]);
	const shown = await told(life);
	expect(shown).toMatchObject({ sessions: 1, prompts: 1 });
	expect(shown.texts[1]).toContain("You wrote:\n| I am about to");
});

test("an answer past turn.max_answer_mb is cut, stored and said to be, and the session goes on", async () => {
	const life = await scene({ turn: { max_answer_mb: 1 } });
	const id = await life.say("talk for ever");
	const mark = "(The answer was longer than 1 MB, so it was cut here. Setting: turn.max_answer_mb.)";
	await eventually(async () => {
		await life.clock.advance(0);
		expect(life.texts().at(-1)?.endsWith(mark)).toBe(true);
	});
	const row = (await life.rows(id)).at(-1);
	expect(row).toMatchObject({ role: "assistant", finishReason: "max_answer" });
	expect(String(row?.content)).toBe(`${"x".repeat(1_000_000)}\n\n${mark}`);
	expect(await told(life)).toMatchObject({ sessions: 1, prompts: 1 });
});

test("/stop cancels the prompt, and the program stays for the next message", async () => {
	const life = await scene();
	const id = await life.say("wait");
	const conversation = await life.conversation(id);
	// Its last letter may be the beginning of a secret in one of its forms, and is held back until more is said.
	await eventually(() => expect(life.gateway.partial(conversation)?.text).toMatch(/^I beg/));
	await life.say("/stop");
	await answers(life, 1);
	const shown = await told(life);
	expect(shown).toMatchObject({ sessions: 1, prompts: 2 });
	expect(shown.texts).toContain("Keryx noted:\n| The user stopped this turn.");
});

test("Keryx is killed with SIGKILL in mid-turn: the program goes with it, and the next Keryx goes on with the turn", async () => {
	const command = commandIn(root);
	const home = join(root, "home");
	mkdirSync(home, { mode: 0o700 });
	const args = ["--disable-warning=ExperimentalWarning", PROGRAM, "good", root];
	const agent = { kind: "acp", command: process.execPath, args };
	writeFileSync(join(home, "config.yaml"), JSON.stringify({ agent, session_reset: { mode: "none" } }));
	const env = { KERYX_HOME: home };

	const first = await command.start(home);
	started.push(first.pid);
	await call(["send", "--no-wait", "dig"], { env });
	const pidFile = join(root, "pid");
	await eventually(() => expect(existsSync(pidFile)).toBe(true));
	await found("dig", env);
	const programs = programsOf(args);
	expect(programs.length).toBeGreaterThan(0);
	process.kill(first.pid, "SIGKILL");
	await goneSoon(first.pid, ...programs);

	const second = await command.start(home);
	started.push(second.pid);
	await found("dug", env);
	const [workspace = ""] = readdirSync(workspacesOf(home));
	expect(workspace).toMatch(/^[0-9a-f]{32}$/);
	expect(statSync(join(workspacesOf(home), workspace)).mode & 0o777).toBe(0o700);
	const where = JSON.parse((await call(["send", "where"], { env })).stdout);
	expect(where.cwd).toBe(join(workspacesOf(home), workspace));
	expect(where.env).not.toHaveProperty("KERYX_HOME");
	expect(programsOf(args).length).toBeGreaterThan(0);
	await second.stop();
	expect(programsOf(args)).toEqual([]);
});

/** As seen from here: behind its wall the program has another pid. */
function programsOf(args: readonly string[]): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => read(`/proc/${pid}/cmdline`).includes(args.join("\0")))
		.map(Number);
}

/** The agent said this, and it is in the store. */
async function found(word: string, env: Readonly<Record<string, string>>): Promise<void> {
	await eventually(async () => {
		const { hits } = asJson(await call(["sessions", "search", word, "--json"], { env }));
		expect(hits.filter(({ role }: { role: string }) => role === "assistant")).toHaveLength(1);
	}).catch(async () => {
		// What was said instead.
		const { stdout } = await call(["sessions", "export", "--format", "markdown"], { env });
		expect.fail(`"${word}" is not in the record:\n${stdout}`);
	});
}
