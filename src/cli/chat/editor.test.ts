import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEditor, type Effect, reduce, replaceText } from "./editor.ts";
import type { Completion, EditorState } from "./editor-state.ts";
import type { Key } from "./keys.ts";
import { typable } from "./text.ts";

const COMMANDS: readonly Completion[] = ["/new", "/stop", "/status", "/busy queue", "/busy steer"].map(
	(text) => ({
		text,
		label: text,
		description: `about ${text}`,
	}),
);
const complete = (line: string) => COMMANDS.filter(({ text }) => text.startsWith(line));

/** Text is typed; names in angle brackets are keys. */
function press(
	script: string,
	start: EditorState = createEditor(),
): EditorState & { effects: readonly Effect[] } {
	let state = start;
	const effects: Effect[] = [];
	for (const [, name, text] of script.matchAll(/<([a-z-]+)>|([^<]+)/g)) {
		const key = (name === undefined ? { kind: "text", text } : { kind: name }) as Key;
		const step = reduce(state, key, complete);
		state = step.state;
		effects.push(...step.effects);
	}
	return { ...state, effects };
}

/** The text with the cursor in it. */
function seen({ text, cursor }: EditorState): string {
	return `${text.slice(0, cursor)}^${text.slice(cursor)}`;
}

test.each([
	["abc<left><left>x", "ax^bc"],
	["one two<word-left>x", "one x^two"],
	["one two<word-left><word-left><word-right>", "one^ two"],
	["one<newline>two<home>x", "one\nx^two"],
	["one<newline>two<up><end>x", "onex^\ntwo"],
	["long line<newline>x<newline>another<up><up>", "long li^ne\nx\nanother"],
	["long line<newline>x<up><down>", "long line\nx^"],
	["a👨‍👩‍👧‍👦b<left><left>", "a^👨‍👩‍👧‍👦b"],
	["a👨‍👩‍👧‍👦<backspace>", "a^"],
	["e\u0301x<home><delete>", "^x"],
	["名前<newline>abcd<up>", "名前^\nabcd"],
	["one two three<kill-word>", "one two ^"],
	["one two<kill-start>x<yank>", "xone two^"],
	["one two<home><kill-end><yank><yank>", "one twoone two^"],
	["one<newline>two<up><kill-end><kill-end><kill-end><yank>", "one\ntwo^"],
	["a b c<kill-word><kill-word><yank>", "a b c^"],
	["a b<kill-word>x<kill-word><yank>", "a x^"],
	["tail\\<enter>next", "tail\nnext^"],
	["abc<end-of-input>", "abc^"],
	["abc<home><end-of-input>", "^bc"],
])("%s leaves %j", (script, expected) => {
	expect(seen(press(script))).toBe(expected);
});

test("Enter sends the text, remembers it and empties the box", () => {
	const { text, effects, history } = press("hello<newline>there<enter>");
	expect(text).toBe("");
	expect(effects).toEqual([
		{ kind: "remember", text: "hello\nthere" },
		{ kind: "submit", text: "hello\nthere" },
	]);
	expect(history).toEqual(["hello\nthere"]);
});

test("a line that is sent twice is remembered once", () => {
	const { effects, history } = press("a<enter>a<enter>");
	expect(effects.map(({ kind }) => kind)).toEqual(["remember", "submit", "submit"]);
	expect(history).toEqual(["a"]);
});

test("Enter on nothing sends nothing", () => {
	expect(press("<enter> <newline><enter>").effects).toEqual([]);
});

test("a paste with line breaks stays one message, without what a terminal would obey", () => {
	const state = reduce(createEditor(), { kind: "text", text: "a\r\nb\rc\u001b[31md\u0007" }, complete).state;
	expect(state.text).toBe("a\nb\ncd");
});

test("Ctrl-C empties the box, then interrupts; what was there can be brought back", () => {
	const cleared = press("draft<interrupt>");
	expect(cleared).toMatchObject({ text: "", effects: [] });
	expect(press("<interrupt>", cleared).effects).toEqual([{ kind: "interrupt" }]);
	expect(press("<yank>", cleared).text).toBe("draft");
});

