// Jobs in a gateway whose time only the test moves: what runs when, what became of it, and what became of its delivery.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Agent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import type { ConversationId, Speaker } from "../../src/domain/index.ts";
import type { Job } from "../../src/store/index.ts";
import type { Clock } from "../../src/time/index.ts";
import {
	type ConfigInput,
	DAY,
	HOUR,
	MINUTE,
	OPERATOR,
	puppet,
	Scene,
	type SceneOptions,
	SECOND,
} from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

const ON = (id: string) => ({ kind: "chat", platform: "telegram", account: "", chatId: id }) as const;

/** Says what it was last told. */
const echo = (): Agent => ({
	kind: "step",
	name: "echo",
	async *step({ history }) {
		yield {
			type: "done",
			message: {
				content: `you said ${String(history.at(-1)?.content)}`,
				toolCalls: [],
				finishReason: "stop",
			},
			usage: { ...NO_USAGE, provider: "x", model: "x" },
		};
	},
});

const start = async (options: SceneOptions = {}) => {
	scene = await Scene.start({ agent: echo, ...options });
};

/** Somebody who has written, as a speaker. */
async function speaker(
	id: string,
	role: Speaker["role"],
): Promise<{ owner: Speaker; origin: ConversationId }> {
	const message = await scene.say("hello", { chat: id, user: id });
	const { principal, conversation } = await scene.item(message);
	return { owner: { principal, role, platform: "telegram" }, origin: conversation as ConversationId };
}

async function job(
	wanted: Partial<Parameters<Scene["schedules"]["create"]>[0]> & { when: string },
): Promise<Job> {
	const { owner, origin } = wanted.owner
		? { owner: wanted.owner, origin: undefined }
		: await speaker("ada", "owner");
	return scene.schedules.create({
		task: { kind: "prompt", text: "report" },
		deliver: { target: ON("ada"), shown: "Ada", approved: true },
		...(origin && { origin }),
		...wanted,
		owner,
	});
}

const history = async ({ id }: Job) =>
	(await scene.schedules.history(OPERATOR, id, { limit: 100 })).map(({ state, reason, delivery, via }) => ({
		state,
		reason,
		delivery,
		via,
	}));
const pass = async (ms: number) => {
	await scene.clock.advance(ms);
	await scene.clock.advance(SECOND);
};

