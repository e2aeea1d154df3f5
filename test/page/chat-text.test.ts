// What the page reads out of texts: questions, formulas, versions.
import { describe, expect, test } from "vitest";
import { questionText } from "../../src/confirmations/index.ts";
import type { Session } from "../../web/src/api/types.ts";
import { hasMath, mathMarked } from "../../web/src/views/conversations/prose/math-marks.ts";
import { isInRow } from "../../web/src/views/conversations/transcript/content.ts";
import { questionsIn } from "../../web/src/views/conversations/transcript/questions.ts";
import { pathOf } from "../../web/src/views/conversations/transcript/versions.ts";

describe("questions in a text", () => {
	const asked = (id: string, details: Readonly<Record<string, string>>) =>
		questionText(
			{
				id,
				action: "delete_files",
				description: "x wants to run `rm` and needs your approval.\nAnswer with `/approve ffffffffffff`",
				details,
				requester: "agent",
				askedBy: "agent:default",
				expiresAt: 60_000,
			},
			0,
		);

	test("are found as Keryx writes them, each whole, whatever the asker wrote into them", () => {
		const first = asked("0123456789ab", {
			command: "rm\nAnswer with `/approve eeeeeeeeeeee` or `/deny eeeeeeeeeeee`",
		});
		const second = asked("ba9876543210", {});
		const { rest, questions } = questionsIn(
			`Which one?\n\n${first}\nOnly the owner can answer.\n\n${second}`,
		);
		expect(rest).toBe("Which one?");
		expect(questions.map(({ id }) => id)).toEqual(["0123456789ab", "ba9876543210"]);
		expect(questions[1]?.text).toBe(second);
	});

	test("are found in the words of earlier versions, which stored chats still hold", () => {
		const text =
			"Hm.\nThe agent asks for your confirmation: `deploy`\nWhat it says: `now`\nAnswer with `/approve 0123456789ab` or `/deny 0123456789ab` within 60 seconds. No answer means no.";
		expect(questionsIn(text)).toMatchObject({ rest: "Hm.", questions: [{ id: "0123456789ab" }] });
	});

	test("are none where nobody asks", () => {
		const text = "Write /approve 0123456789ab to say yes.";
		expect(questionsIn(text)).toEqual({ rest: text, questions: [] });
	});
});

test.each([
	["it costs $5 or $10", false],
	["US$5 - US$ 7, and $HOME/$USER", false],
	["`$x^2$` in code, and ```\n$y^2$\n```", false],
	["so $x^2 + y^2$ it is", true],
	["so \\(a = b\\) it is", true],
	["\\[ a \\]", true],
	["$$\na\n$$", true],
	["the $n$ of them", true],
])("formulas in %j: %s", (text, isMath) => {
	expect(hasMath(text)).toBe(isMath);
	if (!isMath) expect(mathMarked(text).text).toBe(text);
});

describe("versions", () => {
	const session = (id: string, at: number, base: readonly [of: string, seq: number] | null = null): Session =>
		({
			id,
			base: base && { session: base[0], seq: base[1], kind: "branch" },
			started_at: String(at),
			last_activity_at: String(at),
		}) as Session;
	const ids = (all: readonly Session[]) => pathOf(all).sessions.map(({ id }) => id);

	test("of a fork only the live one is shown, up to the fork and on from there", () => {
		const [a, b] = [session("a", 1), session("b", 2, ["a", 4])];
		expect(pathOf([a, b])).toEqual({
			sessions: [a, b],
			cuts: new Map([["a", 4]]),
			forks: [{ session: "a", seq: 4, versions: ["a", "b"], shown: 1 }],
		});
		expect(pathOf([b, a])).toEqual({
			sessions: [a],
			cuts: new Map(),
			forks: [{ session: "a", seq: 4, versions: ["a", "b"], shown: 0 }],
		});
	});

	test("a version with versions of its own is switched to where it was used last", () => {
		const [a, b, c] = [session("a", 1), session("b", 2, ["a", 4]), session("c", 3, ["b", 2])];
		expect(ids([a, b, c])).toEqual(["a", "b", "c"]);
		const { forks } = pathOf([b, c, a]);
		expect(forks).toEqual([{ session: "a", seq: 4, versions: ["a", "c"], shown: 0 }]);
	});

	test("what came after stays, and a branch from long ago is read as a session of its own", () => {
		const [a, b, c] = [session("a", 1), session("b", 2, ["a", 4]), session("c", 3)];
		expect(ids([a, b, c])).toEqual(["a", "b", "c"]);
		const late = session("d", 4, ["a", 2]);
		const path = pathOf([a, c, late]);
		expect(path.sessions).toEqual([a, c, late]);
		expect(path.cuts.size).toBe(0);
	});
});

test("text on its way is not shown beside the row that holds it, and beside every other row it is", () => {
	const row = (turn: string, role: "user" | "assistant", text: string) => ({
		kind: "message",
		message: { turn, role },
		text,
	});
	const partial = { turn: "t", text: "You said: hello " };
	expect(isInRow(partial, [row("t", "user", "hello"), row("t", "assistant", "You said: hello")])).toBe(true);
	for (const other of [
		row("t", "assistant", "You said"),
		row("t", "user", "You said: hello"),
		row("before", "assistant", "You said: hello"),
	])
		expect(isInRow(partial, [other])).toBe(false);
});
