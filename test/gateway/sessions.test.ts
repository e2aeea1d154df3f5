// Commands, boundaries and what people and the agent are told of them; hooks.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { DAY, HOUR, MINUTE, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const slow = { otherwise: [{ delay_ms: MINUTE, text: "done with {{input}}" }] };
const last = () => scene.texts().at(-1) as string;

describe("commands", () => {
	test("/new begins a session with nothing carried over, without a notice, and /continue takes it back", async () => {
		await start();
		const id = await scene.say("remember the heron");
		await scene.say("/new birds");
		expect(last()).toBe("Started a new session. The previous one is kept: /continue goes back to it.");
		await scene.say("what did I say?");
		expect(JSON.stringify(scene.shown.at(-1)?.history)).not.toContain("heron");
		expect(scene.texts().filter((text) => text.startsWith("New session: "))).toEqual([]);
		await scene.say("/continue");
		expect(last()).toContain("including everything said there. /new undoes this.");
		await scene.say("and now?");
		expect(JSON.stringify(scene.shown.at(-1)?.history)).toContain("heron");
		expect((await scene.sessions(id)).map(({ endReason, title }) => [endReason, title])).toContainEqual([
			null,
			"birds",
		]);
		await scene.say("/continue");
		expect(last()).toMatch(/already continues an earlier one/);
	});

	test("/new during a turn ends it, says so, and what it still writes is refused; what waits goes to the new session", async () => {
		await start({ script: slow });
		const first = await scene.say("one");
		const second = await scene.say("two");
		await scene.say("/new");
		expect(scene.texts()).toEqual([
			"The current answer was stopped. Started a new session. The previous one is kept: /continue goes back to it.",
		]);
		await scene.clock.advance(5 * MINUTE);
		expect([await scene.disposition(first), await scene.disposition(second)]).toEqual([
			"stopped",
			"answered",
		]);
		expect(scene.texts().slice(1)).toEqual(["done with two"]);
		expect((await scene.rows(second)).map(({ content }) => content)).toEqual(["two", "done with two"]);
	});

	test("a message that follows a command in the same breath comes after it", async () => {
		await start();
		await scene.say("before");
		scene.world.say({ chat: "ada", text: "/new" });
		const id = scene.world.say({ chat: "ada", text: "after" });
		await scene.clock.advance(0);
		expect(await scene.disposition(id)).toBe("answered");
		expect((await scene.rows(id)).map(({ content }) => content)).toEqual(["after", "you said after"]);
		expect(scene.texts().slice(1)).toEqual([
			expect.stringContaining("Started a new session."),
			"you said after",
		]);
	});

	test("/stop without a turn says so, and /stop is answered beside a running turn at once", async () => {
		await start({ script: slow });
		await scene.say("/stop");
		expect(last()).toBe("Nothing was running.");
		const id = await scene.say("one");
		await scene.say("/stop");
		expect(last()).toBe("Stopped. The text so far is kept.");
		await scene.clock.advance(5 * MINUTE);
		expect(await scene.disposition(id)).toBe("stopped");
		expect(scene.texts().length).toBe(2);
		expect((await scene.sessions(id)).length).toBe(1);
	});

	test("/status, /busy, /help and /extend answer what is so", async () => {
		await start({ config: { session_reset: { max_messages: 50 } } });
		await scene.say("/status");
		expect(last()).toContain("No session is open");
		await scene.say("hello");
		await scene.say("/status");
		expect(last()).toMatch(/2 of 50 messages used, 48 left/);
		expect(last()).toContain("never automatically");
		await scene.say("/extend");
		expect(last()).toContain("150 messages; 2 are used");
		await scene.say("/busy");
		expect(last()).toContain("waits for its turn (queue)");
		await scene.say("/busy steer");
		expect(last()).toContain("/busy queue undoes this");
		await scene.say("/help");
		for (const name of ["/new", "/continue", "/extend", "/stop", "/busy", "/status", "/why", "/help"])
			expect(last()).toContain(name);
	});

	test("unknown commands are answered with the nearest one, bad arguments with an example; neither reaches the agent", async () => {
		await start();
		for (const [text, answer] of [
			["/nwe", "Did you mean /new?"],
			["/zzzzzzz", "There is no command /zzzzzzz. /help lists them all."],
			["/extend many", "For example: /extend 50"],
			["/extend -1", "/extend takes a whole number"],
			["/busy loudly", "/busy takes queue, interrupt or steer"],
			["/stop everything", "/stop takes nothing or all"],
			["/why yesterday", "takes a message's number"],
			["/continue", "no earlier session"],
			["/why 999", "No inbound message 999"],
		] as const) {
			const id = await scene.say(text);
			expect(last(), text).toContain(answer);
			expect(await scene.disposition(id)).toBe("command");
		}
		expect(scene.shown).toEqual([]);
		await scene.say("/usr/bin is full");
		expect(last()).toBe("you said /usr/bin is full");
	});

	test("a command sent while nobody ran is carried out and answered once, over restarts", async () => {
		await start({ durable: true, wrap: (channel) => channel });
		const id = await scene.say("hello");
		const conversation = await scene.conversation(id);
		await scene.die();
		const command = scene.world.say({ chat: "ada", text: "/extend 5" });
		await scene.open(scene.clock.now());
		expect(last()).toContain("no limit");
		expect(await scene.disposition(command)).toBe("command");
		expect(await scene.conversation(command)).toBe(conversation);
		await scene.crash();
		expect(scene.texts().length).toBe(2);
	});
});

