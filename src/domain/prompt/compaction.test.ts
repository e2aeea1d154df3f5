import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message, NewMessage } from "../message.ts";
import type { SessionId } from "../types.ts";
import { compactionRecord, messagesIn, rowsToCover, summaryContent, summaryWords } from "./compaction.ts";
import { promptHistory } from "./prompt-history.ts";

const BASE = "20260310_120000_00000001" as SessionId;
const LIVE = "20260310_120000_00000002" as SessionId;
const PLENTY = 1_000_000;

type Given = NewMessage & { readonly hidden?: boolean; readonly turn?: string | null };

function rowsOf(messages: readonly Given[], session = LIVE): Message[] {
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

const user = (content: string): Given => ({ role: "user", content });
const says = (content: string): Given => ({ role: "assistant", content });
const calls = (...ids: string[]): Given => ({
	role: "assistant",
	content: "",
	toolCalls: ids.map((id) => ({ id, name: "look", input: { at: id } })),
});
const result = (id: string): Given => ({
	role: "tool",
	content: `saw ${id}`,
	toolCallId: id,
	toolName: "look",
});

const cover = (rows: readonly Message[], keepLast: number, more: { turn?: string; room?: number } = {}) =>
	rowsToCover({ rows, shared: false, keepLast, turn: more.turn ?? null, room: more.room ?? PLENTY });
const seqs = (rows: readonly Message[], keepLast: number, more = {}) =>
	(cover(rows, keepLast, more)?.ranges ?? []).map(({ fromSeq, toSeq }) => [fromSeq, toSeq]);

function withSummary(rows: readonly Message[], keepLast: number, text: string): Message[] {
	const ranges = cover(rows, keepLast)?.ranges ?? [];
	const [row] = rowsOf([{ role: "meta", kind: "summary", content: text, covers: ranges }]);
	const seq = rows.filter(({ session }) => session === LIVE).length + 1;
	return [...rows, { ...(row as Message), id: 1000 + seq, seq }];
}
const texts = (rows: readonly Message[]) =>
	promptHistory(rows, { shared: false }).map(({ content }) => content);

describe("what a summary covers", () => {
	const six = rowsOf([user("1"), says("2"), user("3"), says("4"), user("5"), says("6")]);

	test("everything but the last rows, and nothing where there is no more", () => {
		expect(seqs(six, 2)).toEqual([[1, 4]]);
		expect(cover(six, 6)).toBeNull();
		expect(cover(six, 20)).toBeNull();
		expect(cover([], 1)).toBeNull();
	});

	test("a call stays with its results, however they lie", () => {
		const rows = rowsOf([user("1"), calls("a", "b"), result("a"), user("2"), result("b"), says("3")]);
		for (const keepLast of [2, 3, 4, 5]) expect(seqs(rows, keepLast)).toEqual([[1, 1]]);
		expect(seqs(rows, 1)).toEqual([[1, 5]]);
	});

	test("what was carried over, and what is being answered, stays as it is", () => {
		const rows = rowsOf([
			{ role: "meta", kind: "carry_over", content: "before" },
			user("1"),
			says("2"),
			{ ...user("3"), turn: "now" },
			{ ...calls("a"), turn: "now" },
			{ ...result("a"), turn: "now" },
			{ ...says("4"), turn: "now" },
		]);
		expect(seqs(rows, 1, { turn: "now" })).toEqual([
			[2, 3],
			[5, 6],
		]);
		const covered = withSummary(rows.slice(0, 3), 1, "S");
		expect(texts(covered)).toEqual(["before", "S", "2"]);
	});

	test("hidden rows are in no range, and rows of a base are named by their session", () => {
		const base = rowsOf([user("1"), says("2")], BASE);
		const live = rowsOf([user("3"), { ...says("x"), hidden: true }, says("4"), user("5")]);
		expect(cover([...base, ...live], 1)?.ranges).toEqual([
			{ session: BASE, fromSeq: 1, toSeq: 2 },
			{ session: LIVE, fromSeq: 1, toSeq: 1 },
			{ session: LIVE, fromSeq: 3, toSeq: 3 },
		]);
	});

	test("a later summary takes in the one before, with all that it covers, and stands where that stood", () => {
		const once = withSummary(six, 2, "S1");
		expect(texts(once)).toEqual(["S1", "5", "6"]);
		expect(cover(once, 2)).toBeNull();
		const more = [...once, ...rowsOf([user("7"), says("8")]).map((row, n) => ({ ...row, seq: 8 + n }))];
		expect(seqs(more, 2)).toEqual([[1, 7]]);
		expect(texts(withSummary(more, 2, "S2"))).toEqual(["S2", "7", "8"]);
	});

	test("as much as there is room for, the oldest first, and never nothing", () => {
		const rows = rowsOf(Array.from({ length: 9 }, (_, n) => user(`${n} ${"word ".repeat(60)}`)));
		const [[from, to] = []] = seqs(rows, 1, { room: 350 });
		expect([from, to]).toEqual([1, 3]);
		expect(seqs(rows, 1, { room: 0 })).toEqual([[1, 1]]);
	});

	test("in every transcript: the last rows stay, pairs stay together, nothing hidden is covered, and what is left is in order", () => {
		const anyRow = fc.oneof(
			fc.constant("user" as const),
			fc.constant("says" as const),
			fc.constant("call" as const),
			fc.constant("hidden" as const),
		);
		fc.assert(
			fc.property(
				fc.array(anyRow, { maxLength: 30 }),
				fc.integer({ min: 1, max: 8 }),
				fc.nat(400),
				(kinds, keepLast, room) => {
					const given = kinds.flatMap((kind, n): Given[] => {
						if (kind === "user") return [user(`u${n}`)];
						if (kind === "hidden") return [{ ...user(`h${n}`), hidden: true }];
						return kind === "says" ? [says(`s${n}`)] : [calls(`c${n}`), result(`c${n}`)];
					});
					const rows = rowsOf(given);
					const chosen = cover(rows, keepLast, { room });
					const shown = rows.filter(({ hidden }) => !hidden);
					if (!chosen) {
						expect(shown.length).toBeLessThanOrEqual(keepLast + 1);
						return;
					}
					const covered = new Set(chosen.rows);
					expect(chosen.rows.every(({ hidden }) => !hidden)).toBe(true);
					expect(shown.slice(-keepLast).some((row) => covered.has(row))).toBe(false);
					for (const [index, row] of rows.entries())
						if (row.toolCalls) expect(covered.has(rows[index + 1] as Message)).toBe(covered.has(row));
					const inRanges = rows.filter(({ seq }) =>
						chosen.ranges.some(({ fromSeq, toSeq }) => seq >= fromSeq && seq <= toSeq),
					);
					expect(inRanges).toEqual(chosen.rows);
					const [summary] = rowsOf([{ role: "meta", kind: "summary", content: "S", covers: chosen.ranges }]);
					const after = texts([...rows, { ...(summary as Message), seq: rows.length + 1 }]);
					expect(after).toEqual(["S", ...texts(rows.filter((row) => !covered.has(row)))]);
				},
			),
		);
	});
});

describe("what the summariser reads and writes", () => {
	test("the record tells who said, called and answered what, and shortens what a tool answered", () => {
		const rows = rowsOf([
			user("look there"),
			calls("a"),
			{ ...result("a"), content: `begin ${"x".repeat(9000)} end`, isError: true },
			{ role: "user", content: [{ type: "image", blob: "b", mediaType: "image/png", name: "cat.png" }] },
			{ role: "meta", kind: "note", content: "the turn failed" },
		]);
		const record = compactionRecord(rows, { shared: false });
		expect(record).toMatch(/^Summarise this record of a conversation\./);
		expect(record).toContain(
			'Person: look there\n\nAgent called look: {"at":"a"}\n\nTool look failed: begin xxx',
		);
		expect(record).toMatch(/\[\.\.\. \d+ characters left out \.\.\.\]\nx+ end/);
		expect(record).toContain("Person: [image cat.png]\n\nNote: the turn failed");
		expect(record.length).toBeLessThan(5000);
	});

	test("a long result is not cut inside the name of a secret", () => {
		const name = "\u0024{secret:DEPLOY_TOKEN}";
		for (let at = 0; at < name.length; at++) {
			const rows = rowsOf([
				user("look"),
				calls("a"),
				{ ...result("a"), content: "x".repeat(3000 - at) + name + "x".repeat(2000) },
				calls("b"),
				{ ...result("b"), content: "x".repeat(5000) + name + "x".repeat(1000 - at) },
			]);
			const record = compactionRecord(rows, { shared: false });
			expect(record.replaceAll(name, "").match(/.{0,20}(?:\$|TOKEN).{0,20}/g)).toBeNull();
		}
	});

	test("messages are counted as people count them, and words in any language", () => {
		expect(
			messagesIn(rowsOf([user("1"), { ...user("2"), observed: true }, { role: "meta", content: "n" }])),
		).toBe(1);
		expect(summaryWords({ content: summaryContent(" The gate is green. ") })).toBe(4);
		expect(summaryWords({ content: summaryContent("今日は天気がいい") })).toBeGreaterThan(2);
	});
});
