import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message, NewMessage } from "../message.ts";
import type { SessionId } from "../types.ts";
import { lastMeasure, promptSize, promptSizeAtMost, textTokens } from "./prompt-size.ts";

const session = "20260310_120000_00000001" as SessionId;

function rowsOf(messages: readonly (NewMessage & { readonly hidden?: boolean })[]): Message[] {
	return messages.map((message, index) => ({
		id: index + 1,
		session,
		seq: index + 1,
		turn: "t",
		createdAt: 0,
		hidden: false,
		...message,
	}));
}

const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.lorem());
const anyMessage: fc.Arbitrary<NewMessage> = fc.oneof(
	fc.record({ role: fc.constant("user" as const), content: anyText }),
	fc.record({ role: fc.constant("assistant" as const), content: anyText, reasoning: fc.jsonValue() }),
	fc.record({
		role: fc.constant("user" as const),
		content: fc.constant([
			{ type: "image" as const, blob: "b", mediaType: "image/png" },
			{ type: "text" as const, text: "see" },
		]),
	}),
);

describe("the size of a prompt", () => {
	test("a text is never less than its beginning, never negative, and never more than three tokens a unit", () => {
		fc.assert(
			fc.property(anyText, anyText, (one, other) => {
				expect(textTokens(one)).toBeGreaterThanOrEqual(0);
				expect(textTokens(one + other)).toBeGreaterThanOrEqual(Math.max(textTokens(one), textTokens(other)));
				expect(textTokens(one + other)).toBeLessThanOrEqual(textTokens(one) + textTokens(other));
				expect(textTokens(one)).toBeLessThanOrEqual(3 * one.length);
			}),
		);
	});

	test("it is on the safe side of what tokenisers make of usual texts", () => {
		// About what common tokenisers give.
		for (const [text, tokens] of [
			["The quick brown fox jumps over the lazy dog.", 10],
			["Die Gärtnerin gießt jeden Morgen die Blumen.", 14],
			["Съешь же ещё этих мягких французских булок", 18],
			["今日は天気がいいので散歩に行きましょう", 16],
			["👩‍👩‍👧‍👦🎉", 14],
			['{"path":"/usr/local/bin","mode":420}', 11],
		] as const)
			expect(textTokens(text)).toBeGreaterThanOrEqual(tokens);
	});

	test("every row that is added makes it larger, whether it was counted before or not", () => {
		fc.assert(
			fc.property(
				fc.array(anyMessage, { maxLength: 8 }),
				anyMessage,
				fc.nat(100_000),
				fc.nat(8),
				fc.boolean(),
				(before, added, tokens, counted, shared) => {
					const rows = rowsOf([...before, added]);
					for (const known of [null, { tokens, rows: Math.min(counted, before.length) }]) {
						const size = (n: number) =>
							promptSize({ rows: rows.slice(0, n), shared, overheadTokens: 7, known });
						expect(size(before.length)).toBeGreaterThanOrEqual(0);
						expect(size(rows.length)).toBeGreaterThan(size(before.length));
					}
				},
			),
		);
	});

	test("what it is at most is never less, whatever the rows are, and not far from it for plain text", () => {
		const row = fc.tuple(
			fc.oneof(
				anyMessage,
				fc.record({ role: fc.constantFrom("user", "assistant", "meta", "tool"), content: anyText }),
				fc.record({
					role: fc.constant("assistant"),
					content: anyText,
					kind: fc.constantFrom("sent", "summary"),
				}),
				fc.record({
					role: fc.constant("user"),
					content: anyText,
					quoted: fc.record({ text: anyText, own: fc.boolean() }),
				}),
				fc.record({
					role: fc.constant("assistant"),
					content: anyText,
					toolCalls: fc.array(fc.record({ id: anyText, name: anyText, input: fc.jsonValue() })),
				}),
				fc.record({ role: fc.constant("user"), content: anyText, observed: fc.constant(true) }),
			) as fc.Arbitrary<NewMessage>,
			fc.boolean(),
		);
		fc.assert(
			fc.property(fc.array(row, { maxLength: 8 }), fc.boolean(), (drawn, shared) => {
				const rows = rowsOf(drawn.map(([message, hidden]) => ({ ...message, hidden })));
				const asked = { rows, shared, overheadTokens: 7 };
				expect(promptSizeAtMost(asked)).toBeGreaterThanOrEqual(promptSize({ ...asked, known: null }));
			}),
		);
		const rows = rowsOf([{ role: "user", content: "a".repeat(30_000) }]);
		expect(promptSizeAtMost({ rows, shared: false, overheadTokens: 7 })).toBeLessThan(50_000);
	});

	test("what a model counted holds for everything before its last finished row", () => {
		const rows = rowsOf([
			{ role: "user", content: "one" },
			{ role: "assistant", content: "two", finishReason: "stop" },
			{ role: "user", content: "three" },
			{ role: "assistant", content: "half of", finishReason: "error" },
		]);
		expect(lastMeasure(rows, { session, tokens: 50 })).toEqual({ tokens: 50, rows: 1 });
		expect(lastMeasure(rows, { session, tokens: 0 })).toBeNull();
		expect(lastMeasure(rows.slice(0, 1), { session, tokens: 50 })).toBeNull();
	});

	test("it no longer holds when rows were hidden or covered since", () => {
		const exchange = [
			{ role: "user", content: "one" },
			{ role: "assistant", content: "two" },
		] as const;
		const hidden = rowsOf([...exchange, ...exchange.map((row) => ({ ...row, hidden: true }))]);
		expect(lastMeasure(hidden, { session, tokens: 50 })).toBeNull();
		const covered = rowsOf([...exchange, { role: "meta", kind: "summary", content: "both", covers: [] }]);
		expect(lastMeasure(covered, { session, tokens: 50 })).toBeNull();
		const again = rowsOf([...covered, ...exchange]);
		expect(lastMeasure(again, { session, tokens: 50 })).toEqual({ tokens: 50, rows: 4 });
	});
});