describe("boundaries", () => {
	const idle = { session_reset: { mode: "idle", idle_minutes: 60, max_messages: 0 } } as const;

	test("idle: strictly after the time, told once before the next reply, with what was kept and how to undo it", async () => {
		await start({ config: idle });
		await scene.say("one");
		await scene.clock.advance(60 * MINUTE);
		const id = await scene.say("two");
		expect((await scene.sessions(id)).length).toBe(1);
		await scene.clock.advance(60 * MINUTE + 1);
		await scene.say("three");
		expect(scene.texts()[2]).toMatch(
			/^New session: the last one was inactive for .*\(setting: session_reset.idle_minutes\)\.\nKept: the last exchange\.\nThis session: no message limit\.\n\/continue goes back to the last session/,
		);
		expect(last()).toBe("you said three");
		await scene.say("four");
		expect(scene.texts().length).toBe(5);
		const carried = scene.shown[2]?.history[0];
		expect(carried).toMatchObject({ kind: "note", content: expect.stringContaining("> two") });
	});

	test("the watcher ends sessions of people who stay away, with a title; the notice waits for their next message, over restarts", async () => {
		await start({ durable: true, config: idle });
		const id = await scene.say("plant tulips in the yard");
		await scene.clock.advance(62 * MINUTE);
		expect((await scene.sessions(id))[0]).toMatchObject({
			endReason: "idle",
			title: "plant tulips in the yard",
		});
		expect(scene.texts().length).toBe(1);
		await scene.crash(HOUR);
		await scene.crash(HOUR);
		expect(scene.texts().length).toBe(1);
		await scene.say("back again");
		expect(scene.texts().length).toBe(3);
		expect(scene.texts()[1]).toContain("New session: ");
	});

	test("what was not told because the turn failed or was cut off is told with the next one, and then never again", async () => {
		await start({
			durable: true,
			config: idle,
			script: {
				rules: [{ when: "slow", steps: [{ delay_ms: MINUTE, text: "slowly" }] }],
				otherwise: [{ text: "you said {{input}}" }],
			},
		});
		await scene.say("one");
		await scene.clock.advance(2 * HOUR);
		await scene.say("slow");
		await scene.crash();
		await scene.clock.advance(2 * MINUTE);
		expect(scene.texts().slice(1)).toEqual([expect.stringContaining("New session: "), "slowly"]);
		await scene.say("two");
		expect(scene.texts().length).toBe(4);
	});

	test("without a carry-over the agent is told once that a new session began", async () => {
		await start({ config: { session_reset: { ...idle.session_reset, carry_over: "none" } } });
		await scene.say("one");
		await scene.clock.advance(2 * HOUR);
		await scene.say("two");
		await scene.say("three");
		expect(
			scene.shown.map(({ notes }) => notes.some((note) => note.startsWith("A new session began"))),
		).toEqual([false, true, false]);
		expect(scene.shown[1]?.history.length).toBe(1);
		expect(scene.texts()[1]).toContain("Nothing was carried over.");
	});

	test("notify: false says nothing and rotates all the same", async () => {
		await start({ config: { session_reset: { ...idle.session_reset, notify: false } } });
		await scene.say("one");
		await scene.clock.advance(2 * HOUR);
		const id = await scene.say("two");
		expect(scene.texts()).toEqual(["you said one", "you said two"]);
		expect((await scene.sessions(id)).length).toBe(2);
	});

	test("commands and observed messages are no activity", async () => {
		await start({ config: idle });
		const id = await scene.say("one");
		for (let n = 0; n < 3; n++) {
			await scene.clock.advance(25 * MINUTE);
			await scene.say("/status");
		}
		expect((await scene.sessions(id))[0]?.endReason).toBe("idle");
	});

	test("a turn that was interrupted too long ago is not resumed: its message expires, and the next one meets that boundary", async () => {
		await start({ durable: true, script: slow, config: { auto_continue_freshness: 600 } });
		const fresh = await scene.say("one");
		await scene.crash(5 * MINUTE);
		await scene.clock.advance(2 * MINUTE);
		expect(await scene.disposition(fresh)).toBe("answered");
		const old = await scene.say("two");
		await scene.crash(DAY);
		await scene.clock.advance(2 * MINUTE);
		expect((await scene.item(old)).disposition).toEqual({ kind: "expired", reason: "resume_expired" });
		await scene.say("three");
		await scene.clock.advance(2 * MINUTE);
		expect(scene.texts()).toEqual([
			expect.stringContaining("Keryx was offline since"),
			"done with one",
			expect.stringContaining("too long ago to resume (setting: auto_continue_freshness)"),
			"done with three",
		]);
	});

	test("the third interruption suspends, /continue takes the suspended session up again", async () => {
		await start({
			durable: true,
			script: {
				rules: [{ when: "slow", steps: [{ delay_ms: MINUTE, text: "slowly" }] }],
				otherwise: [{ text: "you said {{input}}" }],
			},
		});
		await scene.say("a fact to keep");
		await scene.say("slow");
		for (let n = 0; n < 3; n++) await scene.crash();
		expect(last()).toContain("suspended");
		await scene.say("hello");
		await scene.say("/continue");
		await scene.say("still there?");
		expect(JSON.stringify(scene.shown.at(-1)?.history)).toContain("a fact to keep");
	});
});

