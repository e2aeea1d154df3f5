import { expect, test } from "vitest";
import type { WireInbound } from "../schemas.ts";
import { ask } from "./ask.ts";
import type { CallingClient } from "./types.ts";

/** What a reader gets of an answer, if these pieces of it arrive: index and text. */
async function readOf(answer: string, pieces: readonly (readonly [number, string])[]): Promise<string> {
	const over = Promise.withResolvers<WireInbound>();
	const inbound = { id: 1, turn: "t", disposition: { kind: "answered" } } as WireInbound;
	const client = {
		send: async () => ({ id: 1, conversation: "c", refused: null }),
		inbound: ({ wait }: { wait?: number }) => (wait ? over.promise : Promise.resolve(inbound)),
		turn: async () => ({ deliveries: [{ kind: "reply", text: answer, plain: answer }] }),
		follow: async function* () {
			const offsets = new Map<number, number>();
			for (const [index, text] of pieces) {
				const offset = offsets.get(index) ?? 0;
				offsets.set(index, offset + text.length);
				yield { kind: "delta", delta: { conversation: "c", turn: "t", index, offset, text } };
			}
			over.resolve(inbound);
		},
	} as unknown as CallingClient;
	let read = "";
	for await (const piece of await ask(client, { text: "?" })) read += piece;
	return read;
}

test("what did not arrive of an answer is completed from the stored one", async () => {
	const answer = "The answer is 42, unless it rains.";
	expect(await readOf(answer, [[0, "The answer is "]])).toBe(answer);
	expect(await readOf(answer, [])).toBe(answer);
	expect(await readOf(answer, [[0, `${answer}\n`]])).toBe(`${answer}\n`);
	// Text before a tool call, which is no part of the answer.
	const looked = [
		[0, "I look. "],
		[2, "The answer"],
	] as const;
	expect(await readOf(answer, looked)).toBe(`I look. ${answer}`);
	expect(await readOf(answer, [[0, "I will delete everything"]])).toBe(
		`I will delete everything\n\n${answer}`,
	);
});
