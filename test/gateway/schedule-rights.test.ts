// Attacks on jobs and sends: nobody acts with another's rights, sends where they may not, or has a yes used for something else.
import { afterEach, describe, expect, test } from "vitest";
import type { ConversationId, Speaker } from "../../src/domain/index.ts";
import { sendTool } from "../../src/gateway/index.ts";
import type { Job } from "../../src/store/index.ts";
import { createScheduleTool } from "../../src/tools/index.ts";
import { type ConfigInput, HOUR, OPERATOR, puppet, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

const AUTH = {
	telegram: {
		allow: [
			{ id: "ada", role: "owner" as const },
			{ id: "bob", role: "member" as const },
			{ id: "carol", role: "member" as const },
			{ id: "gus", role: "guest" as const },
		],
	},
};
const HOME = (chat: string): ConfigInput => ({
	home_channels: { telegram: { chat_id: chat, name: chat } },
});

async function start({ config, ...options }: SceneOptions = {}): Promise<void> {
	const send = sendTool({ sending: () => scene.gateway.sending, workspaceOf: () => "/", limit: () => 1 });
	const given: SceneOptions = {
		agent: puppet,
		config: { auth: AUTH, tools: { by_role: { guest: ["send_message", "schedule"] } }, ...config },
		...options,
	};
	const schedule = createScheduleTool({
		schedules: {
			// The scene's own, of the life that it is in.
			...(new Proxy({}, {}) as Scene["schedules"]),
			understand: (text, zone) => scene.schedules.understand(text, zone),
			view: (timing) => scene.schedules.view(timing),
			create: (wanted) => scene.schedules.create(wanted),
			update: (scope, id, changes) => scene.schedules.update(scope, id, changes),
			pause: (scope, id) => scene.schedules.pause(scope, id),
			resume: (scope, id) => scene.schedules.resume(scope, id),
			delete: (scope, id) => scene.schedules.delete(scope, id),
			runNow: (scope, id) => scene.schedules.runNow(scope, id),
			find: (scope, id) => scene.schedules.find(scope, id),
			list: (scope, page) => scene.schedules.list(scope, page),
			history: (scope, id, page) => scene.schedules.history(scope, id, page),
		},
		resolve: (text, { conversation, scope, standing }) =>
			scene.gateway.sending.resolve(text, { standing, scope, origin: conversation }),
		check: (target, { conversation, scope, standing }) =>
			scene.gateway.sending.check(target, { standing, scope, origin: conversation }),
	});
	scene = new Scene({ ...given, tools: [send, schedule] });
	await scene.open(Date.UTC(2026, 2, 10, 12));
}

const call = (tool: string, input: object) => `call ${tool} ${JSON.stringify(input)}`;
const as = (user: string) => ({ chat: user, user });
const inGroup = (user: string) => ({ chat: "room", chatType: "group" as const, user });
/** What the last call answered. */
const answered = () =>
	String(scene.shown.at(-1)?.history.findLast(({ role }) => role === "tool")?.content ?? "");
const open = () =>
	scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 10, status: "pending" });
const jobs = async () => (await scene.schedules.list(OPERATOR, { limit: 20 })).jobs;
const runs = async ({ id }: Job) =>
	(await scene.schedules.history(OPERATOR, id, { limit: 20 })).map(
		({ state, via, delivery, deliveryReason }) => [state, via, delivery, deliveryReason],
	);
const pass = async (ms: number) => {
	await scene.clock.advance(ms);
	await scene.clock.advance(SECOND);
};
const text = (chat: string, said: string) => scene.texts(chat).filter((one) => one === said).length;

describe("a target that was asked about", () => {
	test("is the one that gets the message, wherever the home channel is by then", async () => {
		await start({ durable: true, config: HOME("bob") });
		await scene.say(call("send_message", { target: "telegram", text: "to the home" }));
		const [sending] = await open();
		await scene.say(
			call("schedule", { action: "create", when: "every 1h", text: "hourly", deliver: "telegram" }),
		);
		const scheduling = (await open()).find(({ id }) => id !== sending?.id);
		expect(scheduling?.details).toMatchObject({ deliver: "telegram:bob" });
		await scene.crash(SECOND, { ...scene.options, config: { ...scene.options.config, ...HOME("carol") } });
		for (const one of [sending, scheduling]) await scene.say(`/approve ${one?.id}`);
		await pass(HOUR);
		expect([text("bob", "to the home"), text("bob", "hourly")]).toEqual([1, 1]);
		expect(scene.texts("carol")).toEqual([]);
	});

	test("is refused where it needs more than the yes that was given", async () => {
		await start();
		const [conversation, principal] = await own("bob");
		await scene.say("hi", as("carol"));
		// Bob's own other conversation is his to agree to.
		const other = await conversationOf("bob-2", "bob");
		await scene.say(call("send_message", { target: `conversation:${other}`, text: "mine" }), as("bob"));
		const [asked] = await open();
		expect(asked).toMatchObject({ action: "send_message" });
		await scene.confirmations.resolve(
			asked?.id as string,
			"approved",
			{ editedDetails: { target: "telegram:carol", text: "as bob" } },
			{ who: `principal:${principal}`, via: "chat", role: "approver" } as never,
		);
		await scene.clock.advance(0);
		expect(scene.texts("carol")).toEqual(["done"]);
		expect(JSON.stringify(scene.shown.at(-1)?.history)).toContain(
			"needs the owner's approval of send_to_others",
		);
		expect(conversation).not.toBe(other);
	});
});