describe("hooks", () => {
	test("programs get JSON on stdin for what they listen to; one that fails is logged and stops nothing", async () => {
		const folder = mkdtempSync(join(tmpdir(), "keryx-hooks-"));
		try {
			const script = join(folder, "hook.sh");
			writeFileSync(script, `#!/bin/sh\nheard=$(cat)\nprintf '%s\\n' "$heard" >> "${folder}/heard"\n`);
			chmodSync(script, 0o700);
			await start({
				durable: true,
				config: {
					session_reset: { mode: "idle", idle_minutes: 60, max_messages: 0 },
					hooks: [
						{ on: ["session:*", "turn:end", "message:in", "message:out"], command: [script] },
						{ on: ["turn:start"], command: ["/nonexistent/program"] },
						{ on: ["turn:end"], command: ["/bin/sh", "-c", "exit 3"] },
					],
				},
			});
			await scene.say("hello", { source: { user_name: "$(touch pwned)" } });
			expect(scene.texts()).toEqual(["you said hello"]);
			const heard = () =>
				(existsSync(join(folder, "heard")) ? readFileSync(join(folder, "heard"), "utf8") : "")
					.split("\n")
					.filter(Boolean);
			const names = () => heard().map((line) => (JSON.parse(line) as { hook: string }).hook);
			await reached(() =>
				["session:start", "message:in", "turn:end", "message:out"].every((name) => names().includes(name)),
			);
			await reached(() => scene.log.length >= 2);
			expect(scene.log.join("\n")).toMatch(/hook \/nonexistent\/program on turn:start.*ENOENT/);
			expect(scene.log.join("\n")).toContain("hook /bin/sh on turn:end: exited with 3");
			// The watcher ends the session at its look after an hour and finalises it at the next; no time passes beyond that, or
			// the program would have taken longer than it may.
			await scene.clock.advance(61 * MINUTE);
			await reached(() => names().includes("session:end"));
			expect(heard().join()).not.toContain("hello");
			expect(heard().join()).not.toContain("pwned");
			expect(existsSync("pwned")).toBe(false);
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});
});

/** Programs run for as long as they take; each step of theirs may be followed by one of ours. */
const reached = (condition: () => boolean) => until(condition, () => scene.clock.advance(0));
