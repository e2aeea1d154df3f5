// Programs of the agent, through the whole gateway: a terminal that asks, work that goes on, ends that are told once.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Process } from "../../src/store/index.ts";
import { isRunning, ProcessHome } from "../support/process-home.ts";
import { eventually } from "../support/soon.ts";
import { MINUTE, OPERATOR, puppet, Scene, type SceneOptions, SECRET } from "./support.ts";

let home: ProcessHome;
let scene: Scene;
const start = async (options: SceneOptions = {}) => {
	scene = await Scene.start({ agent: () => puppet(), programs: home, at: Date.now(), ...options });
	return scene;
};
beforeEach(() => {
	home = new ProcessHome();
});
afterEach(async () => {
	await scene.end();
	await home.end();
});

const call = (tool: string, input: Record<string, unknown>) => `call ${tool} ${JSON.stringify(input)}`;
const all = (): Promise<readonly Process[]> => scene.store.processes({ scope: OPERATOR, limit: 100 });
const newest = async () =>
	(await all()).toSorted((a, b) => b.startedAt - a.startedAt || (b.id < a.id ? -1 : 1))[0] as Process;
const rowsWith = async (id: string, role: string) =>
	(await scene.rows(id)).filter((row) => row.role === role).map(({ content }) => String(content));
/** Of what was started last, once it runs. */
const runningPid = () =>
	eventually(async () => {
		const process = (await all())[0];
		expect(process).toMatchObject({ status: "running", identity: { pid: expect.any(Number) } });
		const pid = process?.identity?.pid as number;
		expect(isRunning(pid)).toBe(true);
		return pid;
	});
/** What the last call of a tool answered. */
const answered = async (id: string) => JSON.parse((await rowsWith(id, "tool")).at(-1) ?? "{}");
/** So many are there; time passes at most so fast, for what waits for it. */
const replies = (n: number, ms = 0) =>
	eventually(async () => {
		await scene.clock.advance(ms);
		expect(scene.texts().length).toBeGreaterThanOrEqual(n);
	});
const settled = async (text: string, n: number) => {
	const id = await scene.say(text);
	await replies(n);
	return id;
};
/** Starts in the background, and answers the process. */
const background = async (command: string, more = {}) => {
	const before = scene.texts().length;
	const id = await settled(call("terminal", { command, background: true, ...more }), before + 1);
	return { ...(await newest()), message: id };
};

