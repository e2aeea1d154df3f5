// Several agents in one gateway: each is asked only for its own, sees only its own, and none stands in for another.
import { afterEach, describe, expect, test } from "vitest";
import type { StepAgent, StepInput } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { configSchema } from "../../src/config/schema.ts";
import { leastStanding, parseSource } from "../../src/domain/index.ts";
import { instructionsFor, profileFor, toolsFor } from "../../src/gateway/inbox/profiles.ts";
import { type Served, serve } from "../http/support.ts";

let open: Served | undefined;
afterEach(async () => {
	await open?.close();
	open = undefined;
});

/** Answers with its name, or uses the tool it is told to, and keeps what it was shown. */
function recorder(name: string): StepAgent & { readonly shown: StepInput[] } {
	const shown: StepInput[] = [];
	return {
		kind: "step",
		name,
		shown,
		async *step(input) {
			shown.push(input);
			const last = input.history.at(-1);
			const text = typeof last?.content === "string" ? last.content : "";
			const words = /^find (.*)$/.exec(text);
			const toolCalls = words ? [{ id: "1", name: "session_search", input: { query: words[1] } }] : [];
			const content = last?.role === "tool" ? `${name} found: ${text}` : words ? "" : `${name} answers`;
			const usage = { ...NO_USAGE, provider: name, model: name };
			yield { type: "done", message: { content, toolCalls, finishReason: "stop" }, usage };
		},
	};
}

async function world(config: object = {}) {
	const agents = { work: recorder("work"), home: recorder("home") };
	open = await serve(
		undefined,
		{
			profiles: {
				work: { agent: { kind: "scripted", instructions: "You are at work." } },
				home: { agent: { kind: "scripted", instructions: "You are at home." }, tools: ["session_search"] },
			},
			...config,
		},
		agents,
	);
	const keryx = open;
	let sent = 0;
	const say = async (text: string, profile: string | undefined) => {
		const source = {
			platform: "api_server",
			chat_id: "one person",
			chat_type: "dm",
			user_id: "7",
			...(profile !== undefined && { profile }),
		};
		const { id, conversation, refused } = await keryx.client.send({
			text,
			client_message_id: `m${++sent}`,
			source,
		});
		if (refused !== null) return { refused, conversation, answer: "" };
		const { turn } = await keryx.client.inbound({ id, wait: 30 });
		const { deliveries } = await keryx.client.turn({ turn: turn as string });
		return { refused, conversation, answer: deliveries.map(({ plain }) => plain).join("") };
	};
	return { keryx, agents, say };
}

describe("profiles", () => {
	test("each message is answered by the agent of its profile, in a conversation of its own, though the person is the same", async () => {
		const { say, keryx } = await world();
		const none = await say("hello", undefined);
		const work = await say("hello", "work");
		const home = await say("hello", "home");
		expect([none.answer, work.answer, home.answer]).toEqual([
			"you said hello",
			"work answers",
			"home answers",
		]);
		expect(new Set([none.conversation, work.conversation, home.conversation]).size).toBe(3);
		const keys = (await keryx.client.conversations({})).conversations.map(({ key }) => key).toSorted();
		expect(keys).toEqual([
			"agent:home:api_server:dm:one person",
			"agent:main:api_server:dm:one person",
			"agent:work:api_server:dm:one person",
		]);
	});

	test("an unknown profile is refused, keeps no text, and is never served by the default one", async () => {
		const { say, keryx } = await world();
		expect(await say("hello", "nobody")).toMatchObject({ refused: "unknown profile", conversation: null });
		expect((await keryx.client.conversations({})).conversations).toEqual([]);
	});

	test("nothing of one profile reaches another: not its rows, its search, its instructions, its tools or its models", async () => {
		const { say, agents } = await world();
		await say("the password of the safe is heron", "work");
		await say("find heron", "home");
		expect((await say("find heron", "home")).answer).not.toContain("password");
		expect((await say("find password", "work")).answer).toContain("heron");
		const shownAtHome = JSON.stringify(agents.home.shown.map(({ system, history }) => ({ system, history })));
		expect(shownAtHome).not.toContain("password");
		expect(shownAtHome).not.toContain("You are at work.");
		expect(agents.home.shown[0]?.system).toContain("You are at home.");
		expect(agents.home.shown[0]?.tools.map(({ name }) => name)).toEqual(["session_search"]);
		expect(agents.work.shown[0]?.tools.map(({ name }) => name)).toContain("clarify");
	});

	test("a model may not call what its profile does not have, even when it tries", async () => {
		const { say, agents } = await world({
			profiles: { home: { agent: { kind: "scripted" }, tools: [] }, work: { agent: { kind: "scripted" } } },
		});
		await say("something to find", "home");
		const { answer } = await say("find something", "home");
		expect(answer).toMatch(/^home found: .*session_search/);
		expect(answer).not.toContain("something to find");
		expect(agents.home.shown[0]?.tools).toEqual([]);
	});

	test("a profile that is taken out of the configuration is served until the restart that takes it away", async () => {
		const { say, keryx } = await world();
		await say("hello", "work");
		const { restart } = await keryx.gateway.reconfigure(
			configSchema.parse({ session_reset: { mode: "none" } }),
		);
		expect(restart.some((key) => key.startsWith("profiles.work"))).toBe(true);
		expect(await say("hello again", "work")).toMatchObject({ refused: null, answer: "work answers" });
	});

	test("a turn whose profile has no agent fails and says so; no other agent answers it", async () => {
		open = await serve(undefined, { profiles: { work: { agent: { kind: "scripted" } } } }, {});
		const { client } = open;
		const source = { platform: "api_server", chat_id: "one person", chat_type: "dm", profile: "work" };
		const { id } = await client.send({ text: "hello", client_message_id: "m1", source });
		const { disposition } = await client.inbound({ id, wait: 30 });
		expect(disposition).toEqual({ kind: "failed", reason: "refused: profile work is not configured" });
	});
});

