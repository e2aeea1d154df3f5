import { expect, test } from "vitest";
import { KeryxError } from "../../errors.ts";
import type { WireEvent } from "../schemas.ts";
import { eventStream } from "./event-stream.ts";
import type { Frame } from "./feed.ts";

const HELLO: Frame = { kind: "hello", cursor: "e1" };

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
	return new Response(stream).text();
}

test("a batch is one piece, and each of its frames has its name, its id and its data", async () => {
	const event: WireEvent = {
		...{ cursor: "e2", at: "2026-03-01T12:00:00.000Z", conversation: null },
		...{ session: null, turn: null, subject: null },
		type: "turn.resumed",
		facts: { reason: "two\nlines" },
	};
	async function* batches(): AsyncGenerator<readonly Frame[]> {
		yield [HELLO, { kind: "event", event }];
		yield [{ kind: "event", event }];
	}
	const reader = eventStream(batches(), () => {}).getReader();
	const pieces: string[] = [];
	for (let read = await reader.read(); !read.done; read = await reader.read())
		pieces.push(Buffer.from(read.value).toString("utf8"));
	const told = `event: turn.resumed\nid: e2\ndata: ${JSON.stringify(event)}\n\n`;
	const hello = `event: hello\nid: e1\ndata: ${JSON.stringify(HELLO)}\n\n`;
	expect(pieces).toEqual([": following\n\n", hello + told, told]);
});

test("a failure is the last frame, with its code", async () => {
	// biome-ignore lint/correctness/useYield: it fails before there is anything to say.
	async function* batches(): AsyncGenerator<readonly Frame[]> {
		throw new KeryxError("store.io", "the disk is gone");
	}
	const text = await textOf(eventStream(batches(), () => {}));
	expect(text).toMatch(/^: following\n\nevent: error\ndata: \{"error":\{"code":"store.io".*\n\n$/);
});

test.each([0, 1, 2])("a reader that leaves after %i pieces ends the following", async (pieces) => {
	const told = { left: false, ended: false };
	async function* batches(): AsyncGenerator<readonly Frame[]> {
		try {
			for (;;) yield [HELLO];
		} finally {
			told.ended = true;
		}
	}
	const reader = eventStream(batches(), () => {
		told.left = true;
	}).getReader();
	for (let n = 0; n < pieces; n++) await reader.read();
	await reader.cancel();
	expect(told).toEqual({ left: true, ended: pieces > 0 });
});