describe("a run", () => {
	test("of a prompt is answered in the job's own conversation, and its result arrives where the job says", async () => {
		await start();
		const made = await job({ when: "0 13 * * *", name: "Daily" });
		await pass(HOUR);
		expect(await history(made)).toEqual([
			{ state: "answered", reason: null, delivery: "sent", via: "target" },
		]);
		expect(scene.texts().at(-1)).toContain("you said This is a run of the scheduled job");
		const { conversation } = await scene.schedules.find(OPERATOR, made.id);
		const own = await scene.store.conversation({
			scope: OPERATOR,
			ref: { id: conversation as ConversationId },
		});
		expect([own.platform, own.displayName.length > 0]).toEqual(["schedule", true]);
		await pass(DAY);
		expect((await history(made)).length).toBe(2);
		expect((await scene.schedules.find(OPERATOR, made.id)).conversation).toBe(conversation);
	});

	test("of a text sends it as it is, once, and a one-time job ends", async () => {
		await start();
		const made = await job({ when: "2026-03-10T13:00", task: { kind: "text", text: "call the dentist" } });
		const before = scene.texts().length;
		await pass(2 * HOUR);
		expect(scene.texts().slice(before)).toEqual(["call the dentist"]);
		expect(await history(made)).toEqual([
			{ state: "answered", reason: null, delivery: "sent", via: "target" },
		]);
		expect((await scene.schedules.find(OPERATOR, made.id)).state).toBe("ended");
	});

	test("in a given conversation answers there, where its transcript knows it", async () => {
		await start();
		const { owner, origin } = await speaker("ada", "owner");
		const made = await job({ when: "every 1h", conversation: origin, deliver: null, owner });
		await pass(HOUR);
		expect(scene.texts().at(-1)).toContain("you said This is a run");
		expect(await history(made)).toEqual([{ state: "answered", reason: null, delivery: "sent", via: "chat" }]);
	});

	test("that the agent sent to the target itself is not delivered again", async () => {
		await start();
		const made = await job({ when: "every 1h" });
		await pass(HOUR - MINUTE);
		const before = scene.texts().length;
		scene.shown.length = 0;
		const send = scene.store.unsettledRuns.bind(scene.store);
		expect(await send({ scope: OPERATOR, limit: 10 })).toEqual([]);
		// The agent's own send, in the run's turn.
		const begin = scene.store.beginTurn.bind(scene.store);
		Object.assign(scene.store, {
			beginTurn: async (args: Parameters<typeof begin>[0]) => {
				const begun = await begin(args);
				if (begun.kind === "begun" && begun.job)
					await scene.gateway.sending.send({
						id: `${begun.turn}:call`,
						target: ON("ada"),
						text: "the agent's own words",
						by: "agent:",
						from: { where: "the job" },
						turn: begun.turn,
					});
				return begun;
			},
		});
		await pass(MINUTE);
		expect(scene.texts().slice(before)).toEqual(["the agent's own words"]);
		expect(await history(made)).toEqual([
			{ state: "answered", reason: null, delivery: "sent", via: "by_agent" },
		]);
	});

	test("goes on after a crash in the middle of it, and is delivered once", async () => {
		await start({ durable: true });
		const made = await job({ when: "every 1h", task: { kind: "prompt", text: "report" } });
		await scene.clock.advance(HOUR);
		await scene.crash(SECOND);
		await pass(MINUTE);
		expect(await history(made)).toEqual([
			{ state: "answered", reason: null, delivery: "sent", via: "target" },
		]);
		expect(scene.texts().filter((text) => text.includes("This is a run"))).toHaveLength(1);
	});

	test("uses the tools that the job names, and no other", async () => {
		await start({ agent: puppet });
		const text = 'call effect {"what":"it"}';
		await job({ when: "every 1h", task: { kind: "prompt", text }, tools: ["clarify"] });
		// The note stands before what the puppet reads.
		await pass(HOUR);
		expect(scene.effects).toEqual([]);
	});
});

/** Fails on every job, and answers people. */
const failing = (): Agent => ({
	kind: "step",
	name: "failing",
	async *step({ history }) {
		if (JSON.stringify(history.at(-1)).includes("scheduled job"))
			yield { type: "failed", failure: { kind: "provider_down", detail: "no answer" } };
		else
			yield {
				type: "done",
				message: { content: "yes", toolCalls: [], finishReason: "stop" },
				usage: { ...NO_USAGE, provider: "x", model: "x" },
			};
	},
});

describe("a failure", () => {
	test("of the run is told to the failure target once; too many in a row pause the job, which is told", async () => {
		await start({ agent: failing, config: { schedule: { disable_after: 3 } } });
		await scene.say("hi", { chat: "bob", user: "bob" });
		const made = await job({
			when: "every 1h",
			failure: { target: ON("bob"), shown: "Bob", approved: true },
		});
		const before = scene.texts("bob").length;
		for (let hour = 0; hour < 6; hour++) await pass(HOUR);
		expect((await history(made)).map(({ state }) => state)).toEqual(["failed", "failed", "failed"]);
		const told = scene.texts("bob").slice(before);
		expect(told).toHaveLength(3);
		expect(told[0]).toContain('The scheduled job "report" failed');
		expect(told[2]).toContain("paused");
		const { state, pausedBecause, failures } = await scene.schedules.find(OPERATOR, made.id);
		expect([state, pausedBecause, failures]).toEqual(["paused", "failures", 3]);
		expect((await scene.schedules.resume(OPERATOR, made.id)).failures).toBe(0);
	});

	test("of the delivery alone shows both facts, and the failure target hears of it once", async () => {
		await start({
			wrap: (channel) => ({
				...channel,
				send: (out) =>
					out.destination.chatId === "gone"
						? Promise.resolve({ kind: "refused", reason: "chat not found" })
						: channel.send(out),
			}),
		});
		const made = await job({
			when: "every 1h",
			deliver: { target: ON("gone"), shown: "a chat that is gone", approved: true },
		});
		const before = scene.texts().length;
		await pass(HOUR);
		await pass(10 * MINUTE);
		expect(await history(made)).toEqual([
			{ state: "answered", reason: null, delivery: "dead", via: "target" },
		]);
		const told = scene.texts().slice(before);
		expect(told).toEqual([
			'The scheduled job "report" ran, but its result could not be delivered to a chat that is gone: chat not found.',
		]);
		expect((await scene.schedules.find(OPERATOR, made.id)).failures).toBe(1);
	});
});