describe("terminal", () => {
	test("a command runs in the workspace and answers its output and exit code", async () => {
		await start();
		const id = await settled(call("terminal", { command: "pwd; cat; echo oops >&2; exit 3" }), 1);
		expect(await answered(id)).toEqual({
			output: `${home.path}\noops\n`,
			exit_code: 3,
			duration_ms: expect.any(Number),
		});
		expect((await scene.rows(id)).find(({ role }) => role === "tool")?.isError).toBe(true);
		expect(await all()).toMatchObject([{ background: false, status: "exited" }]);
		expect(scene.texts()).toEqual(["done"]);
	});

	test("a command leaves no folder once its result is stored, unless the result names its log", async () => {
		await start();
		const folders = () =>
			readdirSync(join(home.path, "processes")).filter((name) => name.startsWith("proc_"));
		await settled(call("terminal", { command: "echo one" }), 1);
		await settled(call("terminal", { command: "exit 3" }), 2);
		await settled(call("terminal", { command: "ls", workdir: "/no/such/place" }), 3);
		await eventually(() => expect(folders()).toEqual([]));
		const id = await settled(call("terminal", { command: "seq 1 40000" }), 4);
		const { process_id } = await answered(id);
		await settled(call("process", { action: "log", id: process_id, offset: 20_000, limit: 1 }), 5);
		expect(await answered(id)).toMatchObject({ output: "20001" });
		expect(folders()).toEqual([process_id]);
	});

	test("a dangerous command is asked about, runs once when approved, and can be granted", async () => {
		await start();
		writeFileSync(join(home.path, "keep"), "");
		const id = await settled(call("terminal", { command: "rm -rf keep" }), 1);
		expect(scene.texts()[0]).toContain("delete_files");
		expect(existsSync(join(home.path, "keep"))).toBe(true);
		await scene.say("/approve conversation");
		await replies(3);
		expect(existsSync(join(home.path, "keep"))).toBe(false);
		expect((await rowsWith(id, "meta")).at(-1)).toContain('"exit_code":0');
		await settled(call("terminal", { command: "rm -rf other" }), 4);
		expect(scene.texts().at(-1)).toBe("done");
		await settled(call("terminal", { command: "rm -rf /" }), 5);
		expect(scene.texts().at(-1)).toContain("delete_data");
		expect(await all()).toHaveLength(2);
	});

	test("the directory counts as a part of the command", async () => {
		await start();
		await settled(call("terminal", { command: "cat audit.key", workdir: "/nowhere/.keryx" }), 1);
		expect(scene.texts()[0]).toContain("Keryx's own folder");
		expect(await all()).toEqual([]);
	});

	test("in readonly only what changes nothing runs", async () => {
		await start({ config: { approvals: { mode: "readonly" } } });
		const id = await settled(call("terminal", { command: "touch x" }), 1);
		expect((await rowsWith(id, "tool"))[0]).toContain("read-only");
		await settled(call("terminal", { command: "ls" }), 2);
		expect(await answered(id)).toMatchObject({ exit_code: 0 });
		expect(await all()).toHaveLength(1);
	});

	test("I12: a secret is put in at execution and is nowhere else", async () => {
		await start();
		const id = await settled(
			call("terminal", { command: 'printf "%s|" \u0024{secret:TEST} > out; echo "\u0024{secret:TEST}"' }),
			1,
		);
		expect((await answered(id)).output).toBe("\u0024{secret:TEST}\n");
		const shown = JSON.stringify([await all(), await scene.rows(id), scene.log, await home.place.inspect()]);
		expect(shown).not.toContain(SECRET);
		await settled(call("terminal", { command: "cat out; echo \u0024{secret:OTHER}" }), 2);
		expect((await rowsWith(id, "tool")).at(-1)).toContain("There is no secret named OTHER");
		await settled(call("terminal", { command: "wc -c < out" }), 3);
		expect((await answered(id)).output.trim()).toBe(String(SECRET.length + 1));
	});

	test("a command that takes too long is ended, with everything it started", async () => {
		await start();
		const id = await scene.say(call("terminal", { command: "sleep 1000 & echo $!; wait", timeout: 5 }));
		await eventually(async () => {
			const { text } = await (scene.processes as NonNullable<Scene["processes"]>).tail(
				OPERATOR,
				(await newest()).id,
				100,
			);
			expect(text).toMatch(/^\d+\n$/);
		});
		await replies(1, 1000);
		const { output, timed_out, exit_code } = await answered(id);
		expect({ timed_out, exit_code }).toEqual({ timed_out: true, exit_code: null });
		expect(isRunning(Number(output))).toBe(false);
	});

	test("scenario 9: the deadline of a wedged turn ends its programs, and all that queued is answered in order", async () => {
		await start({ config: { turn: { max_minutes: 1 } } });
		await scene.say(call("terminal", { command: "sleep 1000 & sleep 1000" }));
		const pid = await runningPid();
		for (let n = 1; n <= 8; n++) await scene.say(`queued ${n}`);
		await replies(9, 10_000);
		expect(scene.texts()[0]).toContain("longer than allowed");
		const heard = scene.shown.map(({ history }) => String(history.at(-1)?.content));
		expect(heard.filter((text) => text.startsWith("queued"))).toEqual(
			Array.from({ length: 8 }, (_, n) => `queued ${n + 1}`),
		);
		await eventually(() => expect(isRunning(pid)).toBe(false));
		await eventually(async () => expect(await newest()).toMatchObject({ status: "killed" }));
	});

	test("scenario 9: /stop during the wedge ends the turn and its programs", async () => {
		await start();
		await scene.say(call("terminal", { command: "trap '' TERM; sleep 0.2; sleep 1000" }));
		const pid = await runningPid();
		await scene.say("/stop");
		await replies(1);
		expect(scene.texts()[0]).toContain("Stopped");
		await eventually(() => expect(isRunning(pid)).toBe(false));
	});

	test("a planned end of Keryx leaves what a call waits for running", async () => {
		await start({ config: { shutdown: { drain_seconds: 0 } } });
		await scene.say(call("terminal", { command: "exec sleep 1000" }));
		const pid = await runningPid();
		const stopping = scene.gateway.stop();
		await scene.clock.advance(1000);
		await stopping;
		expect(isRunning(pid)).toBe(true);
		expect((await all())[0]).toMatchObject({ status: "running" });
	});

	test("a call that a crash cut off is not made again: its program goes on, and its end is told", async () => {
		await start({ durable: true });
		const wait = "while [ ! -e go ]; do sleep 0.02; done; echo late; echo once >> ran";
		const id = await scene.say(call("terminal", { command: wait }));
		await eventually(async () =>
			expect(await newest()).toMatchObject({ status: "running", background: false }),
		);
		// The call has nothing left to do but to wait.
		const timers = () => scene.clock.pendingTimers().map((at) => at - scene.clock.now());
		await eventually(() => expect(timers()).toContain(290_000));
		await scene.clock.advance(0);
		await scene.crash();
		await replies(1);
		expect((await rowsWith(id, "tool"))[0]).toContain("interrupted");
		writeFileSync(join(home.path, "go"), "");
		await replies(2);
		expect((await rowsWith(id, "meta")).join("\n")).toMatch(/exited with code 0[\s\S]*late/);
		expect(await all()).toHaveLength(1);
	});
});

