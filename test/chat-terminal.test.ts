// The chat on a terminal, as a person sees it: bytes go into a screen, and the screen is looked at.
import { PassThrough, Writable } from "node:stream";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type ChatEvent, createChatTerminal } from "../src/cli/chat/index.ts";
import { createVirtualClock } from "../src/testing/index.ts";
import { leaveSeats, sit } from "./support/chat-seat.ts";

afterEach(leaveSeats);

function delta(offset: number, text: string, index = 0): ChatEvent {
	return { kind: "delta", turn: "t", index, offset, text };
}

const said = (text: string): ChatEvent => ({ kind: "answer", turn: "t", index: 0, text });
const begun: ChatEvent = { kind: "turn", turn: "t", state: "begun" };
const ended: ChatEvent = { kind: "turn", turn: "t", state: "ended" };
const mine = (text: string): ChatEvent => ({ kind: "user", author: null, text, mine: true });

const ANSWER = `Here is what I found in the folder, with a word about each of the files.

- **README.md** tells what it is
- src holds the code

\`\`\`sh
ls -la

wc -l src/*
\`\`\`

That is all.`;

describe.each([80, 40, 20])("%i columns", (columns) => {
	test("a streamed answer ends up on the screen as if it had come at once", async () => {
		const streamed = await sit(columns, 30);
		await streamed.show(mine("what is here?"), begun);
		for (let at = 0; at < ANSWER.length; at += 7) await streamed.show(delta(at, ANSWER.slice(at, at + 7)));
		await streamed.show(said(ANSWER), ended);
		const whole = await sit(columns, 30);
		await whole.show(mine("what is here?"), begun, said(ANSWER), ended);
		expect(streamed.screen.all).toEqual(whole.screen.all);
		expect(whole.screen.all.join("\n")).toContain("wc -l src/*");
		expect(whole.screen.shown.at(-1)).toBe(">");
	});

	test("what is typed stays while an answer arrives", async () => {
		const { screen, type, show } = await sit(columns, 12);
		await show(begun);
		for (let at = 0; at < ANSWER.length; at += 20) {
			await show(delta(at, ANSWER.slice(at, at + 20)));
			await type("x");
			expect(screen.atCursor).toEqual([`> ${"x".repeat(at / 20 + 1)}`, ""]);
		}
		await show(said(ANSWER), ended);
		expect(screen.shown.at(-1)).toMatch(/^> x{9}$/);
	});

	test("no row is left behind and none is wiped when a still screen changes its size", async () => {
		const { screen, clock, type, show, resize } = await sit(columns, 20);
		await show(mine("first"), said(ANSWER), begun);
		await show(delta(0, "an answer in the making that is longer than a row of the screen, by far", 1));
		await type("typed text, longer than the narrowest screen");
		const before = screen.all.join("").replace(/\s/g, "");
		for (const width of [columns - 7, columns + 9, 20, columns]) {
			await clock.advanceTo(Math.ceil(clock.now() / 1000) * 1000 + 500);
			await resize(width, 20);
			const shown = screen.all.join("").replace(/\s/g, "");
			expect(shown.replace(/working\d+s/, "")).toBe(before.replace(/working\d+s/, ""));
			expect(screen.atCursor[1]).toBe("");
		}
	});

	test("a text longer than a row is wrapped, with the cursor in its place", async () => {
		const { screen, type } = await sit(columns, 12);
		const text = "0123456789".repeat(Math.ceil((columns * 1.5) / 10));
		await type(text);
		const room = columns - 2;
		expect(screen.shown.slice(-2)).toEqual([`> ${text.slice(0, room)}`, `  ${text.slice(room)}`]);
		await type("\x1b[D\x1b[D");
		expect(screen.atCursor).toEqual([`  ${text.slice(room, -2)}`, text.slice(-2)]);
		await type("\x01");
		expect(screen.atCursor).toEqual(["> ", text.slice(0, room)]);
	});

	test("commands are completed below the box", async () => {
		const { screen, type } = await sit(columns, 12);
		await type("/st");
		expect(screen.shown.at(-2)).toMatch(/^ {2}\/status/);
		expect(screen.shown.at(-1)).toMatch(/^ {2}\/stop/);
		expect(screen.atCursor).toEqual(["> /st", ""]);
		await type("\t");
		expect(screen.atCursor).toEqual(["> /status", ""]);
		expect(screen.shown.at(-2)).toMatch(/^› \/status/);
		await type("\t");
		expect(screen.atCursor).toEqual(["> /stop", ""]);
		await type(" ");
		expect(screen.shown).toEqual(["> /stop"]);
		for (const row of screen.shown) expect(row.length).toBeLessThanOrEqual(columns);
	});

	test("calls fold to their outcome", async () => {
		const { screen, show } = await sit(columns, 20);
		await show(begun, { kind: "call", turn: "t", id: "1", name: "terminal", args: '{"command":"ls"}' });
		expect(screen.shown).toContain("▸ terminal ls");
		await show({ kind: "result", id: "1", name: "terminal", text: "a\nb\nc", isError: false });
		expect(screen.shown.join(" ")).toMatch(/▸ terminal ls +✓ 3 lines/);
		await show({ kind: "call", turn: "t", id: "2", name: "terminal", args: "rm" }, ended);
		expect(screen.shown.join(" ")).toMatch(/▸ terminal rm +no result/);
	});
});