describe("whose rights a job has", () => {
	const people = (
		...allow: NonNullable<NonNullable<ConfigInput["auth"]>["telegram"]>["allow"] & object
	): ConfigInput => ({
		auth: { telegram: { allow } },
	});
	const seen: string[][] = [];
	const watching = (): Agent => ({
		kind: "step",
		name: "watching",
		async *step({ tools, standing }) {
			seen.push([standing, ...tools.map(({ name }) => name)]);
			yield {
				type: "done",
				message: { content: "seen", toolCalls: [], finishReason: "stop" },
				usage: { ...NO_USAGE, provider: "x", model: "x" },
			};
		},
	});
	const rerun = async (then: ConfigInput, now: ConfigInput, role: Speaker["role"] = "owner") => {
		await start({ agent: watching, durable: true, config: then });
		const { owner, origin } = await speaker("ada", role);
		const made = await scene.schedules.create({
			task: { kind: "prompt", text: "report" },
			when: "every 1h",
			deliver: { target: ON("ada"), shown: "Ada", approved: true },
			owner,
			origin,
		});
		await scene.crash(MINUTE, { ...scene.options, config: now });
		seen.length = 0;
		await pass(HOUR);
		return made;
	};
	const OWNER = people({ id: "ada", role: "owner" });

	test("an owner who became a member runs it as a member", async () => {
		const made = await rerun(OWNER, people("ada"));
		expect(seen.map(([standing]) => standing)).toEqual(["member"]);
		expect((await history(made))[0]?.state).toBe("answered");
	});

	test("an owner who became a guest runs it as a guest", async () => {
		await rerun(OWNER, {
			...people({ id: "ada", role: "guest" }),
			tools: { by_role: { guest: ["clarify"] } },
		});
		expect(seen).toEqual([["guest", "clarify"]]);
	});

	test("a member who became an owner runs it as the member who made it", async () => {
		await rerun(people("ada"), OWNER, "member");
		expect(seen.map(([standing]) => standing)).toEqual(["member"]);
	});

	test("somebody who is no longer let in runs nothing: the job is paused, and the home channel told", async () => {
		const made = await rerun(OWNER, {
			...people({ id: "bob", role: "owner" }),
			home_channels: { telegram: { chat_id: "bob", name: "Bob" } },
		});
		expect(seen).toEqual([]);
		expect(await history(made)).toEqual([
			{ state: "refused", reason: "its owner is no longer let in", delivery: null, via: "none" },
		]);
		expect(scene.texts("bob").join()).toContain("no longer let in");
		expect((await scene.schedules.find(OPERATOR, made.id)).pausedBecause).toBe("owner");
	});
});