describe("which profile, tools and instructions", () => {
	const config = configSchema.parse({
		agent: { instructions: "Be kind." },
		profiles: { work: { agent: { instructions: "Be brief." }, tools: ["a", "b"] } },
		profile_rules: [
			{ profile: "work", platform: "telegram", chat: "-1" },
			{ profile: "work", user: "42" },
		],
		instructions: {
			telegram: "On Telegram.",
			"telegram/-1": "In the team.",
			"telegram/-1/9": "In the thread.",
		},
		tools: { enabled: ["a", "b", "c"], by_platform: { telegram: ["b", "c"] }, by_role: { guest: ["c"] } },
	});
	const source = (rest: object) =>
		parseSource({ platform: "telegram", chat_id: "-1", chat_type: "group", ...rest });

	test("the first rule that fits decides; a source's own wish counts only where the way in allows it", () => {
		expect(profileFor(source({}), false, config)).toBe("work");
		expect(profileFor(source({ chat_id: "-2" }), false, config)).toBe("");
		expect(profileFor(source({ chat_id: "-2", user_id: 42 }), false, config)).toBe("work");
		expect(profileFor(source({ chat_id: "-2", profile: "work" }), false, config)).toBe("");
		expect(profileFor(source({ chat_id: "-2", profile: "work" }), true, config)).toBe("work");
		expect(profileFor(source({ chat_id: "-2", profile: "other" }), true, config)).toBeNull();
	});

	test("the channel's own profile answers where no rule fits", () => {
		const withChannel = configSchema.parse({
			profiles: { work: {}, play: {} },
			profile_rules: [{ profile: "work", platform: "telegram", chat: "-1" }],
			channels: { tg: { platform: "telegram", token_env: "A", profile: "play" } },
		});
		const of = (rest: object) => profileFor(source(rest), false, withChannel);
		expect(of({})).toBe("work");
		expect(of({ chat_id: "-2" })).toBe("play");
		expect(of({ chat_id: "-2", account: "second" })).toBe("");
	});

	test("a rule for a profile that does not exist is a mistake of the configuration", () => {
		const { error } = configSchema.safeParse({ profile_rules: [{ profile: "nobody" }] });
		expect(error?.issues[0]).toMatchObject({ path: ["profile_rules", 0, "profile"] });
	});

	test("instructions go from the persona to the thread", () => {
		expect(instructionsFor(config, "", source({ thread_id: 9 }))).toEqual([
			"Be kind.",
			"On Telegram.",
			"In the team.",
			"In the thread.",
		]);
		expect(instructionsFor(config, "work", source({ chat_id: "-5" }))).toEqual(["Be brief.", "On Telegram."]);
	});

	test("every list that applies narrows the tools", () => {
		const all = ["a", "b", "c", "d"];
		const place = { profile: "", platform: "irc", role: "owner" } as const;
		expect(toolsFor(all, config, place)).toEqual(["a", "b", "c"]);
		expect(toolsFor(all, config, { ...place, platform: "telegram" })).toEqual(["b", "c"]);
		expect(toolsFor(all, config, { ...place, profile: "work", platform: "telegram" })).toEqual(["b"]);
		expect(toolsFor(all, config, { ...place, role: "guest" })).toEqual(["c"]);
	});

	test("pages are fetched only for those whose commands have a network, and whose list of tools names it", () => {
		const container = { backend: "podman", container: { image: "debian:12" } } as const;
		const fetches = (input: object, role: "owner" | "member" | "guest", profile = "") =>
			toolsFor(["web_fetch"], configSchema.parse(input), { profile, platform: "web", role }).length > 0;
		expect([fetches({}, "owner"), fetches({}, "member"), fetches({}, "guest")]).toEqual([true, false, false]);
		expect(fetches({ walls: { network: "off" } }, "owner")).toBe(false);
		expect(fetches({ approvals: { mode: "readonly" } }, "owner")).toBe(false);
		expect(fetches({ walls: { by_role: { member: "view" } } }, "member")).toBe(true);
		expect(fetches({ walls: { mode: "off" } }, "member")).toBe(true);
		expect(fetches({ tools: { by_role: { member: ["web_fetch"] } } }, "member")).toBe(true);
		expect(fetches({ tools: { by_role: { guest: ["web_fetch"] } } }, "guest")).toBe(true);
		expect(fetches({ terminal: container }, "owner")).toBe(false);
		const online = { ...container, container: { ...container.container, network: "on" } };
		expect(fetches({ profiles: { build: { terminal: online } } }, "owner", "build")).toBe(true);
	});

	test("of several people, whoever may do least decides", () => {
		expect(leastStanding(["owner", "guest", "member"])).toBe("guest");
		expect(leastStanding(["owner", "member"])).toBe("member");
		expect(leastStanding([])).toBe("none");
	});
});