test("no word of an answer is lost, however the terminal changes its size while it is written", async () => {
	const words = Array.from({ length: 120 }, (_, at) => `w${at}.`);
	const text = words.map((word, at) => (at % 9 === 8 ? `${word}\n\n` : `${word} `)).join("");
	const change = fc.record({
		at: fc.nat(100),
		columns: fc.integer({ min: 20, max: 90 }),
		rows: fc.integer({ min: 8, max: 30 }),
		told: fc.nat(250),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
			const { screen, clock, chat, show, resizeQuietly } = await sit(60, 20);
			for (let step = 0, at = 0; at < text.length; step++, at += 7) {
				for (const { columns, rows, told } of changes.filter((one) => one.at === step)) {
					const { tell } = resizeQuietly(columns, rows);
					clock.after(told, tell);
				}
				chat.show(delta(at, text.slice(at, at + 7)));
				await clock.advance(20);
			}
			await clock.advance(500);
			await show(said(text));
			const seen = screen.all.join("").replace(/\s/g, "");
			for (const word of words) expect(seen).toContain(word);
		}),
		{ numRuns: 20 },
	);
});

test("a message over several lines is written and sent as one", async () => {
	const { screen, type, heard } = await sit();
	await type("one\n");
	await type("two\x1b\r");
	await type("three\\\r");
	await type("four");
	expect(screen.shown).toEqual(["> one", "  two", "  three", "  four"]);
	await type("\x1b[A\x1b[A!");
	expect(screen.atCursor).toEqual(["  two!", ""]);
	await type("\r");
	expect(heard).toEqual(["remember one\ntwo!\nthree\nfour", "submit one\ntwo!\nthree\nfour"]);
	expect(screen.shown).toEqual([">"]);
});

test("a paste with line breaks stays in the box until it is sent", async () => {
	const { screen, type, heard } = await sit();
	expect(screen.isPasteBracketed).toBe(true);
	await type("\x1b[200~one\rtwo\x1b[201~");
	expect(screen.shown).toEqual(["> one", "  two"]);
	await type("\r");
	expect(heard.at(-1)).toBe("submit one\ntwo");
});

test("the cursor stands right after wide characters, joined emoji and marks", async () => {
	const { screen, type } = await sit();
	await type("名前👨‍👩‍👧‍👦e\u0301x");
	expect(screen.atCursor).toEqual(["> 名前👨‍👩‍👧‍👦e\u0301x", ""]);
	await type("\x1b[D\x1b[D");
	expect(screen.atCursor).toEqual(["> 名前👨‍👩‍👧‍👦", "e\u0301x"]);
	await type("\x1b[D");
	expect(screen.atCursor).toEqual(["> 名前", "👨‍👩‍👧‍👦e\u0301x"]);
	await type("\x7f");
	expect(screen.atCursor).toEqual(["> 名", "👨‍👩‍👧‍👦e\u0301x"]);
});

test("lines of earlier runs come back with the arrow keys and by searching", async () => {
	const { screen, type } = await sit(80, 24, { history: ["make it work", "make it fast"] });
	await type("draft\x1b[A");
	expect(screen.shown).toEqual(["> make it fast"]);
	await type("\x1b[A\x1b[B\x1b[B");
	expect(screen.shown).toEqual(["> draft"]);
	await type("\x12wor");
	expect(screen.shown).toEqual(["> make it work", "search: wor"]);
	await type("x");
	expect(screen.shown.at(-1)).toBe("not found: worx");
	await type("\x07");
	expect(screen.shown).toEqual(["> draft"]);
});

describe("Ctrl-C", () => {
	test("empties the box, then interrupts, then leaves", async () => {
		const { screen, type, heard } = await sit();
		await type("text\x03");
		expect(heard).toEqual([]);
		expect(screen.shown).toEqual([">"]);
		await type("\x03");
		expect(heard).toEqual(["interrupt"]);
		expect(screen.shown).toEqual([">", "Ctrl-C again to leave"]);
		await type("\x03");
		expect(heard).toEqual(["interrupt", "leave"]);
	});

	test("twice within more than two seconds, or with a key between, interrupts twice", async () => {
		const { screen, clock, type, heard } = await sit();
		await type("\x03");
		await clock.advance(2000);
		expect(screen.shown).toEqual([">"]);
		await type("\x03");
		await type("a\x7f");
		await type("\x03");
		expect(heard).toEqual(["interrupt", "interrupt", "interrupt"]);
	});
});