test("Ctrl-D in an empty box leaves", () => {
	expect(press("<end-of-input>").effects).toEqual([{ kind: "leave" }]);
});

test("a text that is put into the box replaces what stood there, which can be brought back", () => {
	const state = replaceText(press("half a tho"), "undone");
	expect(seen(state)).toBe("undone^");
	expect(press("<kill-start>", state).text).toBe("");
	expect(press("<interrupt><yank>", state).text).toBe("undone");
	expect(press("<yank>", state).text).toBe("undonehalf a tho");
});

describe("history", () => {
	const past = createEditor(["first", "second\nline", "third"]);

	test("up goes back line by line and entry by entry, down returns to the draft", () => {
		expect(press("draft<up>", past).text).toBe("third");
		expect(press("draft<up><up>", past).text).toBe("second\nline");
		expect(seen(press("draft<up><up><up>", past))).toBe("secon^d\nline".replace("secon^d", "seco^nd"));
		expect(press("draft<up><up><up><up>", past).text).toBe("first");
		expect(press("draft<up><up><up><up><up>", past).text).toBe("first");
		expect(press("draft<up><up><down><down>", past).text).toBe("draft");
	});

	test("a line from the history that is changed is a new draft", () => {
		expect(press("<up>!<up><down>", past).text).toBe("third!");
		expect(press("<up>!<enter>", past).history.at(-1)).toBe("third!");
	});

	test("a search finds the newest line with the words, then older ones", () => {
		expect(press("<search>ir", past)).toMatchObject({ text: "third", search: { query: "ir" } });
		expect(press("<search>ir<search>", past).text).toBe("first");
		expect(press("<search>ir<search><search>", past).text).toBe("first");
		expect(press("<search>irx<backspace><enter>", past)).toMatchObject({
			text: "third",
			search: null,
			effects: [],
		});
		expect(press("<search>SEC<end>!", past).text).toBe("second\nline!");
	});

	test("leaving the search brings back what stood there", () => {
		expect(seen(press("draft<left><search>ir<escape>", past))).toBe("draf^t");
		expect(seen(press("draft<left><search>ir<interrupt>", past))).toBe("draf^t");
		expect(press("draft<search>ir<enter><down>", past).text).toBe("draft");
	});
});

describe("completion", () => {
	test("a command in the making shows what it can become", () => {
		expect(press("/st").menu?.candidates.map(({ text }) => text)).toEqual(["/stop", "/status"]);
		expect(press("/sto").menu?.candidates.map(({ text }) => text)).toEqual(["/stop"]);
		expect(press("/x").menu).toBeNull();
		expect(press("no /st").menu).toBeNull();
		expect(press("/st<left>").menu).toBeNull();
	});

	test("Tab takes what the candidates share, then one after the other", () => {
		expect(press("/s<tab>").text).toBe("/st");
		expect(press("/s<tab><tab>").text).toBe("/stop");
		expect(press("/s<tab><tab><tab>").text).toBe("/status");
		expect(press("/s<tab><tab><tab><tab>").text).toBe("/stop");
		expect(press("/s<tab><back-tab>").text).toBe("/status");
		expect(press("/n<tab>").text).toBe("/new");
		expect(press("/b<tab><tab>").text).toBe("/busy queue");
		expect(press("/x<tab>").text).toBe("/x");
	});

	test("leaving the menu brings back what was typed", () => {
		expect(press("/st<tab><tab><escape>")).toMatchObject({ text: "/st", menu: null });
	});

	test("what stands right of the cursor stays", () => {
		expect(seen(press("/n rest<home><right><right><tab>"))).toBe("/new^ rest");
	});
});

const typed = fc.oneof(
	fc.string({
		unit: fc.constantFrom("a", " ", "_", "\n", "名", "👩", "\u200d", "🚀", "\u0301", "🇬", "\\", "/"),
		maxLength: 6,
	}),
	fc.string({ unit: "binary", maxLength: 4 }),
);
const key: fc.Arbitrary<Key> = fc.oneof(
	typed.map((text): Key => ({ kind: "text", text })),
	fc
		.constantFrom(
			"enter",
			"newline",
			"left",
			"right",
			"word-left",
			"word-right",
			"home",
			"end",
			"up",
			"down",
			"backspace",
			"delete",
			"kill-end",
			"kill-start",
			"kill-word",
			"yank",
			"tab",
			"back-tab",
			"search",
			"escape",
			"interrupt",
			"end-of-input",
			"clear",
		)
		.map((kind): Key => ({ kind }) as Key),
);
const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

