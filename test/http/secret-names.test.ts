// Names of secrets in text that is shown while it is written: only the operator sees them, in whatever pieces they come (I12).
import { afterEach, expect, test } from "vitest";
import type { StepAgent } from "../../src/agents/index.ts";
import type { ConversationId } from "../../src/domain/index.ts";
import { apiTransport, type Client, createClient } from "../../src/http/index.ts";
import type { Script } from "../../src/testing/index.ts";
import { eventually } from "../support/soon.ts";
import { SECRET, type Served, serve } from "./support.ts";

const CHUNKS = ["it is \\", "$", "{sec", "ret:DB\\", "_PASS", "WORD", "\\}", " or ${", "5} \\", "or $"];
const TOLD = CHUNKS.join("");
const SHOWN = "it is ••• or \u0024{5} \\or $";

/** How many of them come before the test lets the rest come. */
const HALF = 5;
let goOn = () => {};
const held: StepAgent = {
	kind: "step",
	name: "held",
	async *step() {
		for (const delta of CHUNKS.slice(0, HALF)) yield { type: "text", delta };
		await new Promise<void>((resolve) => {
			goOn = resolve;
		});
		for (const delta of CHUNKS.slice(HALF)) yield { type: "text", delta };
		yield { type: "done", message: { content: TOLD, toolCalls: [], finishReason: "stop" }, usage: USAGE };
	},
};
/** Fails after text that may be the start of a name, when the test lets it. */
const end = Promise.withResolvers<void>();
const failing: StepAgent = {
	kind: "step",
	name: "failing",
	async *step() {
		yield { type: "text", delta: "it costs " };
		await end.promise;
		yield { type: "text", delta: "5 $" };
		yield { type: "failed", failure: { kind: "refused", detail: "no" } };
	},
};
const USAGE = { provider: "p", model: "m", inputTokens: 1, outputTokens: 1, costMicros: 0, currency: "USD" };

let keryx: Served;
afterEach(() => keryx.close());

interface Callers {
	readonly operator: Client;
	readonly reader: Client;
}

async function start(script: Script): Promise<Callers> {
	const agents = { held, failing };
	const profiles = Object.keys(agents);
	const config = { profiles: Object.fromEntries(profiles.map((name) => [name, {}])) };
	keryx = await serve(script, config, agents, async () => ({ profiles }));
	const operator = createClient(apiTransport(keryx.api, { bearer: SECRET }));
	const { token } = await operator.createToken({ name: "reader", role: "reader" });
	return { operator, reader: createClient(apiTransport(keryx.api, { bearer: token })) };
}

/** Joins the pieces of a message: each must begin in or behind the text so far, and agree with it. */
async function joined(
	client: Client,
	conversation: string,
	{ begin, until }: { readonly begin: () => unknown; readonly until: (frame: Frame) => boolean },
): Promise<string> {
	const hangUp = new AbortController();
	let begun: Promise<unknown> | undefined;
	let text = "";
	for await (const frame of client.follow({ after: "", conversation, signal: hangUp.signal })) {
		if (frame.kind === "delta") {
			const { offset, text: piece } = frame.delta;
			const known = text.slice(offset);
			expect(offset).toBeLessThanOrEqual(text.length);
			expect(piece.slice(0, known.length)).toBe(known.slice(0, piece.length));
			text += piece.slice(known.length);
		}
		// The first event shows that the follower is there.
		if (frame.kind === "event") begun ??= (async () => await begin())();
		if (!until(frame)) continue;
		hangUp.abort();
		break;
	}
	await begun;
	return text;
}

type Frame = Client extends { follow(...args: never[]): AsyncIterable<infer One> } ? One : never;

function isRowOf(text: string) {
	return (frame: Frame) => frame.kind === "event" && frame.event.message?.content === text;
}

const ANSWERS: Script = {
	rules: [{ when: "hello", steps: [{ text: "hi" }] }],
	otherwise: [{ chunks: CHUNKS }],
};

test.each([
	["the operator", "operator", TOLD],
	["a reader", "reader", SHOWN],
] as const)("%s follows an answer piece by piece, as it is in its row", async (_, who, text) => {
	const callers = await start(ANSWERS);
	const { conversation } = await keryx.say("hello");
	const options = { begin: () => keryx.say("go"), until: isRowOf(text) };
	expect(await joined(callers[who], conversation, options)).toBe(text);
});

test("whoever comes in the middle of a name sees the text without it, also by OpenAI's API", async () => {
	const { operator, reader } = await start(ANSWERS);
	const { token } = await operator.createToken({ name: "program", role: "agent" });
	const response = await keryx.api.fetch(
		new Request("http://keryx/v1/chat/completions", {
			method: "POST",
			headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
			body: JSON.stringify({
				model: "keryx/held",
				stream: true,
				messages: [{ role: "user", content: "go" }],
			}),
		}),
	);
	const conversation = response.headers.get("x-keryx-conversation") as ConversationId;
	const begun = CHUNKS.slice(0, HALF).join("");
	await eventually(() => expect(keryx.gateway.partial(conversation)?.text).toBe(begun));
	const soFar = async (client: Client) => (await client.partial({ conversation })).partial?.text;
	expect([await soFar(operator), await soFar(reader)]).toEqual([begun, "it is •••"]);
	let following = 0;
	const begin = () => {
		following++;
		if (following === 2) goOn();
	};
	const follow = (client: Client, text: string) =>
		joined(client, conversation, { begin, until: isRowOf(text) });
	expect(await Promise.all([follow(operator, TOLD), follow(reader, SHOWN)])).toEqual([TOLD, SHOWN]);
	expect(contentOf(await response.text())).toBe(SHOWN);
});

test("the end of a text that may become a name is sent before the error, if the message then fails", async () => {
	const { operator } = await start(ANSWERS);
	const { token } = await operator.createToken({ name: "program", role: "agent" });
	const response = await keryx.api.fetch(
		new Request("http://keryx/v1/chat/completions", {
			method: "POST",
			headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
			body: JSON.stringify({
				model: "keryx/failing",
				stream: true,
				messages: [{ role: "user", content: "go" }],
			}),
		}),
	);
	let body = "";
	for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(
		new TextDecoderStream(),
	)) {
		body += piece;
		if (body.includes("costs")) end.resolve();
	}
	const [said, error] = body.split('data: {"message"');
	expect(contentOf(said as string)).toBe("it costs 5 $");
	expect(error).toContain("has no answer");
});

/** Of a stream in OpenAI's format. */
function contentOf(body: string): string {
	const lines = body.split("\n").filter((line) => line.startsWith("data: {"));
	const chunks = lines.map((line) => JSON.parse(line.slice(6)) as Chunk);
	return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

interface Chunk {
	readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}