describe("what was missed", () => {
	const away = async (catchUp: "none" | "once" | "all", maxDelaySeconds: number | null) => {
		await start({ durable: true });
		const made = await job({ when: "every 1h", catchUp, maxDelaySeconds });
		await scene.crash(3 * HOUR + 10 * MINUTE);
		for (let n = 0; n < 5; n++) await pass(SECOND);
		return (await history(made)).map(({ state, reason }) => [state, reason]);
	};

	test("is recorded, and not caught up where the job does not want it", async () => {
		expect(await away("none", null)).toEqual([
			["missed", "away"],
			["missed", "away"],
			["missed", "away"],
		]);
	});

	test("is caught up once", async () => {
		expect(await away("once", null)).toEqual([
			["answered", null],
			["missed", "superseded"],
			["missed", "superseded"],
		]);
	});

	test("is caught up all, one run at a time", async () => {
		expect(await away("all", null)).toEqual([
			["answered", null],
			["answered", null],
			["answered", null],
		]);
	});

	test("is not caught up later than the job allows", async () => {
		expect(await away("all", 4800)).toEqual([
			["answered", null],
			["answered", null],
			["missed", "too_late"],
		]);
	});
});

/** Takes three minutes for each answer. */
const slow = (clock: Clock): Agent => ({
	kind: "step",
	name: "slow",
	async *step() {
		await new Promise<void>((resolve) => clock.after(180_000, resolve));
		yield {
			type: "done",
			message: { content: "done", toolCalls: [], finishReason: "stop" },
			usage: { ...NO_USAGE, provider: "x", model: "x" },
		};
	},
});

test("only so many runs go on at once, and a job that is not reached in time says so", async () => {
	await start({
		agent: slow,
		config: { schedule: { max_running: 1 }, turn: { first_token_seconds: 600, model_seconds: 600 } },
	});
	const { owner } = await speaker("ada", "owner");
	await pass(5 * MINUTE);
	const one = await job({ when: "every 1h", owner, name: "one" });
	await pass(SECOND);
	const two = await job({ when: "every 1h", owner, name: "two", catchUp: "none" });
	await pass(HOUR + 10 * MINUTE);
	expect((await history(one)).map(({ state }) => state)).toEqual(["answered"]);
	expect((await history(two)).map(({ state, reason }) => [state, reason])).toEqual([["missed", "crowded"]]);
});

test("a person can have it run now, beside its schedule, and only once at a time", async () => {
	await start();
	const made = await job({ when: "0 9 * * *" });
	await scene.schedules.runNow(OPERATOR, made.id);
	await pass(SECOND);
	expect(await history(made)).toEqual([{ state: "answered", reason: null, delivery: "sent", via: "target" }]);
	expect((await scene.schedules.find(OPERATOR, made.id)).dueAt).toBe(made.dueAt);
});

