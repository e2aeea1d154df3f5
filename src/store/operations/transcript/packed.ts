// A transcript as one text, for a turn: it crosses between threads, and is read, at a third of the cost of its rows. A row's body is as it
// is stored; what repeats from row to row is there once.
import type { SessionId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import type { Message, NewMessage, Role, RowKind } from "../../types.ts";
import { isDetail } from "./content.ts";

export interface PackedTranscript {
	readonly packed: string;
}

/** A row. What is null, or not an error, is left out. */
export interface PackedRow {
	readonly id: number;
	readonly seq: number;
	readonly role: Role;
	readonly kind: RowKind | null;
	readonly turn: string | null;
	readonly tool_call: string | null;
	readonly tool_name: string | null;
	readonly is_error: number;
	readonly author: string | null;
	readonly created_at: number;
	/** JSON: an object with at least `content`. */
	readonly body: string;
}

type Body = Pick<NewMessage, "content"> & { readonly authorName?: string } & Readonly<
		Record<string, unknown>
	>;
/** What few rows have. */
type Marks = Pick<NewMessage, "kind" | "toolCallId" | "toolName" | "isError">;
type Unpacked = { -readonly [Key in keyof Message]: Message[Key] };

interface Packed {
	readonly strings: readonly string[];
	/** FACTS of them a row, in the order of `PackedTranscriptWriter.add`. */
	readonly facts: readonly number[];
	readonly bodies: readonly Body[];
	/** By the row's place. */
	readonly marks: Readonly<Record<number, Marks>>;
}

const ROLES: readonly Role[] = ["system", "user", "assistant", "tool", "meta"];
const FACTS = 8;
const NONE = -1;

export class PackedTranscriptWriter {
	/** Each string's place in the list. */
	readonly #strings = new Map<string, number>();
	readonly #facts: number[] = [];
	readonly #bodies: string[] = [];
	readonly #marks: Record<number, Marks> = {};

	add(row: PackedRow, session: SessionId, hidden: boolean): void {
		this.#facts.push(
			row.id,
			row.seq,
			row.created_at,
			ROLES.indexOf(row.role),
			hidden ? 1 : 0,
			this.#place(session),
			row.turn === null ? NONE : this.#place(row.turn),
			row.author === null ? NONE : this.#place(row.author),
		);
		const marks = marksOf(row);
		if (marks) this.#marks[this.#bodies.length] = marks;
		this.#bodies.push(row.body);
	}

	end(): PackedTranscript {
		const strings = JSON.stringify([...this.#strings.keys()]);
		const marks = JSON.stringify(this.#marks);
		const facts = this.#facts.join();
		return {
			packed: `{"strings":${strings},"facts":[${facts}],"marks":${marks},"bodies":[${this.#bodies.join()}]}`,
		};
	}

	#place(text: string): number {
		const known = this.#strings.get(text);
		if (known !== undefined) return known;
		this.#strings.set(text, this.#strings.size);
		return this.#strings.size - 1;
	}
}

function marksOf({ kind, tool_call, tool_name, is_error }: PackedRow): Marks | null {
	if (kind === null && tool_call === null && tool_name === null && is_error === 0) return null;
	return {
		...(kind !== null && { kind }),
		...(tool_call !== null && { toolCallId: tool_call }),
		...(tool_name !== null && { toolName: tool_name }),
		...(is_error === 1 && { isError: true }),
	};
}

/** Throws store.corrupt: a transcript that cannot be read never looks like a shorter one (I8). */
export function unpackTranscript({ packed }: PackedTranscript): Message[] {
	const { strings, facts, bodies, marks } = read(packed);
	if (bodies.length * FACTS !== facts.length) throw corrupt(undefined);
	return bodies.map((body, n) => {
		const at = n * FACTS;
		const principal = strings[facts[at + 7] as number];
		const message: Unpacked = {
			role: ROLES[facts[at + 3] as number] as Role,
			content: body.content,
			id: facts[at] as number,
			session: strings[facts[at + 5] as number] as SessionId,
			seq: facts[at + 1] as number,
			turn: strings[facts[at + 6] as number] ?? null,
			createdAt: facts[at + 2] as number,
			hidden: facts[at + 4] === 1,
		};
		// Not spread: most bodies have nothing else, and a spread copies each message once more.
		for (const key in body) if (isDetail(key)) setIn(message, key, body[key]);
		Object.assign(message, marks[n]);
		const { authorName: name } = body;
		if (principal !== undefined) message.author = name === undefined ? { principal } : { principal, name };
		return message;
	});
}

function setIn(message: Unpacked, key: keyof Message, value: unknown): void {
	(message as Record<string, unknown>)[key] = value;
}

function read(packed: string): Packed {
	try {
		return JSON.parse(packed) as Packed;
	} catch (cause) {
		throw corrupt(cause);
	}
}

function corrupt(cause: unknown): KeryxError {
	return new KeryxError("store.corrupt", "a body in the store cannot be read", { cause });
}
