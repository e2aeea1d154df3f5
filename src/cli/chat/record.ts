// The conversation on screen: what to print next, and what is still changing. Events become lines here; printed lines are never requested
// again.
import type { Clock } from "../../time/index.ts";
import { Answers, type Print } from "./answers.ts";
import { boundaryLines, callLines, noticeLines, runningLine, userLines } from "./entries.ts";
import type { ChatEvent, EventOf } from "./events.ts";
import { markdownLines } from "./markdown.ts";
import { type Line, span } from "./style.ts";

export interface ChatRecordOptions {
	readonly columns: () => number;
	readonly colour: boolean;
	readonly clock: Clock;
	/** Only time has changed what is shown. */
	readonly onChange: () => void;
}

/** Of a longer unfinished piece only the end is rendered: no screen shows more. */
const LONG_PIECE = 8192;

const MARKS = {
	correction: "corrected, the whole answer again",
	restart: "interrupted, answering again",
} as const;

export class ChatRecord {
	readonly #options: ChatRecordOptions;
	readonly #answers = new Answers();
	readonly #calls = new Map<string, EventOf<"call">>();
	#lines: Line[] = [];
	/** The kind of the last printed item; equal kinds follow without a blank line. */
	#last: ChatEvent["kind"] | null = null;
	#working: { readonly turn: string; readonly since: number } | null = null;
	#cancelTick: (() => void) | undefined;
	#isConnected = true;

	constructor(options: ChatRecordOptions) {
		this.#options = options;
	}

	show(event: ChatEvent): void {
		const columns = this.#columns;
		switch (event.kind) {
			case "user":
				this.#put("user", userLines(event, columns));
				break;
			case "delta":
				this.#print(this.#answers.delta(event));
				break;
			case "answer":
				this.#print(this.#answers.answer(event));
				break;
			case "call":
				this.#calls.set(event.id, event);
				break;
			case "result":
				this.#result(event);
				break;
			case "notice":
				this.#put("notice", noticeLines(event.text, columns));
				break;
			case "reply":
				this.#put("reply", this.#markdown(event.text));
				break;
			case "boundary":
				this.#put("boundary", boundaryLines(event.text, columns));
				break;
			case "turn":
				if (event.state === "begun") this.#begin(event.turn);
				else this.#end(event);
				break;
			case "connection":
				this.#isConnected = event.state === "restored";
				break;
		}
	}

	/** The lines to print now; each is returned once. */
	take(): Line[] {
		const lines = this.#lines;
		this.#lines = [];
		return lines;
	}

	/** What is below the printed lines: text to be printed once finished, and current activity. */
	live(): { readonly moving: Line[]; readonly notes: Line[]; readonly isBelowText: boolean } {
		const answer = this.#openAnswer();
		const calls = [...this.#calls.values()].map((call) => runningLine(call, this.#columns));
		const isCallApart = answer.length > 0 || (this.#last !== null && this.#last !== "call");
		return {
			moving: [...answer, ...(calls.length > 0 && isCallApart ? [[]] : []), ...calls],
			notes: this.#notes(),
			isBelowText: this.#last !== null,
		};
	}

	/** Prints everything that was still changing. */
	close(): void {
		this.#print(this.#answers.endAll());
		this.#cancelTick?.();
	}

	get #columns(): number {
		return Math.max(1, this.#options.columns());
	}

	#put(kind: ChatEvent["kind"], lines: readonly Line[], isApart = true): void {
		if (lines.length === 0) return;
		if (isApart && this.#last !== null) this.#lines.push([]);
		for (const line of lines) this.#lines.push(line);
		this.#last = kind;
	}

	#print(prints: readonly Print[]): void {
		for (const print of prints) {
			if (print.kind === "piece")
				this.#put("answer", this.#markdown(print.source), print.apart || this.#last !== "answer");
			else this.#put("answer", boundaryLines(MARKS[print.kind], this.#columns));
		}
	}

	#result(result: EventOf<"result">): void {
		const call = this.#calls.get(result.id) ?? { name: result.name, args: "" };
		this.#calls.delete(result.id);
		this.#put("call", callLines(call, result, this.#columns), this.#last !== "call");
	}

	#begin(turn: string): void {
		// Text may arrive before its turn's start; only a second start means that it starts over.
		if (this.#working?.turn === turn) this.#print(this.#answers.restart(turn));
		this.#working = { turn, since: this.#options.clock.monotonic() };
		this.#tick();
	}

	#end({ turn, outcome }: EventOf<"turn">): void {
		this.#print(this.#answers.end(turn));
		for (const call of [...this.#calls.values()].filter((one) => one.turn === turn)) {
			this.#calls.delete(call.id);
			this.#put("call", callLines(call, null, this.#columns), this.#last !== "call");
		}
		if (this.#working?.turn === turn) this.#working = null;
		this.#tick();
		if (outcome === "stopped") this.#put("turn", [[span("stopped", "dim")]]);
	}

	/** Seconds are shown, so it changes every second. */
	#tick(): void {
		this.#cancelTick?.();
		const { clock, onChange } = this.#options;
		if (!this.#working) return;
		const shown = (clock.monotonic() - this.#working.since) % 1000;
		this.#cancelTick = clock.after(1000 - shown, () => {
			onChange();
			this.#tick();
		});
	}

	#notes(): Line[] {
		const lines: Line[] = [];
		if (this.#working) {
			const seconds = Math.floor((this.#options.clock.monotonic() - this.#working.since) / 1000);
			lines.push([span(`working ${seconds} s`, "dim")]);
		}
		if (!this.#isConnected) lines.push([span("connection lost, trying again", "warn")]);
		return lines;
	}

	#openAnswer(): Line[] {
		const { source, apart, isInFence } = this.#answers.open;
		const lines = this.#markdown(lastPart(source, isInFence));
		const isApart = this.#last !== null && (apart || this.#last !== "answer");
		// A fence that was only opened shows nothing yet.
		if (lines.every((line) => line.every(({ text }) => text.trim() === ""))) return [];
		return isApart ? [[], ...lines] : lines;
	}

	#markdown(text: string): Line[] {
		return markdownLines(text, { columns: this.#columns, colour: this.#options.colour });
	}
}

function lastPart(source: string, isInFence: boolean): string {
	if (source.length <= LONG_PIECE) return source;
	const line = source.indexOf("\n", source.length - LONG_PIECE) + 1;
	const end = source.slice(line > 0 ? line : -LONG_PIECE);
	return isInFence ? `\`\`\`\n${end}` : end;
}