describe("one job that is in trouble leaves the others alone:", () => {
	const hourly = (name: string, owner: Speaker) =>
		job({ when: "0 * * * *", name, owner, task: { kind: "text", text: name } });

	test("an instant that comes up again, because the clock went back, has happened", async () => {
		await start();
		const { owner } = await speaker("ada", "owner");
		const one = await hourly("one", owner);
		await pass(HOUR + MINUTE);
		scene.clock.jump(-30 * MINUTE);
		await scene.schedules.pause(OPERATOR, one.id);
		const { dueAt } = await scene.schedules.resume(OPERATOR, one.id);
		expect(dueAt).toBe((one.dueAt as number) + HOUR);
		const two = await hourly("two", owner);
		expect(two.dueAt).toBe(one.dueAt);
		await pass(HOUR + 30 * MINUTE);
		expect((await history(one)).map(({ state }) => state)).toEqual(["answered", "answered"]);
		expect((await history(two)).map(({ state }) => state)).toEqual(["answered", "answered"]);
		expect(scene.log).toEqual([]);
	});

	test("a run that a person wants in the due millisecond takes another one", async () => {
		let asked: Promise<unknown> = Promise.resolve();
		await start();
		const { owner } = await speaker("ada", "owner");
		const one = await hourly("one", owner);
		// Earlier than the round, in the same millisecond.
		scene.clock.after((one.dueAt as number) - scene.clock.now() - 1, () => {
			scene.clock.jump(1);
			asked = scene.schedules.runNow(OPERATOR, one.id);
		});
		await pass(HOUR);
		await asked;
		await pass(MINUTE);
		expect((await history(one)).map(({ state }) => state)).toEqual(["answered", "answered"]);
		expect(scene.log).toEqual([]);
	});

	test("a result that cannot be written to a file is a failed delivery, which is told", async () => {
		const folder = join(mkdtempSync(join(tmpdir(), "keryx-output-")), "output");
		writeFileSync(folder, "a file where the folder should be");
		await start({ outputFolder: folder });
		const { owner, origin } = await speaker("ada", "owner");
		const one = await job({
			when: "0 * * * *",
			owner,
			origin,
			deliver: { target: { kind: "local" }, shown: "a file", approved: true },
			task: { kind: "text", text: "one" },
		});
		const two = await hourly("two", owner);
		await pass(HOUR);
		// The file is written outside of the clock that the test moves.
		const ended = async () => {
			await scene.clock.advance(SECOND);
			return history(one);
		};
		await expect.poll(ended).toEqual([{ state: "answered", reason: null, delivery: "dead", via: "refused" }]);
		await pass(SECOND);
		expect((await history(two)).map(({ state }) => state)).toEqual(["answered"]);
		expect(scene.texts().join()).toContain("could not be delivered to a file");
		rmSync(dirname(folder), { recursive: true });
	});

	test("a run that cannot be ended is logged, and the others end", async () => {
		await start();
		const { owner } = await speaker("ada", "owner");
		const one = await hourly("one", owner);
		const two = await hourly("two", owner);
		const end = scene.store.endRun.bind(scene.store);
		Object.assign(scene.store, {
			endRun: (args: Parameters<typeof end>[0]) =>
				args.job === one.id ? Promise.reject(new Error("broken row")) : end(args),
		});
		await pass(HOUR);
		expect((await history(one)).map(({ state }) => state)).toEqual(["open"]);
		expect((await history(two)).map(({ state }) => state)).toEqual(["answered"]);
	});

	test("one that cannot be begun is logged and tried again later", async () => {
		await start();
		const { owner } = await speaker("ada", "owner");
		const one = await hourly("one", owner);
		const two = await hourly("two", owner);
		const fire = scene.store.fireJob.bind(scene.store);
		let isBroken = true;
		Object.assign(scene.store, {
			fireJob: (args: Parameters<typeof fire>[0]) =>
				args.job === one.id && isBroken ? Promise.reject(new Error("broken row")) : fire(args),
		});
		await pass(HOUR);
		expect((await history(two)).map(({ state }) => state)).toEqual(["answered"]);
		expect(await history(one)).toEqual([]);
		expect(scene.log.join()).toContain("broken row");
		expect(scene.log.length).toBeLessThan(3);
		isBroken = false;
		await pass(10 * SECOND);
		expect((await history(one)).map(({ state }) => state)).toEqual(["answered"]);
	});
});

describe("the conversation of a job", () => {
	const candidates = async () =>
		(await scene.store.pruneCandidates({ scope: OPERATOR, before: scene.clock.now() + 1, limit: 100 }))
			.conversations;

	test("stays as long as the job may run in it, however long nobody has used it", async () => {
		await start();
		const { owner, origin } = await speaker("ada", "owner");
		const given = await job({ when: "0 0 1 1 *", conversation: origin, deliver: null, owner });
		expect(await candidates()).toEqual([]);
		const { unchanged, held } = await scene.store.retentionState({ scope: OPERATOR, conversation: origin });
		expect(held).toBe("schedule");
		const archive = { name: "a", digest: "b" };
		expect(
			await scene.store.deleteConversation({ conversation: origin, unchanged, held: false, archive }),
		).toEqual({ kind: "kept", reason: "schedule" });
		await scene.schedules.delete(OPERATOR, given.id);
		expect(await candidates()).toEqual([origin]);
	});

	test("is made anew where it was its own and is gone", async () => {
		await start();
		const { owner } = await speaker("ada", "owner");
		const made = await job({ when: "2026-03-10T13:00", owner, task: { kind: "text", text: "one" } });
		await pass(HOUR);
		const { state, conversation } = await scene.schedules.find(OPERATOR, made.id);
		expect(state).toBe("ended");
		const gone = conversation as ConversationId;
		const { unchanged } = await scene.store.retentionState({ scope: OPERATOR, conversation: gone });
		const archive = { name: "a", digest: "b" };
		expect(
			await scene.store.deleteConversation({ conversation: gone, unchanged, held: false, archive }),
		).toEqual({ kind: "deleted" });
		await scene.schedules.update(OPERATOR, made.id, { when: "2026-03-10T15:00" });
		await pass(2 * HOUR);
		expect((await history(made)).map(({ state }) => state)).toEqual(["answered", "answered"]);
		expect((await scene.schedules.find(OPERATOR, made.id)).conversation).not.toBe(gone);
	});
});