describe("a permission that was withdrawn", () => {
	const job = async (config: ConfigInput) => {
		await start({ durable: true, config });
		await scene.say(
			call("schedule", { action: "create", when: "every 1h", text: "hourly", deliver: "telegram:carol" }),
			as("bob"),
		);
		expect(await open()).toEqual([]);
		return (await jobs())[0] as Job;
	};

	test("stops a job's messages: the run says why, and whoever made it hears of it once", async () => {
		const made = await job({ send: { allow: ["telegram:carol"] } });
		await pass(HOUR);
		expect(text("carol", "hourly")).toBe(1);
		await scene.crash(SECOND, { ...scene.options, config: { ...scene.options.config, send: { allow: [] } } });
		await pass(HOUR);
		expect(text("carol", "hourly")).toBe(1);
		expect((await runs(made))[0]).toEqual([
			"answered",
			"refused",
			"dead",
			"sending there has to be approved now",
		]);
		const told = scene.texts("bob").filter((one) => one.includes("could not be delivered"));
		expect(told).toHaveLength(1);
	});

	test("is not needed for what the owner agreed to once", async () => {
		await start({ durable: true });
		await scene.say(
			call("schedule", { action: "create", when: "every 1h", text: "hourly", deliver: "telegram:carol" }),
			as("bob"),
		);
		const [asked] = await open();
		await scene.say(`/approve ${asked?.id}`, as("bob"));
		expect(await jobs(), "a member's yes is not the owner's").toEqual([]);
		await scene.say(`/approve ${asked?.id}`);
		await pass(HOUR);
		expect(text("carol", "hourly")).toBe(1);
	});

	test("of a guest sends nothing at all", async () => {
		const made = await job({ send: { allow: ["telegram:carol"] } });
		const allow = AUTH.telegram.allow.map((one) =>
			one.id === "bob" ? { ...one, role: "guest" as const } : one,
		);
		await scene.crash(SECOND, {
			...scene.options,
			config: { ...scene.options.config, auth: { telegram: { allow } } },
		});
		await pass(HOUR);
		expect(text("carol", "hourly")).toBe(0);
		expect((await runs(made))[0]?.slice(0, 3)).toEqual(["answered", "refused", "dead"]);
	});
});

describe("somebody else's job", () => {
	const bobs = async (): Promise<Job> => {
		await start();
		await scene.say(call("schedule", { action: "create", when: "every 1h", text: "hourly" }), as("bob"));
		return (await jobs())[0] as Job;
	};

	test.each(["carol", "gus"])(
		"is not there for %s, by tool or command, in a private chat or a group",
		async (user) => {
			const made = await bobs();
			for (const action of ["show", "update", "pause", "run_now", "delete"]) {
				for (const place of [as(user), inGroup(user)]) {
					await scene.say(
						call("schedule", { action, job: made.id, ...(action === "update" && { text: "boo" }) }),
						place,
					);
					expect(answered(), action).toContain(`no job ${made.id}`);
				}
			}
			for (const action of ["pause", "run", "delete"])
				await scene.say(`/schedule ${action} ${made.id}`, as(user));
			expect(await open()).toEqual([]);
			await scene.say(call("schedule", { action: "list" }), as(user));
			expect(answered()).toBe("There are no jobs.");
			expect(await scene.schedules.find(OPERATOR, made.id)).toEqual(made);
		},
	);

	test("is not there for its own owner where others read along", async () => {
		const made = await bobs();
		await scene.say(call("schedule", { action: "show", job: made.id }), inGroup("bob"));
		expect(answered()).toContain("no job");
	});
});

