// Providers that never come to the end of an event.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { failureOf, modelAgent, run } from "./support.ts";

const MB = 1024 * 1024;
const TOO_LONG = "the provider sent an event of more than 32 MiB";
let server: Server | undefined;
afterEach(() => new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined))));

/** A server that answers with this over and over, until nobody reads it. Answers its address, and how much it has sent. */
async function endless(
	status: number,
	piece: Buffer,
): Promise<{ readonly url: string; readonly sent: () => number; readonly left: () => number }> {
	let [sent, left] = [0, 0];
	server = createServer((_, response) => {
		response.writeHead(status, { "content-type": status === 200 ? "text/event-stream" : "application/json" });
		response.on("close", () => left++);
		response.write(status === 200 ? 'data: {"choices":[{"delta":{"content":"' : '{"error":"');
		const more = (): void => {
			while (!response.destroyed && sent < 1024 * MB) {
				sent += piece.length;
				if (!response.write(piece)) return void response.once("drain", more);
			}
			response.end();
		};
		more();
	});
	await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}/v1`, sent: () => sent, left: () => left };
}

test.each([
	["a line without an end", TOO_LONG, 200, Buffer.alloc(MB, "a")],
	["an event of endless lines", TOO_LONG, 200, Buffer.from(`\ndata: ${"a".repeat(1000)}`.repeat(1000))],
	["an error without an end", "500", 500, Buffer.alloc(MB, "a")],
] as const)(
	"%s is a failure that says so, and the connection is closed",
	async (_, detail, status, piece) => {
		const { url, sent, left } = await endless(status, piece);
		const failure = failureOf(await run(modelAgent({ base_url: url, retries: 0 })));
		expect(failure).toMatchObject({ detail: expect.stringContaining(detail) });
		await expect.poll(left).toBe(1);
		expect(sent()).toBeLessThan(1024 * MB);
	},
);

test("an answer longer than that in many events is read to its end, wherever the pieces are cut", async () => {
	const event = (text: string) =>
		`data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\r\n\r\n`;
	const text = "b".repeat(100 * 1024);
	const body = Buffer.from(event(text).repeat(400) + event("!").replace("}]}", ',"finish_reason":"stop"}]}'));
	server = createServer((_, response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		// Cuts through the empty lines, too.
		const step = event(text).length;
		let at = 0;
		const more = (): void => {
			while (at < body.length) {
				const piece = body.subarray(at, at === 0 ? step - 2 : at + step);
				at += piece.length;
				if (!response.write(piece)) return void response.once("drain", more);
			}
			response.end("data: [DONE]\r\n\r\n");
		};
		more();
	});
	await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const events = await run(modelAgent({ base_url: `http://127.0.0.1:${port}/v1`, retries: 0 }));
	const texts = events.flatMap((one) => (one.type === "text" ? [one.delta] : []));
	expect(texts.join("").length).toBe(400 * 100 * 1024 + 1);
});