test("Ctrl-D leaves only from an empty box", async () => {
	const { type, heard } = await sit();
	await type("a\x04");
	expect(heard).toEqual([]);
	await type("\x7f\x04");
	expect(heard).toEqual(["leave"]);
});

test("Ctrl-L empties the screen and keeps the box", async () => {
	const { screen, type, show } = await sit();
	await show(mine("gone"));
	await type("typed\x0c");
	expect(screen.shown.filter((row) => row !== "")).toEqual(["> typed"]);
	expect(screen.atCursor).toEqual(["> typed", ""]);
});

test("what others write, notices, replies and dividers come above the box", async () => {
	const { screen, chat, type, show } = await sit();
	await type("half a tho");
	chat.status("session 7 of today");
	await show(
		{ kind: "user", author: "ann", text: "hello", mine: false },
		{ kind: "notice", text: "Two messages waited." },
		{ kind: "boundary", text: "new session: a day has passed" },
		{ kind: "reply", text: "Done. `/redo` brings it back." },
	);
	expect(screen.shown).toEqual([
		"ann: hello",
		"",
		"Two messages waited.",
		"",
		`── new session: a day has passed ${"─".repeat(39)}`,
		"",
		"Done. `/redo` brings it back.",
		"",
		"> half a tho",
		"  session 7 of today",
	]);
	expect(screen.atCursor).toEqual(["> half a tho", ""]);
});

test("a text put into the box can be gone on with", async () => {
	const { screen, chat, type } = await sit();
	await type("draft");
	chat.setInput("what I said before");
	await type("!");
	expect(screen.shown).toEqual(["> what I said before!"]);
	await type("\x15\x19\x0b");
	expect(screen.shown).toEqual(["> what I said before!"]);
});

describe("a turn", () => {
	test("is told with its seconds while it runs, and not after", async () => {
		const { screen, clock, show } = await sit();
		await show(begun);
		expect(screen.shown).toContain("working 0 s");
		await clock.advance(12_000);
		expect(screen.shown).toContain("working 12 s");
		await show(ended);
		expect(screen.shown).toEqual([">"]);
		expect(clock.pendingTimers()).toEqual([]);
	});

	test("that was stopped is said to be, with what it had written", async () => {
		const { screen, show } = await sit();
		await show(begun, delta(0, "I was about to"), { ...ended, outcome: "stopped" });
		expect(screen.shown).toEqual(["I was about to", "", "stopped", "", ">"]);
	});
});

test("a turn that begins again after a crash says so, and text that comes before its turn is kept", async () => {
	const { screen, show } = await sit();
	await show(delta(0, "One.\n\nTw"), begun);
	expect(screen.shown.slice(0, 3)).toEqual(["One.", "", "Tw"]);
	await show(begun, delta(0, "Three"), said("Three."), ended);
	expect(screen.shown[4]).toMatch(/^── interrupted, answering again ─+$/);
	expect(screen.shown.slice(6)).toEqual(["Three.", "", ">"]);
});

test("a lost connection is told until it is back", async () => {
	const { screen, show } = await sit();
	await show({ kind: "connection", state: "lost" });
	expect(screen.shown).toContain("connection lost, trying again");
	await show({ kind: "connection", state: "restored" });
	expect(screen.shown).toEqual([">"]);
});

test("a final text that differs from what was printed is printed again after a mark", async () => {
	const { screen, show } = await sit();
	await show(delta(0, "The answer is 41.\n\nBecause"), said("The answer is 42.\n\nBecause."));
	expect(screen.shown[0]).toBe("The answer is 41.");
	expect(screen.shown[2]).toMatch(/^── corrected, the whole answer again ─+$/);
	expect(screen.shown.slice(4)).toEqual(["The answer is 42.", "", "Because.", "", ">"]);
});

test("an unfinished block taller than the screen shows its end, and is printed whole once it is finished", async () => {
	const { screen, show } = await sit(40, 12);
	const code = `\`\`\`\n${Array.from({ length: 50 }, (_, line) => `line ${line}`).join("\n")}\n`;
	await show(begun, delta(0, code));
	expect(screen.all.length).toBeLessThanOrEqual(12);
	expect(screen.shown[0]).toBe("…");
	expect(screen.shown.join("\n")).toContain("line 49");
	expect(screen.shown.at(-1)).toBe(">");
	await show(delta(code.length, "```\n\nEnd"), said(`${code}\`\`\`\n\nEnd`), ended);
	expect(screen.all.filter((row) => row.includes("line"))).toEqual(
		Array.from({ length: 50 }, (_, line) => `    line ${line}`),
	);
});