test("whatever is pressed, the cursor stands between two characters of the text", () => {
	fc.assert(
		fc.property(fc.array(key, { maxLength: 40 }), fc.array(typed, { maxLength: 3 }), (keys, history) => {
			let state = createEditor(history.map(typable));
			for (const one of keys) {
				state = reduce(state, one, complete).state;
				const offsets = [...characters.segment(state.text)].map(({ index }) => index);
				expect([...offsets, state.text.length]).toContain(state.cursor);
				expect(state.text).toBe(typable(state.text));
			}
		}),
		{ numRuns: 500 },
	);
});

/** The same editor without lines, words, history or menus: a list of characters and a place in it. */
function model(keys: readonly Key[]): string {
	let list: string[] = [];
	let at = 0;
	const set = (left: string, right: string) => {
		list = Array.from(characters.segment(left + right), ({ segment }) => segment);
		at = 0;
		for (let length = 0; length < left.length; at++) length += list[at]?.length ?? 0;
	};
	for (const one of keys) {
		const left = list.slice(0, at);
		const right = list.slice(at);
		if (one.kind === "text") set(left.join("") + typable(one.text), right.join(""));
		if (one.kind === "newline") set(`${left.join("")}\n`, right.join(""));
		if (one.kind === "left") at = Math.max(0, at - 1);
		if (one.kind === "right") at = Math.min(list.length, at + 1);
		if (one.kind === "backspace" && at > 0) set(left.slice(0, -1).join(""), right.join(""));
		if (one.kind === "delete" && right.length > 0) set(left.join(""), right.slice(1).join(""));
		if (one.kind === "home") at = list.lastIndexOf("\n", at - 1 < 0 ? -list.length - 1 : at - 1) + 1;
		if (one.kind === "end") at = list.indexOf("\n", at) < 0 ? list.length : list.indexOf("\n", at);
	}
	return `${list.slice(0, at).join("")}^${list.slice(at).join("")}`;
}

test("the text is what a list of characters would be", () => {
	const move = fc.constantFrom("newline", "left", "right", "home", "end", "backspace", "delete");
	const simple = fc.oneof(
		typed.map((text): Key => ({ kind: "text", text })),
		move.map((kind): Key => ({ kind }) as Key),
		move.map((kind): Key => ({ kind }) as Key),
	);
	fc.assert(
		fc.property(fc.array(simple, { maxLength: 40 }), (keys) => {
			const state = keys.reduce((before, one) => reduce(before, one, complete).state, createEditor());
			expect(seen(state)).toBe(model(keys));
		}),
		{ numRuns: 1000 },
	);
});

test("what was cut comes back where it was cut", () => {
	// Characters that never grow together with their neighbours: a mark that does takes the cursor with it.
	const text = fc.string({
		unit: fc.constantFrom("a", "b", " ", "\n", "名", "🚀", "e\u0301"),
		maxLength: 30,
	});
	const move = fc.constantFrom<Key>(
		{ kind: "left" },
		{ kind: "word-left" },
		{ kind: "up" },
		{ kind: "home" },
	);
	const cut = fc.constantFrom<Key>({ kind: "kill-end" }, { kind: "kill-start" }, { kind: "kill-word" });
	fc.assert(
		fc.property(text, fc.array(move), fc.array(cut, { minLength: 1 }), (value, moves, cuts) => {
			const run = (state: EditorState, keys: readonly Key[]) =>
				keys.reduce((before, one) => reduce(before, one, complete).state, state);
			const start = run(createEditor(), [{ kind: "text", text: value }, ...moves]);
			expect(run(start, [...cuts, { kind: "yank" }]).text).toBe(value);
		}),
		{ numRuns: 1000 },
	);
});
