import { expect, test } from "vitest";
import type { ChatEvent } from "./events.ts";
import { createPlainChat } from "./plain.ts";

const EVENTS: readonly ChatEvent[] = [
	{ kind: "user", author: "ann", text: "hello", mine: true },
	{ kind: "turn", turn: "t", state: "begun" },
	{ kind: "delta", turn: "t", index: 0, offset: 0, text: "# Head" },
	{ kind: "call", turn: "t", id: "c", name: "terminal", args: "ls" },
	{ kind: "result", id: "c", name: "terminal", text: "x", isError: false },
	{ kind: "answer", turn: "t", index: 0, text: "# Head\n\nsome **bold** \u001b[2J\u202e words" },
	{ kind: "turn", turn: "t", state: "ended", outcome: "stopped" },
	{ kind: "boundary", text: "new session" },
	{ kind: "notice", text: "one\ntwo\u0007" },
	{ kind: "reply", text: "Done." },
	{ kind: "connection", state: "lost" },
];

function written(json: boolean): string {
	let text = "";
	const chat = createPlainChat({ json, output: { write: (more: string) => (text += more) } });
	for (const event of EVENTS) chat.show(event);
	return text;
}

test("a pipe gets what was said, as plain text", () => {
	expect(written(false)).toBe("# Head\n\nsome bold \\u001b[2J\\u202e words\none\ntwo\\u0007\nDone.\n");
});

test("as JSON it gets every event, one a line, exactly", () => {
	const text = written(true);
	expect(
		text
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line)),
	).toEqual(EVENTS);
	expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
