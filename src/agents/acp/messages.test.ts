import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { messageStream } from "./messages.ts";
import { EventQueue } from "./queue.ts";

function scene(room: () => Promise<void> = () => Promise.resolve()) {
	const stdin = new PassThrough();
	const stdout = new PassThrough();
	const updates: unknown[] = [];
	const tooLong: number[] = [];
	const stream = messageStream({
		stdin,
		stdout,
		room,
		onUpdate: (params) => updates.push(params),
		onTooLong: (bytes) => tooLong.push(bytes),
	});
	return { stdin, stdout, updates, stream, tooLong };
}

async function all<Item>(readable: ReadableStream<Item>): Promise<Item[]> {
	const items: Item[] = [];
	for await (const item of readable) items.push(item);
	return items;
}

const message = (facts: object) => `${JSON.stringify({ jsonrpc: "2.0", ...facts })}\n`;

test("only messages of the protocol get through, and nothing is answered to the rest", async () => {
	const { stdin, stdout, updates, stream } = scene();
	const writer = stream.writable.getWriter();
	await writer.write({ jsonrpc: "2.0", id: 1, method: "initialize" });
	const sent = String(stdin.read());
	stdout.write('rubbish\n\n[1]\n"x"\n{"broken":\n{"level":"info"}\n');
	stdout.write(message({ id: 2, result: "of nothing that was asked" }));
	stdout.write(message({ id: 1, result: "first" }));
	stdout.write(message({ id: 1, result: "again" }));
	stdout.write(message({ id: 7, method: "session/request_permission" }));
	stdout.write(message({ method: "session/update", params: "news" }));
	// The last line may lack its end.
	stdout.end(message({ method: "_own" }).trim());
	expect(await all(stream.readable)).toEqual([
		{ jsonrpc: "2.0", id: 1, result: "first" },
		{ jsonrpc: "2.0", id: 7, method: "session/request_permission" },
		{ jsonrpc: "2.0", method: "_own" },
	]);
	expect(updates).toEqual(["news"]);
	expect(sent).toBe(message({ id: 1, method: "initialize" }));
	expect(stdin.read()).toBeNull();
});

test("a message in pieces, within a letter too, is one", async () => {
	const { stdout, updates, stream } = scene();
	const bytes = Buffer.from(message({ method: "session/update", params: "größer €" }));
	for (const byte of bytes) stdout.write(Uint8Array.of(byte));
	stdout.end();
	expect(await all(stream.readable)).toEqual([]);
	expect(updates).toEqual(["größer €"]);
});

test("a line of more than 32 MiB ends the reading, and is said to be too long: whatever it was, it is lost", async () => {
	const piece = Buffer.alloc(1024 * 1024, "x");
	for (const hasEnd of [true, false]) {
		const { stdout, updates, stream, tooLong } = scene();
		const reading = expect(all(stream.readable)).rejects.toThrow("too long");
		stdout.write('{"jsonrpc":"2.0","method":"session/update","params":"');
		for (let n = 0; n < 33; n++) stdout.write(piece);
		if (hasEnd) stdout.write(`"}\n${message({ method: "session/update", params: "news" })}`);
		await reading;
		expect(tooLong).toEqual([32 * 1024 * 1024]);
		expect(updates).toEqual([]);
	}
});

test("nothing more is read until there is room", async () => {
	const queue = new EventQueue<number>();
	const { stdout, updates, stream } = scene(() => queue.room());
	const reading = all(stream.readable);
	for (let n = 0; n < 256; n++) queue.push(n);
	for (const params of ["one", "two", "three"]) stdout.write(message({ method: "session/update", params }));
	stdout.end();
	for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
	expect(updates).toEqual(["one"]);
	const reader = queue[Symbol.asyncIterator]();
	expect(await reader.next()).toEqual({ done: false, value: 0 });
	await reading;
	expect(updates).toEqual(["one", "two", "three"]);
});

test("a reader who went away holds nobody up", async () => {
	const queue = new EventQueue<number>();
	for (let n = 0; n < 256; n++) queue.push(n);
	const waiting = queue.room();
	queue.abandon();
	await waiting;
	queue.push(1);
	expect(await queue[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
});

test("what was pushed is taken when the reader comes back for more, or when all is over", async () => {
	const queue = new EventQueue<number>();
	const steps: string[] = [];
	const reader = queue[Symbol.asyncIterator]();
	for (const n of [1, 2]) queue.push(n);
	const taken = queue.taken().then(() => steps.push("taken"));
	for (const n of [1, 2]) {
		expect((await reader.next()).value).toBe(n);
		await new Promise((resolve) => setImmediate(resolve));
		steps.push(`stored ${n}`);
	}
	const last = reader.next();
	await taken;
	queue.push(3);
	const again = queue.taken().then(() => steps.push("over"));
	await last;
	steps.push("stored 3");
	queue.end();
	await again;
	expect(steps).toEqual(["stored 1", "stored 2", "taken", "stored 3", "over"]);
});
