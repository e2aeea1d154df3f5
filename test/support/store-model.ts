// The store as a few arrays: the model-based test compares the real one with it.
// Nothing is stored twice: what is visible, and how many rows count, is computed from the rows each time.
import { cleanTitle, type EndReason, successorTitle } from "../../src/domain/index.ts";
import { MINUTE } from "./clock.ts";

export const MAX_MESSAGES = 12;
export const IDLE_MS = 60 * MINUTE;

export interface ModelRow {
	readonly session: ModelSession;
	readonly seq: number;
	readonly role: "user" | "assistant" | "tool" | "meta";
	readonly kind?: "carry_over" | "summary" | "note";
	/** Null until seen: the domain decides the words of a carry-over. */
	content: string | null;
	readonly turn: string | null;
	readonly counted: boolean;
}

export interface ModelSession {
	id: string;
	readonly conversation: ModelConversation;
	readonly rows: ModelRow[];
	base: { readonly session: ModelSession; readonly seq: number; readonly kind: "continue" | "branch" } | null;
	readonly previous: ModelSession | null;
	cap: number;
	lastActivityAt: number;
	hadActivity: boolean;
	noticePending: boolean;
	suspended: boolean;
	ended: EndReason | null;
	finalised: boolean;
	/** The count at its end; a live session is counted each time. */
	counted: number;
	title: string | null;
}

export interface ModelItem {
	readonly id: number;
	readonly kind: "person" | "process" | "observed";
	readonly text: string;
	readonly acceptedAt: number;
	/** Null once a turn has taken it, or it has ended. */
	waits: boolean;
	turn: string | null;
	disposition: string | null;
}

export interface ModelTurn {
	readonly id: string;
	readonly token: number;
	readonly session: ModelSession;
	/** Whether it contains a person's message: only then may more of theirs join. */
	readonly speaks: boolean;
	/** Of the node that has it. */
	readonly epoch: number;
	nextIndex: number;
}

/** One undo or retry: the rows it hides while it is not lifted. */
interface Hiding {
	readonly by: "undo" | "retry";
	readonly live: ModelSession;
	readonly liveSeq: number;
	readonly rows: ReadonlySet<ModelRow>;
	lifted: boolean;
}

interface Segment {
	readonly session: ModelSession;
	readonly rows: readonly ModelRow[];
}

export class ModelConversation {
	readonly id: string;
	readonly person: string;
	readonly sessions: ModelSession[] = [];
	readonly items: ModelItem[] = [];
	readonly #hidings: Hiding[] = [];
	/** The last one was live most recently. */
	readonly #endings: ModelSession[] = [];
	turn: ModelTurn | null = null;
	token = 0;
	override: string | null = null;

	constructor(id: string, person: string) {
		this.id = id;
		this.person = person;
	}

	get live(): ModelSession | null {
		return this.sessions.find((session) => session.ended === null) ?? null;
	}

	get waiting(): ModelItem[] {
		return this.items.filter((item) => item.waits);
	}

	get messageCount(): number {
		return this.sessions.flatMap((session) => session.rows).filter((row) => this.#counts(row)).length;
	}

	isHidden(row: ModelRow): boolean {
		return this.#hidings.some((hiding) => !hiding.lifted && hiding.rows.has(row));
	}

	#counts(row: ModelRow): boolean {
		return row.counted && !this.isHidden(row);
	}

	/** Everything in a session, including hidden rows: the visible part of its bases, then its own rows. */
	transcript(session: ModelSession): ModelRow[] {
		return segments(session).flatMap(({ rows }) => rows);
	}