test("whose job it is does not change with who runs or updates it: the owner's run of a member's job is the member's", async () => {
	await start();
	const prompt = 'call send_message {"target":"telegram:carol","text":"as the owner"}';
	await scene.say(call("schedule", { action: "create", when: "every 1h", prompt }), as("bob"));
	const [made] = await jobs();
	await scene.say(`/schedule run ${made?.id}`);
	await pass(SECOND);
	expect(scene.texts("carol")).toEqual([]);
});

test("more often, or another text, to a chat that somebody agreed to is asked about again", async () => {
	await start();
	await scene.say(
		call("schedule", { action: "create", when: "0 9 * * *", text: "daily", deliver: "telegram:carol" }),
		as("bob"),
	);
	const [asked] = await open();
	await scene.say(`/approve ${asked?.id}`);
	const [made] = await jobs();
	for (const change of [{ when: "every 1m" }, { text: "boo" }, { name: "boo" }]) {
		await scene.say(call("schedule", { action: "update", job: made?.id, ...change }), as("bob"));
		const [again] = await open();
		expect(again?.action, JSON.stringify(change)).toBe("send_to_others");
		await scene.say(`/deny ${again?.id}`);
	}
	expect(await scene.schedules.find(OPERATOR, made?.id as string)).toEqual(made);
});

test("words are made exact without asking anybody", async () => {
	await start();
	await scene.say(
		call("schedule", { action: "create", when: "tomorrow at 9", text: "boo", deliver: "telegram:carol" }),
		as("bob"),
	);
	expect(await open()).toEqual([]);
	expect(answered()).toContain("Nothing was created yet");
});

describe("a message that the agent sent by itself and that died", () => {
	const refusing: SceneOptions["wrap"] = (channel) => ({
		...channel,
		send: (out) =>
			out.destination.chatId === "carol"
				? Promise.resolve({ kind: "refused", reason: "bot was blocked" })
				: channel.send(out),
	});
	const note = () =>
		scene.shown
			.at(-1)
			?.history.map(({ content }) => String(content))
			.filter((one) => one.includes("was not delivered"));

	test("is told to it in its next turn, once", async () => {
		await start({ wrap: refusing, config: { send: { allow: ["telegram:carol"] } } });
		await scene.say(call("send_message", { target: "telegram:carol", text: "lunch?" }));
		await pass(SECOND);
		await scene.say("and?");
		expect(note()).toEqual([
			expect.stringMatching(
				/^A message that you sent to a chat on telegram was not delivered .*bot was blocked.*lunch\?/s,
			),
		]);
		await scene.say("and now?");
		expect(note()).toHaveLength(1);
	});

	test("as the result of a job is the failed delivery of its run, and the failure target hears of it once", async () => {
		await start({ wrap: refusing, config: { send: { allow: ["telegram:carol"] } } });
		const carol = await conversationOf("carol", "carol");
		const { owner, origin } = await speaker("ada");
		const made = await scene.schedules.create({
			task: { kind: "prompt", text: "report" },
			when: "every 1h",
			deliver: { target: { kind: "conversation", conversation: carol }, shown: "Carol", approved: true },
			owner,
			origin,
		});
		// In its turn, to the same chat by another name.
		const begin = scene.store.beginTurn.bind(scene.store);
		Object.assign(scene.store, {
			beginTurn: async (args: Parameters<typeof begin>[0]) => {
				const begun = await begin(args);
				if (begun.kind === "begun" && begun.job)
					await scene.gateway.sending.send({
						id: `${begun.turn}:call`,
						target: { kind: "chat", platform: "telegram", account: "", chatId: "carol" },
						text: "the report",
						by: "agent:",
						from: { where: "the job" },
						turn: begun.turn,
					});
				return begun;
			},
		});
		const before = scene.texts().length;
		await pass(HOUR);
		await pass(10 * SECOND);
		expect(await runs(made)).toEqual([["answered", "by_agent", "dead", "bot was blocked"]]);
		expect(scene.texts().slice(before)).toEqual([
			'The scheduled job "report" ran, but its result could not be delivered to Carol: bot was blocked.',
		]);
		expect((await scene.schedules.find(OPERATOR, made.id)).failures).toBe(1);
	});
});

async function conversationOf(chat: string, user: string): Promise<ConversationId> {
	return scene.conversation(await scene.say("hello", { chat, user }));
}

async function speaker(user: string): Promise<{ owner: Speaker; origin: ConversationId }> {
	const { principal, conversation } = await scene.item(await scene.say("hello", as(user)));
	return {
		owner: { principal, role: "owner", platform: "telegram" },
		origin: conversation as ConversationId,
	};
}

async function own(user: string): Promise<[ConversationId, string]> {
	const { principal, conversation } = await scene.item(await scene.say("hello", as(user)));
	return [conversation as ConversationId, principal as string];
}
