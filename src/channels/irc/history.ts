// Reads missed messages if the server keeps a history (draft/chathistory). One request at a time; each is answered by one batch.
import type { Clock } from "../../time/index.ts";
import { formatLine, type Message } from "./wire.ts";

const ANSWER_MS = 15_000;
/** Requested at once; a server may return less. */
const PAGE = 100;
/** The most read from one chat; older ones are left out, and that is reported. */
const MOST_PAGES = 20;

export interface HistoryOptions {
	readonly clock: Clock;
	readonly write: (line: string) => void;
}

interface Asked {
	batch: string | null;
	readonly found: Message[];
	readonly answer: (found: readonly Message[] | null) => void;
}

export class History {
	readonly #options: HistoryOptions;
	#asked: Asked | null = null;
	#isLost = false;
	#last: Promise<unknown> = Promise.resolve();

	constructor(options: HistoryOptions) {
		this.#options = options;
	}

	/** Whether the message is part of a reply to a request. */
	heard(message: Message): boolean {
		const { command, params, tags } = message;
		const asked = this.#asked;
		if (!asked) return false;
		const [reference = "", type = ""] = params;
		if (command === "BATCH" && reference.startsWith("+") && /chathistory/.test(type)) {
			asked.batch ??= reference.slice(1);
			return true;
		}
		if (command === "BATCH" && asked.batch !== null && reference === `-${asked.batch}`) {
			this.#answer(asked.found);
			return true;
		}
		if (command === "FAIL" && reference === "CHATHISTORY") {
			this.#answer(null);
			return true;
		}
		if (asked.batch === null || tags.get("batch") !== asked.batch) return false;
		asked.found.push(message);
		return true;
	}

	/** The connection is gone. */
	lost(): void {
		this.#isLost = true;
		this.#answer(null);
	}

	/** Names of people who talked to Keryx in private since then; null: the server does not say. */
	async partners(since: number, until: number): Promise<readonly string[] | null> {
		const found = await this.#ask(["TARGETS", time(since), time(until), String(PAGE)]);
		return found?.flatMap(({ params: [verb, name] }) => (verb === "TARGETS" && name ? [name] : [])) ?? null;
	}

	/** Oldest first. `isWhole` false: there is more, or the server did not answer. */
	async after(
		target: string,
		since: number,
	): Promise<{ readonly messages: readonly Message[]; readonly isWhole: boolean }> {
		const messages: Message[] = [];
		for (let from = time(since), page = 0; page < MOST_PAGES; page++) {
			const found = await this.#ask(["AFTER", target, from, String(PAGE)]);
			if (!found) return { messages, isWhole: false };
			messages.push(...found);
			const id = found.at(-1)?.tags.get("msgid");
			if (found.length === 0 || id === undefined) return { messages, isWhole: true };
			from = `msgid=${id}`;
		}
		return { messages, isWhole: false };
	}

	#ask(params: readonly string[]): Promise<readonly Message[] | null> {
		const { clock, write } = this.#options;
		const answered = this.#last.then(
			() =>
				new Promise<readonly Message[] | null>((resolve) => {
					if (this.#isLost) {
						resolve(null);
						return;
					}
					const cancel = clock.after(ANSWER_MS, () => this.#answer(null));
					this.#asked = {
						batch: null,
						found: [],
						answer: (found) => {
							cancel();
							resolve(found);
						},
					};
					write(formatLine("CHATHISTORY", params));
				}),
		);
		this.#last = answered;
		return answered;
	}

	#answer(found: readonly Message[] | null): void {
		const asked = this.#asked;
		this.#asked = null;
		asked?.answer(found);
	}
}

function time(at: number): string {
	return `timestamp=${new Date(at).toISOString()}`;
}
