import fc from "fast-check";
import { expect, test } from "vitest";
import { Answers, type Print } from "./answers.ts";

const TEXT = "First paragraph.\n\n- one\n- two\n\n```\ncode\n```\n\nThe end.";

/** What was printed, with the marks between. */
function said(prints: readonly Print[]): string {
	return prints.map((print) => (print.kind === "piece" ? print.source : `<${print.kind}>`)).join("");
}

function delta(offset: number, text: string, index = 0, turn = "t") {
	return { kind: "delta", turn, index, offset, text } as const;
}

function answer(text: string, index: number | null = 0, turn = "t") {
	return { kind: "answer", turn, index, text } as const;
}

test("a streamed answer is printed once, piece by piece", () => {
	const answers = new Answers();
	const early = answers.delta(delta(0, TEXT.slice(0, 30)));
	expect(said(early)).toBe("First paragraph.\n\n- one\n");
	expect(answers.open.source).toBe("- two\n");
	const late = answers.answer(answer(TEXT));
	expect(said([...early, ...late])).toBe(TEXT);
	expect(answers.open.source).toBe("");
	expect(answers.answer(answer(TEXT))).toEqual([]);
	expect(answers.delta(delta(0, TEXT))).toEqual([]);
});

test("an answer that was never streamed is printed whole", () => {
	expect(said(new Answers().answer(answer(TEXT, null)))).toBe(TEXT);
	expect(said(new Answers().answer(answer(TEXT, 3)))).toBe(TEXT);
	expect(new Answers().answer(answer(" \n"))).toEqual([]);
});

test("deltas that repeat, overlap or leave a gap do no harm", () => {
	const chunks = fc.array(fc.record({ from: fc.nat(TEXT.length), length: fc.nat(30) }), { maxLength: 40 });
	fc.assert(
		fc.property(chunks, (pieces) => {
			const answers = new Answers();
			const prints: Print[] = [];
			for (const { from, length } of pieces)
				prints.push(...answers.delta(delta(from, TEXT.slice(from, from + length))));
			expect(TEXT.startsWith(said(prints) + answers.open.source)).toBe(true);
			prints.push(...answers.answer(answer(TEXT)));
			expect(said(prints)).toBe(TEXT);
		}),
	);
});

test("a final text that differs from what was printed is printed whole after a mark", () => {
	const answers = new Answers();
	answers.delta(delta(0, "Wrong.\n\nAnd more"));
	expect(answers.answer(answer("Right.\n\nAnd more"))).toEqual([
		{ kind: "correction" },
		{ kind: "piece", source: "Right.\n\nAnd more", apart: true },
	]);
});

test("a final text that differs only where nothing was printed needs no mark", () => {
	const answers = new Answers();
	answers.delta(delta(0, "Kept.\n\nAnd mor"));
	expect(said(answers.answer(answer("Kept.\n\nAnd less")))).toBe("And less");
});

test("white space before the first word may be missing from the final text", () => {
	const answers = new Answers();
	answers.delta(delta(0, "\n\nOne.\n\nTwo"));
	expect(said(answers.answer(answer("One.\n\nTwo.")))).toBe("Two.");
});

test("a message whose place is unknown is the one that was streamed with its words", () => {
	const answers = new Answers();
	answers.delta(delta(0, "One.\n\nTw"));
	expect(said(answers.answer(answer("One.\n\nTwo.", null)))).toBe("Two.");
	expect(said(answers.answer(answer("Another.", null)))).toBe("Another.");
});

test("a message waits for the end of the one before it", () => {
	const answers = new Answers();
	answers.delta(delta(0, "First"));
	expect(answers.delta(delta(0, "Second.\n\nGoes on", 2))).toEqual([]);
	expect(answers.open.source).toBe("First");
	expect(said(answers.answer(answer("First.")))).toBe("First.Second.\n\n");
	expect(answers.open).toMatchObject({ source: "Goes on", apart: true });
});

test("a message that ends before an earlier one closes that as it stands, and a late end of it is checked", () => {
	const answers = new Answers();
	answers.delta(delta(0, "First"));
	answers.delta(delta(0, "Second", 2));
	expect(said(answers.answer(answer("Second.", 2)))).toBe("FirstSecond.");
	expect(answers.answer(answer("First"))).toEqual([]);
	expect(said(answers.answer(answer("First, longer")))).toBe("<correction>First, longer");
});

test("what a turn left unfinished stands as it is when the turn ends", () => {
	const answers = new Answers();
	answers.delta(delta(0, "One.\n\nTw"));
	answers.delta(delta(0, "Other", 0, "u"));
	expect(said(answers.end("t"))).toBe("Tw");
	expect(answers.open.source).toBe("Other");
	expect(said(answers.endAll())).toBe("Other");
});

test("a turn that runs again streams its message again, after a mark if some of it was printed", () => {
	const answers = new Answers();
	answers.delta(delta(0, "Never printed"));
	expect(answers.restart("t")).toEqual([]);
	expect(said(answers.delta(delta(0, "One.\n\nTw")))).toBe("One.\n\n");
	expect(said(answers.restart("t"))).toBe("Tw<restart>");
	expect(said(answers.delta(delta(0, "Another.\n\nAnd")))).toBe("Another.\n\n");
	expect(said(answers.answer(answer("Another.\n\nAnd more.")))).toBe("And more.");
});
