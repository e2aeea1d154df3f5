// A provider that refuses a request for what is attached to it, in whatever words: the conversation goes on without what was refused,
// and without nothing else. The real gateway and store, and a provider behind HTTP.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAgent } from "../../src/app/agent.ts";
import { createLocalChannel } from "../../src/channels/local/index.ts";
import { configSchema } from "../../src/config/schema.ts";
import type { SessionId } from "../../src/domain/index.ts";
import { createGateway, type Gateway, systemClock } from "../../src/gateway/index.ts";
import { type Message, NO_SECRETS, openStore, type Store, systemIds } from "../../src/store/index.ts";
import { createTools } from "../../src/tools/index.ts";
import { type ModelServer, type Reply, refuses, says, startModelServer } from "../support/model-server.ts";
import { KEY } from "./support.ts";

const OPERATOR = { kind: "operator" } as const;

let server: ModelServer;
beforeAll(async () => {
	server = await startModelServer();
});
afterAll(() => server.close());

let store: Store;
let gateway: Gateway;
let said = 0;
beforeEach(async () => {
	server.forget();
	store = await openStore({
		url: "sqlite::memory:",
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
	const config = configSchema.parse({
		session_reset: { mode: "none" },
		agent: {
			kind: "ai-sdk",
			provider: "openai-compatible",
			model: "test-model",
			base_url: server.url,
			api_key_env: "TEST_KEY",
			retries: 0,
		},
	});
	gateway = createGateway({
		store,
		agent: createAgent(config, { env: { TEST_KEY: KEY }, store }),
		tools: createTools([]),
		channels: [createLocalChannel("local", systemClock.now)],
		config,
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
	});
	await gateway.start();
});
afterEach(async () => {
	await gateway.stop();
	await store.close();
});

interface File {
	readonly name: string;
	readonly bytes: Buffer;
	readonly type: "image" | "file";
	readonly mediaType: string;
}

const image = (name: string, size = 2000): File => ({
	name,
	bytes: Buffer.alloc(size, `picture ${name} `),
	type: "image",
	mediaType: "image/png",
});

interface Told {
	readonly texts: readonly string[];
	readonly rows: readonly Message[];
	/** Bodies of the requests that this message led to. */
	readonly asked: readonly string[];
}

async function say(text: string, ...files: readonly File[]): Promise<Told> {
	const before = server.requests.length;
	const parts = [];
	const blobs = [];
	for (const { bytes, type, mediaType, name } of files) {
		const { id } = await store.beginBlob({ mediaType });
		for (let n = 0; n * 1_000_000 < bytes.length; n++)
			await store.putBlobChunk({ id, n, bytes: bytes.subarray(n * 1_000_000, (n + 1) * 1_000_000) });
		const { digest } = await store.finishBlob({ id });
		parts.push({ type, blob: digest, mediaType, name });
		blobs.push(id);
	}
	const { id } = await gateway.accept({
		source: { platform: "local", chat_id: "terminal", user_id: "me", chat_type: "dm" },
		platformMessage: `m${++said}`,
		content: [{ type: "text", text }, ...parts],
		blobs,
	} as Parameters<Gateway["accept"]>[0]);
	const { turn } = await ended(id);
	const { deliveries, session } = await store.turn({ scope: OPERATOR, id: turn as string });
	return {
		texts: deliveries.map(({ body }) => body.plain),
		rows: await store.transcript({ scope: OPERATOR, session: session as SessionId }),
		asked: server.requests.slice(before).map(({ body }) => body),
	};
}

async function ended(id: number) {
	for (;;) {
		const committed = new Promise<void>((resolve) => {
			const stop = store.onCommit(() => {
				stop();
				resolve();
			});
		});
		const item = await store.inboxItem({ scope: OPERATOR, id });
		if (item.disposition !== null) return item;
		await committed;
	}
}

const holds = (body: string | undefined, { bytes }: File) =>
	body?.includes(bytes.toString("base64")) ?? false;

/** Refuses every request that holds one of these. */
function refusing(refusal: Reply, ...bad: readonly File[]): void {
	server.always((response, request) =>
		(bad.some((file) => holds(request.body, file)) ? refusal : says("ok"))(response, request),
	);
}

const leftOut = (rows: readonly Message[]) =>
	rows.filter(({ kind }) => kind === "left_out").map(({ content }) => String(content));

const REFUSALS: readonly (readonly [string, Reply, RegExp])[] = [
	["413", refuses(413, { message: "Payload Too Large" }), /too large/],
	["a context error", refuses(400, { message: "maximum context length is 8192 tokens" }), /too large/],
	[
		"500 image input is not supported",
		refuses(500, { message: "image input is not supported" }),
		/does not accept/,
	],
	["400 invalid content type", refuses(400, { message: "invalid content type" }), /refused/],
	["422", refuses(422, { message: "Unprocessable Entity" }), /refused/],
	["415", refuses(415, { message: "Unsupported Media Type" }), /does not accept/],
	["a moderated 400", refuses(400, { message: "Your input was flagged by moderation" }), /refused/],
	["a 500 without reason", refuses(500, { message: "Internal server error" }), /refused/],
	["a body that is no JSON", plain(413, "<html>413 Request Entity Too Large</html>"), /too large/],
];

function plain(status: number, body: string): Reply {
	return (response) => {
		response.writeHead(status, { "content-type": "text/html" });
		response.end(body);
	};
}

describe.each(REFUSALS)("%s for a picture", (_name, refusal, why) => {
	test("is answered without it, the user is told which and why, and the next message is answered at once", async () => {
		const cat = image("cat.png", 3_100_000);
		refusing(refusal, cat);
		const first = await say("what is this?", cat);
		expect(first.texts[0]).toBe("ok");
		expect(first.texts).toHaveLength(2);
		expect(first.texts[1]).toContain("image cat.png (3.1 MB)");
		expect(first.texts[1]).toMatch(why);
		expect(first.texts.join("\n")).not.toContain("conversation is too long");
		expect(first.asked.map((body) => holds(body, cat))).toEqual([true, false]);
		expect(leftOut(first.rows)).toEqual([expect.stringContaining("cat.png")]);

		const next = await say("and now?");
		expect([next.texts, next.asked.length]).toEqual([["ok"], 1]);
		expect(next.asked[0]).toContain("left out, the model's provider did not accept it");
	});
});

describe("only what is refused is left out", () => {
	const refusal = refuses(400, { message: "invalid content type" });

	test("the newest that turns out innocent is in the answer and stays", async () => {
		const [bad, good] = [image("bad.png"), image("good.png")];
		refusing(refusal, bad);
		const first = await say("look", bad, good);
		expect(first.asked.map((body) => [holds(body, bad), holds(body, good)])).toEqual([
			[true, true],
			[true, false],
			[false, true],
		]);
		expect(leftOut(first.rows)).toEqual([expect.stringContaining("bad.png")]);
		expect(first.texts[1]).not.toContain("good.png");
		const next = await say("and now?");
		expect(next.asked.map((body) => [holds(body, bad), holds(body, good)])).toEqual([[false, true]]);
	});

	test("one that was taken before stays, the new one goes", async () => {
		const [old, bad] = [image("old.png"), image("bad.png")];
		refusing(refusal, bad);
		expect((await say("look", old)).texts).toEqual(["ok"]);
		const { asked, rows } = await say("and this", bad);
		expect(asked.map((body) => [holds(body, old), holds(body, bad)])).toEqual([
			[true, true],
			[true, false],
		]);
		expect(leftOut(rows)).toHaveLength(1);
	});

	test("two of one message are both found, and told of together", async () => {
		const [one, two, good] = [image("one.png"), image("two.png"), image("good.png")];
		refusing(refusal, one, two);
		expect((await say("look", good)).texts).toEqual(["ok"]);
		const { texts, rows, asked } = await say("and these", one, two);
		expect(texts[1]).toContain("one.png");
		expect(texts[1]).toContain("two.png");
		expect(holds(asked.at(-1), good)).toBe(true);
		expect(rows.flatMap(({ leavesOut }) => leavesOut ?? [])).toHaveLength(2);
		expect((await say("and now?")).asked).toHaveLength(1);
	});

	test("a kind that the model does not take goes at once, however many there are, and other kinds stay", async () => {
		const images = ["a", "b", "c", "d", "e"].map((name) => image(`${name}.png`));
		refusing(refuses(500, { message: "image input is not supported - hint: provide the mmproj" }), ...images);
		const { texts, asked, rows } = await say("look", ...images);
		expect(asked).toHaveLength(2);
		for (const { name } of images) expect(texts[1]).toContain(name);
		expect(rows.flatMap(({ leavesOut }) => leavesOut ?? [])).toHaveLength(5);
		expect((await say("and now?")).asked).toHaveLength(1);
	});
});

describe("where leaving out does not help", () => {
	test("a text that is refused by itself is a refusal, and nothing is left out for it", async () => {
		const files = ["a", "b", "c", "d", "e", "f", "g"].map((name) => image(`${name}.png`));
		server.always(refuses(400, { message: "no" }));
		const { texts, rows, asked } = await say("look", ...files);
		expect(texts).toEqual(["The model's provider refused this request."]);
		expect(leftOut(rows)).toEqual([]);
		expect(asked).toHaveLength(7);
		expect(files.some((file) => holds(asked.at(-1), file))).toBe(false);
		server.always(says("ok"));
		const next = await say("again");
		expect(next.texts).toEqual(["ok"]);
		expect(files.every((file) => holds(next.asked[0], file))).toBe(true);
	});

	test.each([
		["401", refuses(401, { message: "wrong key" }), 1],
		["402", refuses(402, { message: "Insufficient credits" }), 1],
		["404", refuses(404, { message: "model not found" }), 1],
		["429", refuses(429, { message: "slow down" }), 1],
		["429 of an empty account", refuses(429, { message: "insufficient_quota" }), 1],
		["503", refuses(503, { message: "unavailable" }), 1],
		["529", refuses(529, { message: "Overloaded" }), 1],
		["500 that says to try again", refuses(500, { message: "overloaded, try again" }), 1],
		["500 without reason", refuses(500, { message: "Internal server error" }), 3],
	])("%s blames no attachment", async (_name, refusal, requests) => {
		server.always(refusal);
		const { rows, asked } = await say("look", image("a.png"), image("b.png"));
		expect(asked).toHaveLength(requests);
		expect(leftOut(rows)).toEqual([]);
	});

	test("a failure of another kind in the middle of it ends the turn, and nothing is left out", async () => {
		server.next(refuses(413, { message: "Payload Too Large" }), refuses(429, { message: "slow down" }));
		const { texts, rows } = await say("look", image("a.png"), image("b.png"));
		expect(texts).toEqual([expect.stringContaining("limiting requests")]);
		expect(leftOut(rows)).toEqual([]);
	});
});