describe("in the background", () => {
	test("a program goes on beside the conversation, and its end begins a turn that is answered where it came from", async () => {
		await start();
		const { id, message } = await background("while [ ! -e go ]; do sleep 0.02; done; echo built; exit 2");
		expect(await answered(message)).toMatchObject({
			process_id: id,
			status: "running",
			pid: expect.any(Number),
		});
		await settled("meanwhile", 2);
		writeFileSync(join(home.path, "go"), "");
		await replies(3);
		const note = (await rowsWith(message, "meta")).at(-1);
		expect(note).toMatch(new RegExp(`${id} .*exited with code 2[\\s\\S]*built`));
		expect(scene.shown.at(-1)?.history.at(-1)).toMatchObject({ role: "user", kind: "note", content: note });
	});

	test("scenario 16: 5 KB in a moment, while the conversation is busy and the gateway restarts: one completion, complete", async () => {
		await start({ durable: true });
		const script = 'read x; head -c 5000 /dev/zero | tr "\\\\0" x; echo; exit 7';
		const { id, message } = await background(script);
		await scene.say(call("slow", { ms: 60_000 }));
		await scene.die();
		const backend = await home.place.find();
		await backend?.write(id, Buffer.from("\n"));
		await eventually(async () => expect((await backend?.get(id))?.status).toBe("exited"));
		await backend?.close();
		await scene.open(scene.clock.now());
		await scene.crash();
		await eventually(async () => {
			await scene.clock.advance(10_000);
			expect((await all()).length + scene.texts().filter((text) => text === "done").length).toBe(4);
		});
		const notes = (await rowsWith(message, "meta")).filter((text) => text.includes(id));
		expect(notes).toHaveLength(1);
		expect(notes[0]).toContain("exited with code 7");
		expect(notes[0]?.match(/x{100,}/)?.[0]).toHaveLength(5000);
		const told = () => scene.texts().filter((text) => text === "done");
		expect(told()).toHaveLength(3);
		await scene.crash();
		await scene.clock.advance(60_000);
		expect(told()).toHaveLength(3);
	});

	test("ends that come together are one turn", async () => {
		await start();
		const command = "while [ ! -e go ]; do sleep 0.02; done; echo x";
		const first = await background(command);
		await background(command);
		await scene.say(call("slow", { ms: 60_000 }));
		writeFileSync(join(home.path, "go"), "");
		await eventually(async () => expect((await all()).every(({ endedAt }) => endedAt !== null)).toBe(true));
		await replies(4, 10_000);
		expect((await rowsWith(first.message, "meta")).filter((text) => text.includes("exited"))).toHaveLength(2);
	});

	test("a new message of the user interrupts who only waits, and is answered", async () => {
		await start();
		const { id, message } = await background("sleep 1000");
		await scene.say(call("process", { action: "wait", id }));
		await scene.say("are you there?");
		await replies(3);
		expect(await answered(message)).toMatchObject({
			status: "interrupted",
			note: expect.stringContaining("answer it"),
		});
		expect(await newest()).toMatchObject({ status: "running" });
	});

	test("what is typed into a shell is asked about like a command", async () => {
		await start();
		const { id } = await background("sh", { pty: true });
		await settled(call("process", { action: "submit", id, data: "rm -rf /srv/data" }), 2);
		expect(scene.texts()[1]).toContain("needs your approval");
		const message = await settled(call("process", { action: "submit", id, data: "echo $((6*7))" }), 3);
		expect(await answered(message)).toMatchObject({ status: "ok", bytes_written: 14 });
		const processes = scene.processes as NonNullable<Scene["processes"]>;
		await eventually(async () =>
			expect((await processes.tail(OPERATOR, id, 500)).text).toMatch(/(?:^|\W)42\n/),
		);
	});

	test("a session with a program that runs is not idle; one without is", async () => {
		await start({ config: { session_reset: { mode: "idle", idle_minutes: 5 } } });
		const { message, id } = await background("sleep 1000");
		await scene.clock.advance(10 * MINUTE);
		await settled("still there?", 2);
		expect(await scene.sessions(message)).toHaveLength(1);
		await scene.processes?.kill(
			{ kind: "conversation", conversation: (await newest()).conversation, standing: "owner" },
			id,
		);
		await scene.clock.advance(10 * MINUTE);
		await scene.say("and now?");
		await eventually(async () => {
			await scene.clock.advance(0);
			expect(await scene.sessions(message)).toHaveLength(2);
		});
	});

	test("scenario 18: a rotation tells of what goes on, and it goes on", async () => {
		await start({ config: { session_reset: { mode: "none", max_messages: 6 } } });
		const { id, message } = await background("sleep 1000");
		await settled("one", 2);
		await eventually(async () => {
			await scene.clock.advance(0);
			expect(scene.texts().at(-1)).toContain("1 running process");
		});
		expect(await scene.sessions(message)).toHaveLength(2);
		expect(await newest()).toMatchObject({ id, status: "running" });
		expect((await rowsWith(message, "meta")).join()).toContain(id);
	});
});