	messages(session: ModelSession): number {
		if (session.ended !== null) return session.counted;
		return this.transcript(session).filter((row) => this.#counts(row)).length;
	}

	append(
		session: ModelSession,
		row: Pick<ModelRow, "role" | "content" | "turn"> & Partial<Pick<ModelRow, "kind" | "counted">>,
	): ModelRow {
		const added = { counted: row.role !== "meta", ...row, session, seq: session.rows.length + 1 };
		session.rows.push(added);
		return added;
	}

	open(now: number, previous: ModelSession | null, more: Partial<ModelSession> = {}): ModelSession {
		const session: ModelSession = {
			id: "",
			conversation: this,
			rows: [],
			base: null,
			previous,
			cap: MAX_MESSAGES,
			lastActivityAt: now,
			hadActivity: false,
			noticePending: false,
			suspended: false,
			ended: null,
			finalised: false,
			counted: 0,
			title: null,
			...more,
		};
		this.sessions.push(session);
		return session;
	}

	end(session: ModelSession, reason: EndReason): void {
		session.counted = this.messages(session);
		session.ended = reason;
		session.finalised = false;
		this.#endings.push(session);
	}

	revive(session: ModelSession, now: number): void {
		session.ended = null;
		session.suspended = false;
		session.lastActivityAt = now;
		session.cap = this.messages(session) + MAX_MESSAGES;
	}

	get last(): ModelSession | null {
		return this.live ?? this.#endings.at(-1) ?? null;
	}

	/** The session of a turn over a message, after a possible boundary; arrivedAt is null for internal events. */
	sessionFor(arrivedAt: number | null, now: number): ModelSession | "suspended" {
		const last = this.last;
		if (!last) return this.open(now, null);
		if (last.ended !== null) return this.succeed(last, now, false);
		if (arrivedAt === null) return last.suspended ? "suspended" : last;
		const reason = this.#boundary(last, arrivedAt);
		if (reason === null) return last;
		this.end(last, reason);
		return this.succeed(last, now, false);
	}

	#boundary(session: ModelSession, at: number): EndReason | null {
		if (session.suspended) return "suspended";
		if (this.waiting.some((item) => item.kind !== "person")) return null;
		if (at > session.lastActivityAt + IDLE_MS) return "idle";
		return this.messages(session) >= session.cap ? "message_limit" : null;
	}

	succeed(ended: ModelSession, now: number, userNotified: boolean): ModelSession {
		const told = userNotified || !ended.hadActivity;
		const session = this.open(now, ended, { noticePending: !told });
		const carried = ended.rows.find((row) => row.kind === "carry_over");
		if (ended.hadActivity)
			this.append(session, { role: "meta", kind: "carry_over", content: null, turn: null });
		else if (carried)
			this.append(session, { role: "meta", kind: "carry_over", content: carried.content, turn: null });
		return session;
	}

	startTurn(id: string, session: ModelSession, speaks: boolean, epoch: number, nextIndex = 0): ModelTurn {
		this.turn = { id, token: ++this.token, session, speaks, epoch, nextIndex };
		return this.turn;
	}

	/** Ends every message of the running turn; returns the turn. */
	endTurn(disposition: "completed" | "failed" | "stopped"): string | null {
		const { turn } = this;
		if (!turn) return null;
		const items = this.items.filter((item) => item.turn === turn.id);
		const many = items.length > 1 ? "merged" : "answered";
		for (const item of items) item.disposition = disposition === "completed" ? many : disposition;
		this.turn = null;
		return turn.id;
	}

	/** The person's turns within reach of undo, oldest first, each as its visible rows. */
	#turns(live: ModelSession): ModelRow[][] {
		const groups: ModelRow[][] = [];
		for (const row of reach(live).flatMap(({ rows }) => rows)) {
			if (row.role !== "user" || !this.#counts(row)) continue;
			const last = groups.at(-1);
			if (last && row.turn !== null && last[0]?.turn === row.turn) last.push(row);
			else groups.push([row]);
		}
		return groups;
	}

