// Nothing that only the agent is told may leave: not the prompt, not the context block, not the notes, not what is carried over, not what
// tools answer. Looked for in everything that a platform's server was sent. A platform is one more row.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { StepAgent, StepInput } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { type Gateway, systemClock } from "../../src/gateway/index.ts";
import { OPERATOR, type Store } from "../../src/store/index.ts";
import type { ChannelPeer } from "../../src/testing/index.ts";
import { createTools } from "../../src/tools/index.ts";
import { configOf, confirmationsOn, dangerTool } from "../gateway/support.ts";
import { type Dovecot, startDovecot } from "../support/dovecot.ts";
import { type Ngircd, startNgircd } from "../support/ngircd.ts";
import { openPostOffice, type PostOffice } from "../support/post-office.ts";
import { type Prosody, startProsody } from "../support/prosody.ts";
import { discordPeer } from "./discord-scene.ts";
import { emailPeer } from "./email-scene.ts";
import { ircPeer } from "./irc-scene.ts";
import { matrixPeer } from "./matrix-scene.ts";
import { slackPeer } from "./slack-scene.ts";
import { type Heard, telegramPeer } from "./telegram-scene.ts";
import { gatewayOn, memoryStore } from "./whole-gateway.ts";
import { xmppPeer } from "./xmpp-scene.ts";

const PLATFORMS: readonly (readonly [string, () => Promise<ChannelPeer & Heard>])[] = [
	["telegram", telegramPeer],
	["slack", slackPeer],
	["discord", discordPeer],
	["irc", () => ircPeer({ port: server.port })],
	["email", () => emailPeer(office)],
	["xmpp", () => xmppPeer(prosody)],
	["matrix", matrixPeer],
];

let server: Ngircd;
let dovecot: Dovecot;
let office: PostOffice;
let prosody: Prosody;
beforeAll(async () => {
	server = await startNgircd();
	dovecot = await startDovecot();
	office = await openPostOffice(dovecot);
	prosody = await startProsody();
});
afterAll(async () => {
	await server.remove();
	await office.close();
	await dovecot.remove();
	await prosody.remove();
});

let peer: ChannelPeer & Heard;
let store: Store;
let gateway: Gateway;
/** What the agent was shown. */
let shown: StepInput[];
afterEach(async () => {
	await gateway.stop();
	await store.close();
	await peer.close();
});

/** Answers with a number, and tries something dangerous where it is told to. Never repeats what it was shown. */
function counting(): StepAgent {
	return {
		kind: "step",
		name: "counting",
		async *step(input) {
			shown.push(input);
			const last = input.history.at(-1);
			const isAsked = last?.role === "user" && JSON.stringify(last.content).includes("dare");
			const content = `number ${shown.length}`;
			yield { type: "text", delta: content };
			yield {
				type: "done",
				message: {
					content,
					toolCalls: isAsked ? [{ id: `c${shown.length}`, name: "danger", input: { what: "nothing" } }] : [],
					finishReason: "stop",
				},
				usage: { ...NO_USAGE, provider: "test", model: "test" },
			};
		},
	};
}

async function start(create: () => Promise<ChannelPeer & Heard>): Promise<void> {
	peer = await create();
	shown = [];
	const { platform } = peer.channel;
	const config = configOf({
		auth: { [platform]: { allow: [{ id: peer.person, role: "owner" }] } },
		agent: { instructions: "zqmarkpersona" },
		instructions: { [platform]: "zqmarkplatform" },
		session_reset: { mode: "none", max_messages: 4, timezone: "UTC" },
		display: { streaming: true, tool_progress: "all" },
	});
	store = await memoryStore();
	const confirmations = confirmationsOn(store, systemClock, config);
	gateway = gatewayOn({
		store,
		confirmations,
		agent: counting(),
		tools: createTools([dangerTool([])]),
		channels: [peer.channel],
		config,
	});
	await gateway.start();
	confirmations.start();
	// Not every platform keeps what was said before anybody listened.
	await expect.poll(() => peer.channel.health().state).toBe("connected");
}

/** Says something, and waits until its turn has ended: each message has a turn of its own. */
async function said(text: string): Promise<string> {
	const before = await endedTurns();
	const id = peer.say(text);
	await expect.poll(endedTurns).toBeGreaterThan(before);
	return id;
}

async function endedTurns(): Promise<number> {
	const page = await store.events({ scope: OPERATOR, after: "", limit: 1000 });
	if (page.kind === "resync") throw new Error("the events cannot be read from their beginning");
	return page.events.filter(({ type }) => type === "turn.ended").length;
}

/** Notices may stand behind it. */
async function shows(words: string): Promise<void> {
	const isVisible = () => peer.visible().some(({ text }) => text.includes(words));
	await expect.poll(isVisible).toBe(true);
}

describe.each(PLATFORMS)("on %s", (_, create) => {
	test("nothing that only the agent is told is ever sent", async () => {
		await start(create);
		const first = await said("hello");
		peer.edit?.(first, "hello again");
		await said("dare");
		await said("and now");
		peer.say("/status");
		await shows("Starts a new session: ");
		await said("once more");
		await shows(`number ${shown.length}`);
		// They were planted: the agent was shown each of them.
		const internal = shown.flatMap(({ system, notes, history }) => [
			system,
			...notes,
			...history.flatMap((row) =>
				row.role === "tool" || (row.role === "user" && row.kind === "note")
					? [JSON.stringify(row.content)]
					: [],
			),
		]);
		for (const mark of ["zqmarkpersona", "zqmarkplatform", "Carried over from", "Where this conversation"])
			expect(internal.join("\n")).toContain(mark);
		const sent = peer.received();
		expect(sent).toContain("number 1");
		expect(sent).not.toContain("zqmark");
		for (const words of new Set(internal.flatMap((text) => text.match(/[\w ,.;:()-]{24,}/g) ?? [])))
			expect(sent).not.toContain(words.trim());
	});
});