describe("commands", () => {
	test("/processes lists, /kill ends one by the beginning of its id, /stop all the rest", async () => {
		await start();
		await scene.say("/processes");
		expect(scene.texts().at(-1)).toBe("No programs have run in this conversation recently.");
		const first = await background("sleep 1000");
		const second = await background("sleep 2000");
		await settled("/processes", 4);
		expect(scene.texts().at(-1)).toMatch(/^2 programs are running here:\n. .*sleep 2000.*: running for/);
		await scene.say(`/kill ${first.id}`);
		await replies(5);
		expect(scene.texts().at(-1)).toContain(`Killed ${first.id} (`);
		expect(isRunning(first.identity?.pid as number)).toBe(false);
		await scene.say(`/kill ${first.id}`);
		await replies(6);
		expect(scene.texts().at(-1)).toContain("has already ended");
		await scene.say("/stop all");
		await replies(7);
		expect(scene.texts().at(-1)).toContain("1 program was killed");
		expect(isRunning(second.identity?.pid as number)).toBe(false);
		await scene.say("/kill");
		expect(scene.texts().at(-1)).toContain("/kill takes the id");
		await scene.say("/kill nope");
		await replies(9);
		expect(scene.texts().at(-1)).toContain("No process nope");
		await scene.clock.advance(MINUTE);
		expect(scene.texts()).toHaveLength(9);
	});

	test("another conversation neither sees nor ends it", async () => {
		await start();
		const { id } = await background("sleep 1000");
		await scene.say("/processes", { chat: "bob", user: "bob" });
		expect(scene.texts("bob").at(-1)).toBe("No programs have run in this conversation recently.");
		await scene.say(`/kill ${id}`, { chat: "bob", user: "bob" });
		expect(scene.texts("bob").at(-1)).toContain(`No process ${id}`);
		await scene.say("/stop all", { chat: "bob", user: "bob" });
		await eventually(async () => {
			await scene.clock.advance(0);
			expect(scene.texts("bob")).toHaveLength(3);
		});
		expect(await newest()).toMatchObject({ status: "running" });
	});
});