	undo(n: number): { rows: number; messages: number; turns: number; text: string | null } {
		const groups = this.live ? this.#turns(this.live).slice(-n) : [];
		const first = groups[0]?.[0];
		if (!this.live || !first) return { rows: 0, messages: 0, turns: 0, text: null };
		const from = this.#from(this.live, first);
		const messages = this.#messagesIn(from);
		const rows = this.#hide("undo", this.live, from);
		return { rows, messages, turns: groups.length, text: first.content };
	}

	/** As a person counts: messages of people, and answers to them. */
	#messagesIn(rows: Iterable<ModelRow>): number {
		return [...rows].filter(
			(row) =>
				row.counted &&
				!this.isHidden(row) &&
				(row.role === "user" || (row.role === "assistant" && row.content !== "")),
		).length;
	}

	/** Returns the number of hidden rows, and whether a person's turn is repeated: copied messages have none. Null: there is nothing to retry. */
	retry(): { readonly hidden: number; readonly speaks: boolean } | null {
		const { live } = this;
		const first = live && !live.suspended ? this.#turns(live).at(-1)?.[0] : undefined;
		if (!live || !first) return null;
		const said = this.#from(live, first).filter(
			(row) => (row.role === "assistant" || row.role === "tool") && !this.isHidden(row),
		);
		return { hidden: this.#hide("retry", live, said), speaks: first.turn !== null };
	}

	/** From a row on, within the live session; a base without visible rows is left unchanged. */
	#from(live: ModelSession, first: ModelRow): ModelRow[] {
		const parts = segments(live);
		return parts
			.slice(parts.findIndex(({ session }) => session === first.session))
			.map(({ session, rows }) => rows.filter((row) => session !== first.session || row.seq >= first.seq))
			.filter((rows) => rows.some((row) => !this.isHidden(row)))
			.flat();
	}

	#hide(by: "undo" | "retry", live: ModelSession, rows: readonly ModelRow[]): number {
		const visible = rows.filter((row) => !this.isHidden(row)).length;
		this.#hidings.push({ by, live, liveSeq: lastCounted(live), rows: new Set(rows), lifted: false });
		return visible;
	}

	/** The undo that can be lifted now, if any. */
	get redoable(): Hiding | undefined {
		const last = this.#hidings.findLast(
			({ by, live, lifted }) => by === "undo" && live === this.live && !lifted,
		);
		return last && last.liveSeq === lastCounted(last.live) ? last : undefined;
	}

	redo(hiding: Hiding): { rows: number; messages: number } {
		hiding.lifted = true;
		const rows = [...hiding.rows].filter((row) => !this.isHidden(row)).length;
		return { rows, messages: this.#messagesIn(hiding.rows) };
	}

	previousOf(session: ModelSession): ModelSession | null {
		return session.previous ?? this.sessions[this.sessions.indexOf(session) - 1] ?? null;
	}

	giveTitle(session: ModelSession, wanted: string): string {
		const taken = this.sessions.filter((one) => one !== session).map((one) => one.title?.toLowerCase());
		let title = cleanTitle(wanted);
		while (taken.includes(title.toLowerCase())) title = successorTitle(title);
		session.title = title;
		return title;
	}

	/** The source of a title, if there is none. */
	firstWords(session: ModelSession): string | null {
		return session.rows.find((row) => row.role === "user" && this.#counts(row))?.content ?? null;
	}
}

function segments(session: ModelSession): Segment[] {
	const own = { session, rows: session.rows };
	if (!session.base) return [own];
	const { session: base, seq } = session.base;
	const before = segments(base);
	return [...before.slice(0, -1), { session: base, rows: base.rows.slice(0, seq) }, own];
}

/** The part of a transcript that undo may hide: nothing before a branch point. */
function reach(session: ModelSession): Segment[] {
	const all = segments(session);
	for (let at: ModelSession = session; at.base; at = at.base.session)
		if (at.base.kind === "branch") return all.slice(all.findIndex((segment) => segment.session === at));
	return all;
}

function lastCounted(session: ModelSession): number {
	return session.rows.findLast((row) => row.counted)?.seq ?? 0;
}