test("nothing is made from words, too often, or more than allowed", async () => {
	await start({ config: { schedule: { max_jobs: 1 } } });
	await expect(job({ when: "tomorrow at 9" })).rejects.toThrow(/not an exact time/);
	await expect(job({ when: "*/10 * * * * *" })).rejects.toThrow(/every 10 s/);
	await expect(job({ when: "2020-01-01T09:00" })).rejects.toThrow(/has passed/);
	await expect(job({ when: "0 9 * * *", zone: "+01:00" })).rejects.toThrow(/not a time zone/);
	await job({ when: "0 9 * * *" });
	await expect(job({ when: "0 9 * * *" })).rejects.toThrow(/max_jobs/);
});

test("/schedule shows words back exactly, makes the job from the exact line, and manages it", async () => {
	await start();
	await scene.say("/schedule tomorrow at 9 | say call the dentist", { user: "ada" });
	expect(scene.texts().at(-1)).toContain("Nothing is scheduled yet");
	expect(scene.texts().at(-1)).toContain("/schedule 2026-03-11T09:00 | say call the dentist");
	expect((await scene.schedules.list(OPERATOR, { limit: 9 })).jobs).toEqual([]);
	await scene.say("/schedule 2026-03-11T09:00 | say call the dentist", { user: "ada" });
	expect(scene.texts().at(-1)).toContain("First run: Wednesday 11 March 2026, 09:00");
	const [made] = (await scene.schedules.list(OPERATOR, { limit: 9 })).jobs;
	await scene.say(`/schedule pause ${made?.id}`, { user: "ada" });
	expect((await scene.schedules.find(OPERATOR, made?.id as string)).state).toBe("paused");
	await scene.say(`/schedule pause ${made?.id}`, { chat: "bob", user: "bob" });
	expect(scene.texts("bob").at(-1)).toContain("No job");
	await scene.say(`/schedule run ${made?.id}`, { user: "ada" });
	await pass(SECOND);
	expect(scene.texts()).toContain("call the dentist");
});

test("a job names its own model, by command and tool, and its runs use it", async () => {
	const models: (string | undefined)[] = [];
	await start({
		agent: () => ({
			kind: "step",
			name: "watching",
			async *step({ override }) {
				models.push(override?.model);
				yield {
					type: "done",
					message: { content: "seen", toolCalls: [], finishReason: "stop" },
					usage: { ...NO_USAGE, provider: "x", model: "x" },
				};
			},
		}),
	});
	await scene.say("/schedule every 1h | model openai:gpt-5 | report", { user: "ada" });
	const [made] = (await scene.schedules.list(OPERATOR, { limit: 9 })).jobs;
	expect(made).toMatchObject({ model: { provider: "openai", model: "gpt-5" }, task: { text: "report" } });
	await scene.say("/schedule", { user: "ada" });
	expect(scene.texts().at(-1)).toContain("openai:gpt-5");
	await scene.say("/schedule every 1h | model openai:gpt-5 | report", {
		chat: "room",
		chatType: "group",
		user: "bob",
	});
	expect((await scene.schedules.list(OPERATOR, { limit: 9 })).jobs).toHaveLength(1);
	await pass(HOUR);
	expect(models).toEqual(["gpt-5"]);
});
