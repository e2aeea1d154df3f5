import { expect, test } from "vitest";
import { KeryxError } from "../../errors.ts";
import { createVirtualClock } from "../../testing/index.ts";
import { BROADCAST_BYTES } from "../engine.ts";
import { NodeCalls } from "./node-calls.ts";

/** Nodes that tell each other everything, unless it gets lost. */
function nodes(count: number, isLost: (text: string) => boolean = () => false) {
	const clock = createVirtualClock(0);
	const listeners = new Map<number, (text: string, from: number) => void>();
	const calls = Array.from({ length: count }, (_, epoch) => {
		const cluster = {
			broadcast: (text: string) => {
				expect(Buffer.byteLength(text)).toBeLessThan(BROADCAST_BYTES);
				if (isLost(text)) return;
				for (const [other, listener] of listeners) if (other !== epoch) listener(text, epoch);
			},
			onBroadcast: (listener: (text: string, from: number) => void) => {
				listeners.set(epoch, listener);
				return () => listeners.delete(epoch);
			},
		};
		return new NodeCalls({ cluster, epoch, clock });
	});
	return { clock, calls: calls as [NodeCalls, NodeCalls, NodeCalls] };
}

test("a question is answered by the node that is asked, and by no other", async () => {
	const { calls } = nodes(3);
	const asked: string[] = [];
	for (const n of [1, 2])
		calls[n as 1 | 2].answer("greet", (given) => {
			asked.push(`${n}: ${JSON.stringify(given)}`);
			return Promise.resolve({ from: n });
		});
	expect(await calls[0].ask(2, "greet", { name: "Ada" }, 1000)).toEqual({ from: 2 });
	expect(asked).toEqual(['2: {"name":"Ada"}']);
});

test("a long answer comes in pieces, whatever characters it has", async () => {
	const { calls } = nodes(3);
	const text = `${'\u001b[31m\\"'.repeat(2000)}${"語😀".repeat(5000)}`;
	calls[1].answer("read", () => Promise.resolve(text));
	expect(await calls[0].ask(1, "read", null, 1000)).toBe(text);
});

test("an error is the caller's, as it was met there", async () => {
	const { calls } = nodes(3);
	calls[1].answer("kill", () => Promise.reject(new KeryxError("process.refused", "not yours")));
	await expect(calls[0].ask(1, "kill", null, 1000)).rejects.toMatchObject({
		code: "process.refused",
		message: "not yours",
	});
});

test("an answer of which a piece is lost is none", async () => {
	let pieces = 0;
	const { calls, clock } = nodes(3, (text) => text.startsWith('["answer"') && ++pieces === 2);
	calls[1].answer("read", () => Promise.resolve("x".repeat(20_000)));
	const asked = calls[0].ask(1, "read", null, 1000).catch((error: KeryxError) => error.code);
	await clock.advance(2000);
	expect(pieces).toBeGreaterThan(3);
	expect(await asked).toBe("gateway.silent");
});
