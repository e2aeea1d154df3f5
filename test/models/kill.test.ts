// kill -9 of a real gateway process in each phase of a turn with a model behind HTTP: whatever it was doing, the next one, whose
// provider behaves, brings the message to one end, with one answer that is visible and at most one effect.
import { afterEach, expect, test } from "vitest";
import { INTERRUPTED_RESULT } from "../../src/domain/index.ts";
import type { Message, Store } from "../../src/store/index.ts";
import { type Child, Lives } from "../gateway/lives.ts";
import { OPERATOR } from "../gateway/support.ts";
import {
	calls,
	type ModelServer,
	type Received,
	type Reply,
	refuses,
	says,
	stalls,
	startModelServer,
} from "../support/model-server.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0)) await end();
});

interface Phase {
	/** What the provider does in the life that is killed. */
	readonly replies: readonly Reply[];
	/** Resolves in the phase; left out, the process ends itself at a write. */
	readonly reached?: (at: { life: Lives; server: ModelServer; child: Child }) => Promise<void>;
	readonly kill?: Parameters<Lives["child"]>[0];
	readonly toolProgress?: "new" | "off";
	/** How often the effect has happened when it is killed, and when all is over. */
	readonly effects: readonly [number, number];
	readonly result: "done" | typeof INTERRUPTED_RESULT;
}

const call = calls({ id: "call_1", name: "effect", args: "{}" });
const silent: Reply = () => {};
const seen = (text: string) => ({
	reached: ({ life }: { life: Lives }) =>
		life.world.until(() => life.world.visible().some((message) => message.text.includes(text))),
});
const received = (count: number) => ({
	reached: ({ server }: { server: ModelServer }) => server.received(count),
});

const PHASES: Readonly<Record<string, Phase>> = {
	"before the provider has answered": {
		replies: [silent],
		...received(1),
		effects: [0, 1],
		result: "done",
	},
	"while a pause that the provider asked for is waited for": {
		replies: [refuses(429, { message: "slow down" }, { "retry-after": "50" })],
		reached: ({ child }) => child.wrote("pause", 1),
		effects: [0, 1],
		result: "done",
	},
	"in the middle of the answer, of which some words are seen and their receipt is stored": {
		replies: [stalls("Let me see")],
		kill: { on: "recordPreview", when: "after" },
		effects: [0, 1],
		result: "done",
	},
	"in the middle of the answer": {
		replies: [stalls("Let me see")],
		...seen("Let me see"),
		effects: [0, 1],
		result: "done",
	},
	"when the stream has ended, before its call is stored": {
		replies: [call],
		kill: { on: "appendMessages", when: "before" },
		effects: [0, 1],
		result: "done",
	},
	"when the call is stored and has not begun": {
		replies: [call],
		kill: { on: "startCall", when: "before" },
		effects: [0, 1],
		result: "done",
	},
	"when the call is about to run": {
		replies: [call],
		kill: { on: "startCall", when: "after" },
		effects: [0, 0],
		result: INTERRUPTED_RESULT,
	},
	"when the call has had its effect and no result": {
		replies: [call],
		kill: { on: "appendMessages", nth: 2, when: "before" },
		effects: [1, 1],
		result: INTERRUPTED_RESULT,
	},
	"when the result is stored, before the second answer": {
		replies: [call, silent],
		...received(2),
		effects: [1, 1],
		result: "done",
	},
	"in the middle of the second answer": {
		replies: [call, stalls("It is")],
		...seen("It is"),
		// A preview that still shows the tool would pass these words by.
		toolProgress: "off",
		effects: [1, 1],
		result: "done",
	},
	"when the second answer is whole, before the turn's end is stored": {
		replies: [call, says("It ", "is ", "done.")],
		kill: { on: "endTurn", when: "before" },
		effects: [1, 1],
		result: "done",
	},
};

test.each(Object.entries(PHASES))(
	"killed %s: one end, one visible answer, at most one effect, and prompts that a provider takes",
	async (_name, { replies, reached, kill, effects, result, toolProgress = "new" }) => {
		const server = await startModelServer();
		ends.push(server.close);
		const life = await Lives.begin({
			model: { base_url: server.url },
			config: { display: { streaming: true, tool_progress: toolProgress } },
			channel: { lookup: true },
		});
		ends.unshift(() => life.end());

		server.next(...replies);
		life.world.say({ chat: "ada", text: "do it" });
		const child = life.child(kill);
		await Promise.race([child.ended, ...(reached ? [reached({ life, server, child })] : [])]);
		expect(child.process.exitCode).toBeNull();
		await child.kill();
		expect(child.process.signalCode).toBe("SIGKILL");
		expect(server.requests).toHaveLength(replies.length);
		expect(life.effects).toBe(effects[0]);

		server.forget();
		server.always(behaves);
		const rows = await life.recovered(transcript);
		expect(life.effects).toBe(effects[1]);
		expect(life.world.visible().map(({ text }) => text)).toEqual(["It is done."]);
		expect(rows.filter(({ role }) => role !== "meta")).toMatchObject([
			{ role: "user", content: "do it" },
			{ role: "assistant", toolCalls: [{ id: "call_1" }] },
			{ role: "tool", toolCallId: "call_1", content: result },
			{ role: "assistant", content: "It is done.", finishReason: "stop" },
		]);
		expect(server.requests.length).toBeGreaterThan(0);
		for (const request of server.requests) expect(unpaired(request)).toEqual([]);
	},
);

/** Asks for the effect, and answers when it has a result. */
const behaves: Reply = (response, request) => {
	const hasResult = messagesOf(request).some(({ role }) => role === "tool");
	(hasResult ? says("It ", "is ", "done.") : call)(response, request);
};

/** Of the only session there is, when its message has its end and the store is sound. */
async function transcript(store: Store): Promise<readonly Message[]> {
	const { disposition } = await store.inboxItem({ scope: OPERATOR, id: 1 });
	expect(disposition?.kind).toBe("answered");
	expect(await store.deliveries({ scope: OPERATOR, which: "unsettled", limit: 9 })).toEqual([]);
	expect((await store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	const conversations = await store.conversations({ scope: OPERATOR, limit: 9 });
	expect(conversations).toHaveLength(1);
	const session = conversations[0]?.liveSession;
	return store.transcript({ scope: OPERATOR, session: session as NonNullable<typeof session> });
}

interface ChatMessage {
	readonly role: string;
	readonly tool_calls?: readonly { readonly id: string }[];
	readonly tool_call_id?: string;
}

function messagesOf({ body }: Received): readonly ChatMessage[] {
	return JSON.parse(body).messages;
}

/** Calls that are not followed by their result at once, and results that do not follow their call. */
function unpaired(request: Received): string[] {
	const wrong: string[] = [];
	let open: string[] = [];
	for (const { role, tool_calls = [], tool_call_id = "" } of messagesOf(request)) {
		if (role === "tool") {
			if (!open.includes(tool_call_id)) wrong.push(`result of ${tool_call_id}`);
			open = open.filter((id) => id !== tool_call_id);
			continue;
		}
		wrong.push(...open);
		open = tool_calls.map(({ id }) => id);
	}
	return [...wrong, ...open];
}
