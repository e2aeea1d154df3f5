// A person who chats at a terminal: a screen to look at, keys to press, and a clock that only the test moves.
import { PassThrough, Writable } from "node:stream";
import { type ChatEvent, type ChatTerminal, createChatTerminal } from "../../src/cli/chat/index.ts";
import { createVirtualClock, type VirtualClock } from "../../src/testing/index.ts";
import { Screen } from "./screen.ts";

interface Seat {
	readonly screen: Screen;
	readonly chat: ChatTerminal;
	readonly clock: VirtualClock;
	readonly heard: string[];
	/** Everything written, one string per write. */
	readonly writes: string[];
	readonly isRaw: () => boolean;
	/** Types text or sends a key's bytes, and waits until it is drawn. */
	type(text: string): Promise<void>;
	show(...events: readonly ChatEvent[]): Promise<void>;
	resize(columns: number, rows: number): Promise<void>;
	/** The same, but the program learns of it later. */
	resizeQuietly(columns: number, rows: number): { tell(): void };
}

const COMMANDS = [
	{ text: "/new", label: "/new [title]", description: "begin a new session" },
	{ text: "/status", label: "/status", description: "what goes on here" },
	{ text: "/stop", label: "/stop [all]", description: "end the running answer" },
];

const seats: Seat[] = [];

/** After each test. */
export function leaveSeats(): void {
	for (const { chat } of seats.splice(0)) chat.close();
}

export async function sit(
	columns = 80,
	rows = 24,
	{ colour = false, history = [] as readonly string[] } = {},
): Promise<Seat> {
	const screen = new Screen(columns, rows);
	const clock = createVirtualClock(0);
	const heard: string[] = [];
	const writes: string[] = [];
	let isRaw = false;
	let size = { columns, rows };
	const input = Object.assign(new PassThrough(), {
		setRawMode: (on: boolean) => {
			isRaw = on;
		},
	});
	const output = new Writable({
		decodeStrings: false,
		write: (chunk: string, _encoding, done) => {
			writes.push(chunk);
			screen.write(chunk);
			done();
		},
	});
	const chat = createChatTerminal({
		input,
		output,
		colour,
		clock,
		columns: () => size.columns,
		rows: () => size.rows,
		complete: (line) => COMMANDS.filter(({ text }) => text.startsWith(line)),
		history,
		onHistory: (line) => heard.push(`remember ${line}`),
		onSubmit: (text) => heard.push(`submit ${text}`),
		onInterrupt: () => heard.push("interrupt"),
		onLeave: () => heard.push("leave"),
	});
	const seat: Seat = {
		screen,
		chat,
		clock,
		heard,
		writes,
		isRaw: () => isRaw,
		type: async (text) => {
			input.write(text);
			await clock.advance(40);
		},
		show: async (...events) => {
			for (const event of events) chat.show(event);
			await clock.advance(40);
		},
		resize: async (width, height) => {
			size = { columns: width, rows: height };
			screen.resize(width, height);
			output.emit("resize");
			await clock.advance(140);
		},
		resizeQuietly: (width, height) => {
			screen.resize(width, height);
			return {
				tell: () => {
					size = { columns: width, rows: height };
					output.emit("resize");
				},
			};
		},
	};
	seats.push(seat);
	await clock.advance(40);
	return seat;
}
