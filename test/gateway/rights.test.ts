// I18: a turn has the least role and the common reach of the people it speaks for. Each attack that once worked is a test here.
import { afterEach, describe, expect, test } from "vitest";
import { NO_USAGE, type StepAgent } from "../../src/agents/index.ts";
import { configOf, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";
import { teller } from "./teller.ts";

let scene: Scene;
afterEach(() => scene.end());

const PEOPLE = {
	telegram: {
		allow: [{ id: "ada", role: "owner" as const }, "bob", { id: "gus", role: "guest" as const }],
		roles: { mods: "member" as const },
	},
};

const start = async ({ config, ...options }: SceneOptions = {}) => {
	scene = await Scene.start({
		agent: teller,
		...options,
		config: { auth: PEOPLE, ...config },
	});
};

const THREAD = { chat: "room", chatType: "thread", thread: "t1" } as const;
const GROUP = { chat: "team", chatType: "group" } as const;
const said = (chat: string) => scene.texts(chat).join("\n");
/** The last one that wrote into the conversation of a message. */
const newestTurn = async (id: string) => {
	const { turn } = (await scene.rows(id)).findLast((row) => row.turn !== null) ?? {};
	return scene.store.turn({ scope: OPERATOR, id: turn as string });
};
const dispositionOf = (id: string) => scene.disposition(id);

describe("joining a running turn", () => {
	const steer = { config: { gateway: { busy: "steer" as const }, tools: { by_role: { guest: [] } } } };

	for (const [who, text] of [
		["gus", 'call session_search {"query":"codeword"}'],
		["bob", 'call session_search {"query":"codeword"}'],
	] as const)
		test(`${who} cannot steer the owner's turn: the message waits, and is answered with its own rights`, async () => {
			await start(steer);
			await scene.say("the codeword is tulip", { chat: "ada", user: "ada" });
			await scene.say('call slow {"ms":5000}', { ...THREAD, user: "ada" });
			const joining = await scene.say(text, { ...THREAD, user: who });
			await scene.clock.advance(5 * SECOND);
			await scene.clock.advance(MINUTE);
			expect(await dispositionOf(joining)).toBe("answered");
			const item = await scene.item(joining);
			const turn = await scene.store.turn({ scope: OPERATOR, id: item.turn as string });
			expect(turn.speakers.map(({ role }) => role)).toEqual([who === "gus" ? "guest" : "member"]);
			expect(said("room")).not.toContain("tulip");
		});

	test("the same person in the same role joins", async () => {
		await start(steer);
		const first = await scene.say('call slow {"ms":5000}', { ...THREAD, user: "ada" });
		const second = await scene.say("and be quick", { ...THREAD, user: "ada" });
		await scene.clock.advance(5 * SECOND);
		expect((await scene.item(second)).turn).toBe((await scene.item(first)).turn);
	});

	test("the store itself refuses a join that would change the turn's rights", async () => {
		await start(steer);
		await scene.say('call slow {"ms":5000}', { ...THREAD, user: "ada" });
		const joining = await scene.say("me too", { ...THREAD, user: "gus" });
		const conversation = await scene.conversation(joining);
		const open = await scene.store.openTurnOf({ scope: OPERATOR, conversation });
		const { rows, joined } = await scene.store.joinTurn({
			turn: open?.id as string,
			token: open?.token as number,
			inbox: [scene.inbox(joining)],
			nextIndex: 90,
			policy: POLICY,
		});
		expect(rows).toEqual([]);
		expect(joined).toEqual([]);
		await scene.clock.advance(MINUTE);
	});
});

/** Two calls in one step, the second after a while. */
function twoCalls(): StepAgent {
	return {
		...teller(),
		async *step({ history }) {
			const isAsked = history.at(-1)?.role === "user";
			const toolCalls = isAsked
				? [
						{ id: "c1", name: "slow", input: { ms: 5000 } },
						{ id: "c2", name: "effect", input: { what: "second call" } },
					]
				: [];
			yield {
				type: "done",
				message: { content: isAsked ? "" : "over", toolCalls, finishReason: "stop" },
				usage: { ...NO_USAGE, provider: "teller", model: "teller" },
			};
		},
	};
}

describe("a turn that runs while its person loses rights", () => {
	const now = (allow: typeof PEOPLE.telegram.allow) => ({
		auth: { telegram: { ...PEOPLE.telegram, allow } },
	});

	test.each([
		["is sent away", [{ id: "ada", role: "owner" as const }], true],
		["becomes a guest", [{ id: "bob", role: "guest" as const }], true],
		["keeps them", PEOPLE.telegram.allow, false],
	])("and %s: calls that have not begun are made only if nothing was lost", async (_, allow, isLost) => {
		await start({ agent: twoCalls });
		const id = await scene.say("go", { chat: "bob", user: "bob" });
		await scene.gateway.reconfigure(configOf(now(allow)));
		await scene.clock.advance(5 * SECOND);
		await scene.clock.advance(MINUTE);
		const results = (await scene.rows(id))
			.filter(({ role }) => role === "tool")
			.map(({ content }) => content);
		expect(results).toEqual([
			"slowly done",
			isLost
				? expect.stringContaining("Not done: the person this is for has lost rights")
				: "did second call",
		]);
	});
});

const POLICY = {
	mode: "none",
	atHour: 4,
	timezone: "UTC",
	idleMinutes: 1440,
	maxMessages: 0,
	notify: true,
	notifyExcludePlatforms: [],
	processMaxAgeHours: 24,
	carryOver: "all",
} as const;

describe("reach", () => {
	const search = 'call session_search {"query":"codeword"}';

	test("a search in a shared thread finds the thread, and nobody's private conversation", async () => {
		await start();
		await scene.say("the codeword is tulip", { chat: "ada", user: "ada" });
		await scene.say("the codeword here is public", { ...THREAD, user: "ada" });
		await scene.say(search, { ...THREAD, user: "ada" });
		expect(said("room")).toContain("is public");
		expect(said("room")).not.toContain("tulip");
	});

	test("a search in a group where everybody has a conversation of their own finds that one alone", async () => {
		await start();
		await scene.say("the codeword is tulip", { chat: "ada", user: "ada" });
		await scene.say("my codeword in the group", { ...GROUP, user: "ada" });
		await scene.say(search, { ...GROUP, user: "ada" });
		expect(said("team")).toContain("in the group");
		expect(said("team")).not.toContain("tulip");
	});

	test("in a private chat a person finds everything that is theirs", async () => {
		await start();
		await scene.say("my codeword in the group", { ...GROUP, user: "ada" });
		await scene.say(search, { chat: "ada", user: "ada" });
		expect(said("ada")).toContain("in the group");
	});

	test("messages of several people that waited together have the least role and reach of all of them", async () => {
		await start({
			durable: true,
			config: { gateway: { batch_ms: 350 }, tools: { by_role: { guest: [] } } },
		});
		await scene.say("the codeword is tulip", { chat: "ada", user: "ada" });
		await scene.clock.advance(SECOND);
		await scene.die();
		const sentAt = scene.clock.now();
		const owner = scene.world.say({ ...THREAD, user: "ada", text: "hello", sentAt });
		const guest = scene.world.say({ ...THREAD, user: "gus", text: search, sentAt });
		await scene.open(scene.clock.now() + 2 * MINUTE);
		await scene.clock.advance(MINUTE);
		const { turn } = await scene.item(guest);
		expect((await scene.item(owner)).turn).toBe(turn);
		expect(said("room")).toContain("no tool named session_search");
		expect(said("room")).not.toContain("tulip");
	});
});

describe("what comes later carries the rights of who caused it", () => {
	const ask = 'call danger {"what":"it"}';
	const approve = async (conversation: string) => {
		const [open] = await scene.store.openConfirmations({
			scope: OPERATOR,
			conversation: conversation as never,
			now: scene.clock.now(),
		});
		await scene.confirmations.resolve(
			open?.id as string,
			"approved",
			{},
			{ who: "operator", role: "operator", via: "page", sessionKey: null },
		);
		await scene.clock.advance(SECOND);
	};

	test("an answer to a guest's question begins a turn with the guest's rights, whoever wrote last", async () => {
		await start();
		const asked = await scene.say(ask, { ...THREAD, user: "gus" });
		await scene.say("I am the owner", { ...THREAD, user: "ada" });
		await approve(await scene.conversation(asked));
		expect((await newestTurn(asked)).speakers).toMatchObject([{ role: "guest" }]);
		expect(scene.dangers).toEqual(["it"]);
	});

	test("somebody who is let in no longer has nothing: what was approved for them is not done", async () => {
		await start({ durable: true });
		const asked = await scene.say(ask, { chat: "bob", user: "bob" });
		const conversation = await scene.conversation(asked);
		await scene.crash(0, {
			...scene.options,
			config: { auth: { telegram: { allow: [{ id: "ada", role: "owner" }] } } },
		});
		await approve(conversation);
		expect(scene.dangers).toEqual([]);
		const rows = await scene.rows(asked);
		expect(JSON.stringify(rows)).toContain("The tool danger no longer exists");
	});

	test("somebody who was made a guest meanwhile has a guest's tools", async () => {
		await start({ durable: true });
		const asked = await scene.say(ask, { chat: "bob", user: "bob" });
		const conversation = await scene.conversation(asked);
		await scene.crash(0, {
			...scene.options,
			config: {
				auth: { telegram: { allow: [{ id: "bob", role: "guest" }] } },
				tools: { by_role: { guest: ["clarify"] } },
			},
		});
		await approve(conversation);
		expect(scene.dangers).toEqual([]);
	});

	test("a role that the platform gave is kept for as long as the setting gives it", async () => {
		await start();
		const mod = { ...THREAD, user: "mia", transport: { roles: ["mods"] } };
		const asked = await scene.say(ask, mod);
		await approve(await scene.conversation(asked));
		expect(scene.dangers).toEqual(["it"]);
	});

	test("a turn that goes on after a crash has the rights of its speaker, not of whoever wrote last", async () => {
		await start({ durable: true, config: { tools: { by_role: { guest: ["slow"] } } } });
		const guest = await scene.say('call slow {"ms":60000}', { ...THREAD, user: "gus" });
		await scene.say("later", { ...THREAD, user: "ada" });
		await scene.crash();
		await scene.clock.advance(2 * MINUTE);
		const turn = await scene.store.turn({
			scope: OPERATOR,
			id: (await scene.item(guest)).turn as string,
		});
		expect(turn.speakers).toMatchObject([{ role: "guest" }]);
	});

	test("answering again speaks for who asks for it, too", async () => {
		await start();
		const hello = await scene.say("hello", { ...THREAD, user: "ada" });
		const again = await scene.say("/retry", { ...THREAD, user: "bob" });
		expect((await newestTurn(hello)).speakers.map(({ role }) => role)).toEqual(["owner", "member"]);
		expect(await dispositionOf(again)).toBe("command");
	});
});

describe("settings of a conversation", () => {
	for (const command of ["/busy interrupt", "/model other", "/title mine", "/verbose all", "/extend 5"])
		test(`${command} in a shared conversation is the owner's`, async () => {
			await start({ config: { session_reset: { max_messages: 50 } } });
			await scene.say("hello", { ...THREAD, user: "ada" });
			await scene.say(command, { ...THREAD, user: "bob" });
			expect(scene.texts("room").at(-1)).toMatch(/^Nothing was changed. In a shared conversation/);
			await scene.say(command, { ...THREAD, user: "ada" });
			expect(scene.texts("room").at(-1)).not.toMatch(/^Nothing was changed/);
		});

	test("in their own conversation a member changes them, and anybody may read them", async () => {
		await start();
		await scene.say("/busy interrupt", { chat: "bob", user: "bob" });
		expect(scene.texts("bob").at(-1)).toMatch(/^From now on/);
		await scene.say("/busy", { ...THREAD, user: "bob" });
		expect(scene.texts("room").at(-1)).toMatch(/^While Keryx is answering/);
	});
});

describe("grants", () => {
	const ask = 'call danger {"what":"it"}';
	const waiting = async (id: string) =>
		scene.store.openConfirmations({
			scope: OPERATOR,
			conversation: await scene.conversation(id),
			now: scene.clock.now(),
		});

	test("a member grants for a session at most", async () => {
		await start();
		await scene.say(ask, { chat: "bob", user: "bob" });
		for (const scope of ["conversation", "always"]) {
			await scene.say(`/approve ${scope}`, { chat: "bob", user: "bob" });
			expect(scene.texts("bob").at(-1)).toContain("Only the owner");
		}
		expect(scene.dangers).toEqual([]);
		await scene.say("/approve session", { chat: "bob", user: "bob" });
		await scene.say(ask, { chat: "bob", user: "bob" });
		expect(scene.dangers).toEqual(["it", "it"]);
	});

	test("the owner's always for one person serves nobody else, a guest least of all", async () => {
		await start();
		await scene.say(ask, { chat: "ada", user: "ada" });
		await scene.say("/approve always", { chat: "ada", user: "ada" });
		expect(scene.dangers).toEqual(["it"]);
		for (const who of ["bob", "gus"])
			expect(await waiting(await scene.say(ask, { chat: who, user: who }))).toHaveLength(1);
		await scene.say(ask, { ...THREAD, user: "ada" });
		expect(scene.dangers).toEqual(["it", "it"]);
	});

	test("one that the operator gave to everybody serves members, not guests", async () => {
		await start();
		await scene.store.addGrant({ scope: "always", action: "run_danger", by: "operator", via: "cli" });
		await scene.say(ask, { chat: "bob", user: "bob" });
		expect(scene.dangers).toEqual(["it"]);
		expect(await waiting(await scene.say(ask, { chat: "gus", user: "gus" }))).toHaveLength(1);
	});

	test("serves nobody who has been made a guest since, also for a message from before that", async () => {
		await start({ durable: true });
		const bob = { chat: "bob", user: "bob" };
		await scene.say(ask, bob);
		await scene.say("/approve session", bob);
		expect(scene.dangers).toEqual(["it"]);
		await scene.say('call slow {"ms":60000}', bob);
		const queued = await scene.say(ask, bob);
		const allow = [{ id: "bob", role: "guest" as const }];
		await scene.crash(0, { ...scene.options, config: { auth: { telegram: { allow } } } });
		await scene.clock.advance(2 * MINUTE);
		expect(await waiting(queued)).toHaveLength(1);
		expect(scene.dangers).toEqual(["it"]);
	});

	test("the owner's for a guest serves that guest", async () => {
		await start();
		const gus = { chat: "gus", user: "gus" };
		const [asked] = await waiting(await scene.say(ask, gus));
		await scene.say(`/approve ${asked?.id} always`, { chat: "ada", user: "ada" });
		await scene.say(ask, gus);
		expect(scene.dangers).toEqual(["it", "it"]);
	});

	test.each([
		["in the thread", THREAD],
		["from their own chat", { chat: "bob" }],
	])("a member answers no guest's question, for whatever time: %s", async (_where, from) => {
		await start();
		const asked = await scene.say(ask, { ...THREAD, user: "gus" });
		const [open] = await waiting(asked);
		for (const scope of ["once", "session", "conversation", "always"])
			for (const command of [`/approve ${open?.id} ${scope}`, `/approve ${scope}`])
				await scene.say(command, { ...from, user: "bob" });
		expect([scene.dangers, await scene.store.grants({ scope: OPERATOR, limit: 10 })]).toEqual([[], []]);
		expect(await waiting(asked)).toHaveLength(1);
	});

	test("a member grants for nobody else who speaks in their conversation", async () => {
		await start();
		const bob = { chat: "bob", user: "bob" };
		const hello = await scene.say("hello", bob);
		const token = { digest: "0".repeat(64), role: "agent", by: "operator", via: "cli" } as const;
		await scene.store.createToken({ ...token, name: "ci" });
		await scene.gateway.accept({
			source: { platform: "api_server", chat_id: "token:ci", chat_type: "dm", user_id: "token:ci" },
			platformMessage: "joined",
			content: ask,
			conversation: await scene.conversation(hello),
			transport: { role: "member", poster: { who: "token:ci", via: "api", decides: false } },
		});
		await scene.clock.advance(0);
		await scene.say("/approve session", bob);
		expect(scene.texts("bob").at(-1)).toContain("someone else asked for it");
		expect([scene.dangers, await scene.store.grants({ scope: OPERATOR, limit: 10 })]).toEqual([[], []]);
		await scene.say("/approve", bob);
		expect(scene.dangers).toEqual(["it"]);
	});

	test("a member answers no question of the owner's in a thread that both write in", async () => {
		await start();
		const asked = await scene.say(ask, { ...THREAD, user: "ada" });
		const [open] = await waiting(asked);
		await scene.say(`/approve ${open?.id} always`, { ...THREAD, user: "bob" });
		await scene.say("/approve", { ...THREAD, user: "bob" });
		expect(scene.dangers).toEqual([]);
		expect(await waiting(asked)).toHaveLength(1);
	});

	test("ends after 30 days unless it says otherwise", async () => {
		await start();
		await scene.say(ask, { chat: "ada", user: "ada" });
		await scene.say("/approve always", { chat: "ada", user: "ada" });
		const [grant] = await scene.store.grants({ scope: OPERATOR, limit: 1 });
		expect(grant?.until).toBe((grant?.createdAt ?? 0) + 30 * 24 * 60 * MINUTE);
	});
});