test("a text in the box taller than the screen shows where the cursor is", async () => {
	const { screen, type } = await sit(40, 6);
	await type(`\x1b[200~${Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n")}\x1b[201~`);
	expect(screen.all.length).toBeLessThanOrEqual(6);
	expect(screen.shown.at(-1)).toBe("  line 29");
	await type("\x1b[A".repeat(29));
	expect(screen.shown[0]).toBe("> line 0");
	expect(screen.atCursor).toEqual(["> line 0", ""]);
});

test("a thousand deltas in a second are at most about thirty frames, each drawn with the cursor hidden", async () => {
	const { clock, chat, writes } = await sit();
	const text = "word ".repeat(1000);
	const before = writes.length;
	for (let at = 0; at < 1000; at++) {
		chat.show(delta(at * 5, text.slice(at * 5, at * 5 + 5)));
		await clock.advance(1);
	}
	await clock.advance(40);
	const frames = writes.slice(before);
	expect(frames.length).toBeGreaterThan(20);
	expect(frames.length).toBeLessThanOrEqual(32);
	for (const frame of frames) {
		expect(frame.indexOf("\x1b[?25l")).toBeLessThan(frame.indexOf("word"));
		expect(frame.endsWith("\x1b[?25h\x1b[?2026l")).toBe(true);
	}
});

test("nothing is written while nothing changes", async () => {
	const { clock, show, chat, writes } = await sit();
	await show(mine("hello"));
	const before = writes.length;
	chat.status(null);
	await clock.advance(60_000);
	expect(writes.length).toBe(before);
});

test("nothing but a known escape is ever sent, whatever the texts", async () => {
	const hostile = fc.string({
		unit: fc.constantFrom(
			"a",
			"\n",
			"\u001b",
			"[2J",
			"\u009b",
			"\r",
			"\u202e",
			"&#27;",
			"`",
			"- ",
			"\u0007",
			"\ud800",
			"名",
			"\u200d",
		),
		maxLength: 20,
	});
	const event: fc.Arbitrary<ChatEvent> = hostile.chain((text) =>
		fc.constantFrom<ChatEvent>(
			{ kind: "user", author: text, text, mine: false },
			{ kind: "user", author: null, text, mine: true },
			delta(0, text),
			said(text),
			{ kind: "call", turn: "t", id: "1", name: text, args: text },
			{ kind: "result", id: "1", name: text, text, isError: true },
			{ kind: "notice", text },
			{ kind: "reply", text },
			{ kind: "boundary", text },
			{ kind: "turn", turn: "t", state: "ended", outcome: text },
		),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(event, { maxLength: 8 }), fc.boolean(), async (events, colour) => {
			const { show, chat, screen, writes } = await sit(30, 10, { colour });
			chat.status(events.map((one) => ("text" in one ? one.text : "")).join(""));
			await show(...events);
			// The screen fails on any sequence it does not know; these it knows, and only we may send them.
			expect(writes.join("")).not.toContain("\x1b[2J");
			expect(screen.isCursorShown).toBe(true);
		}),
		{ numRuns: 100 },
	);
});

test("closing leaves the record and a terminal as it was", async () => {
	const seat = await sit();
	expect(seat.isRaw()).toBe(true);
	await seat.show(mine("hello"), begun, delta(0, "unfinished"));
	await seat.type("typed");
	seat.chat.close();
	expect(seat.screen.shown).toEqual(["> hello", "", "unfinished"]);
	expect(seat.screen).toMatchObject({ isCursorShown: true, isPasteBracketed: false });
	expect(seat.isRaw()).toBe(false);
	const { length } = seat.writes;
	await seat.type("more");
	await seat.show(said("late"));
	expect(seat.writes.length).toBe(length);
	expect(seat.clock.pendingTimers()).toEqual([]);
});

test("while the terminal does not take what it is given, nothing is drawn, and then everything at once", async () => {
	const clock = createVirtualClock(0);
	const writes: string[] = [];
	const taken: (() => void)[] = [];
	const output = new Writable({
		decodeStrings: false,
		highWaterMark: 1,
		write: (chunk: string, _encoding, done) => {
			writes.push(chunk);
			taken.push(done);
		},
	});
	const chat = createChatTerminal({
		input: new PassThrough(),
		output,
		colour: false,
		clock,
		columns: () => 80,
		rows: () => 24,
		complete: () => [],
		onSubmit: () => {},
		onInterrupt: () => {},
		onLeave: () => {},
	});
	for (const word of ["one", "two", "three"]) {
		chat.show(mine(word));
		await clock.advance(100);
	}
	expect(writes.join("")).not.toContain("three");
	while (taken.length > 0) {
		taken.shift()?.();
		await clock.advance(40);
	}
	expect(writes.at(-1)).toMatch(/one.*two.*three/s);
	chat.close();
});
