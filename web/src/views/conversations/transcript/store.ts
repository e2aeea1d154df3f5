// One conversation's transcript as far as it was read: a window of rows over its sessions, oldest first, that grows at both ends. Events
// add to it only if it reaches the end. Events during a read are kept and merged afterwards, so no row is missing or duplicated.
import { api } from "../../../api/index.ts";
import type { Delivery, LiveEvent, Message, Session } from "../../../api/types.ts";
import { noteRunning, takeDelta } from "../../../live/index.ts";
import { failureNotice, joinedNotices, type Notice, NoticeReader, noticeOf } from "./notices.ts";
import { appended, arranged, replacedTail, type Segment } from "./segments.ts";
import { type Fork, type Path, pathOf } from "./versions.ts";

export interface TranscriptState {
	readonly status: "loading" | "ready" | "failed";
	readonly error: unknown;
	readonly segments: readonly Segment[];
	/** There are older rows than the first one here. */
	readonly hasOlder: boolean;
	readonly isReadingOlder: boolean;
	/** Why older rows could not be read. */
	readonly olderError: unknown;
	/** The newest row is here, so new rows are added. */
	readonly isAtEnd: boolean;
	readonly notices: readonly Notice[];
	/** Points that have several versions of the rows that follow. */
	readonly forks: readonly Fork[];
	/** By session: the last row shown, if another version continues from there. */
	readonly cuts: ReadonlyMap<string, number>;
	/** By message id: the key under which its text was streamed. */
	readonly streamed: ReadonlyMap<number, string>;
}

export interface Spot {
	readonly session: string;
	readonly seq: number;
}

const PAGE = 200;
/** Sorts after every time. */
const LATEST = "9999";
const SESSIONS = 50;
/** The first load reads at least this many rows, if they exist. */
const FIRST = 60;
const MOST_KEPT = 500;
/** Minimum time between two reads of the sessions. */
const REFRESH_MS = 300;

export class Transcript {
	readonly #conversation: string;
	readonly #listeners = new Set<() => void>();
	/** In reading order. The oldest ones may not be known yet. */
	#sessions: readonly Session[] = [];
	/** The part of `#sessions` that is shown. */
	#path: Path = pathOf([]);
	/** Shows every version: a link leads to one that is otherwise hidden. */
	#isUncut = false;
	#hasOlderSessions = false;
	#late: Message[] = [];
	#replies = new Map<string, Delivery[]>();
	#reader: NoticeReader;
	#generation = 0;
	#refreshing: Promise<void> | null = null;
	#refreshAgain = false;
	#isReadingNewer = false;
	/** The window is being replaced, so the old one no longer grows. */
	#isLoading = false;
	/** The row that the window was loaded around. */
	#spot: Spot | undefined;
	/** Reads in progress. Rows that arrive meanwhile are kept, because the answer may be older than they are. */
	#reads = 0;
	#state: TranscriptState = {
		status: "loading",
		error: null,
		segments: [],
		hasOlder: false,
		isReadingOlder: false,
		olderError: null,
		isAtEnd: false,
		notices: [],
		forks: [],
		cuts: new Map(),
		streamed: new Map(),
	};

	constructor(conversation: string) {
		this.#conversation = conversation;
		this.#reader = new NoticeReader(conversation);
	}

	readonly state = (): TranscriptState => this.#state;

	readonly subscribe = (listener: () => void): (() => void) => {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	};

	/** Loads the end, or the rows around one row. The current rows stay until the new ones are read. */
	async load(spot?: Spot): Promise<void> {
		const generation = ++this.#generation;
		const reader = new NoticeReader(this.#conversation);
		this.#spot = spot;
		this.#isLoading = true;
		this.#reads++;
		if (this.#state.status === "failed") this.#set({ status: "loading", error: null });
		try {
			const [segments] = await Promise.all([this.#window(spot), reader.reach(LATEST)]);
			const notices = await noticesIn(segments, this.#hasBefore(segments), reader);
			if (generation !== this.#generation) return;
			this.#reader = reader;
			const isAtEnd = !spot || this.#reachesEnd(segments, spot);
			this.#set({
				status: "ready",
				error: null,
				segments,
				forks: this.#path.forks,
				cuts: this.#path.cuts,
				notices: joinedNotices(this.#state.notices, notices),
				isAtEnd,
				hasOlder: this.#hasBefore(segments),
				olderError: null,
			});
			if (isAtEnd) void this.#readPresent();
		} catch (error) {
			if (generation === this.#generation) this.#set({ status: "failed", error });
		} finally {
			if (generation === this.#generation) this.#isLoading = false;
			this.#reads--;
			this.#putLate();
		}
	}

	/** Loads again after events were missed. A person who followed a link is not moved to the end. */
	loadAgain(): Promise<void> {
		return this.load(this.#isLoading || !this.#state.isAtEnd ? this.#spot : undefined);
	}

	async readOlder(): Promise<void> {
		const { status, hasOlder, isReadingOlder, segments } = this.#state;
		const [first] = segments;
		if (status !== "ready" || this.#isLoading || !hasOlder || isReadingOlder || !first) return;
		const generation = this.#generation;
		this.#set({ isReadingOlder: true, olderError: null });
		try {
			const before = await this.#before(first);
			const read = before ? [before, ...segments] : segments;
			const notices = await noticesIn(read, before !== null && this.#hasBefore(read), this.#reader);
			if (generation !== this.#generation) return;
			const now = this.#state.segments;
			const joined =
				before && before.id === now[0]?.id
					? [joinedTop(before, now[0]), ...now.slice(1)]
					: [...(before ? [before] : []), ...now];
			this.#set({
				segments: joined,
				notices: joinedNotices(this.#state.notices, notices),
				hasOlder: before !== null && this.#hasBefore(joined),
			});
		} catch (error) {
			if (generation === this.#generation) this.#set({ olderError: error });
		} finally {
			this.#set({ isReadingOlder: false });
		}
	}

	/** Reads on towards the end, if the window does not reach it. */
	async readNewer(): Promise<void> {
		const { status, isAtEnd, segments } = this.#state;
		const last = segments.at(-1);
		if (status !== "ready" || this.#isLoading || isAtEnd || this.#isReadingNewer || !last) return;
		const generation = this.#generation;
		this.#isReadingNewer = true;
		try {
			const after = last.messages.at(-1)?.seq ?? 0;
			const read = (await api.messages({ session: last.id, after, limit: PAGE })).messages;
			if (generation !== this.#generation) return;
			const messages = this.#shownOf(last.id, read);
			const next = messages.length < PAGE ? this.#after(last.id) : null;
			const grown = { ...last, messages: [...last.messages, ...messages] };
			const opened: Segment[] = next ? [{ id: next.id, session: next, messages: [], isWhole: true }] : [];
			this.#set({
				segments: [...this.#state.segments.slice(0, -1), grown, ...opened],
				isAtEnd: messages.length < PAGE && next === null,
			});
			this.#putLate();
		} catch {
			// Scrolling on, or the button that jumps to the end, reads again.
		} finally {
			this.#isReadingNewer = false;
		}
	}

	/** Applies an event of this conversation. */
	take(event: LiveEvent): void {
		const { type, turn, facts, message, delivery } = event;
		if (type === "message.appended" && message) {
			// A row that was read before its event came keeps its key: with another one it would be drawn anew, folded.
			if (turn !== null && facts.index !== undefined && !this.#hasRow(message))
				this.#nameAsStreamed(message.id, `${turn}:${facts.index}`);
			this.#late = [...this.#late.slice(-MOST_KEPT), message];
			this.#putLate();
			this.#refreshSessions();
		} else if (type === "delivery.pending" && delivery) this.#takeDelivery(delivery);
		else if (type === "turn.ended" && turn !== null) {
			this.#tellFailure(turn, facts.outcome, event.at);
			this.#refreshSessions();
		} else if (type.startsWith("transcript.")) void this.#readTail();
		else if (type.startsWith("session.")) this.#refreshSessions();
	}

	#set(change: Partial<TranscriptState>): void {
		this.#state = { ...this.#state, ...change };
		for (const listener of this.#listeners) listener();
	}

	async #readSessions(): Promise<void> {
		const { sessions } = await api.sessions({ conversation: this.#conversation, limit: SESSIONS });
		const known = new Set(sessions.map(({ id }) => id));
		const older = this.#sessions.filter(({ id }) => !known.has(id));
		const all = arranged([...sessions, ...older.reverse()]);
		this.#hasOlderSessions = older.length > 0 ? this.#hasOlderSessions : sessions.length === SESSIONS;
		const live = sessions[0]?.live ?? null;
		const isKnown = live === null || all.some(({ id }) => id === live);
		this.#takeSessions(isKnown ? all : arranged([...all.toReversed(), await api.session({ session: live })]));
	}

	#takeSessions(sessions: readonly Session[]): void {
		this.#sessions = sessions;
		this.#path = this.#isUncut ? { sessions, cuts: new Map(), forks: [] } : pathOf(sessions);
	}

	get #order(): readonly Session[] {
		return this.#path.sessions;
	}

	/** Filters a session's rows to those that are shown. */
	#shownOf(session: string, messages: readonly Message[]): Message[] {
		const cut = this.#path.cuts.get(session) ?? Number.POSITIVE_INFINITY;
		return messages.filter(({ seq }) => seq <= cut);
	}

	/** The newest page of a session's shown rows. */
	#readEnd(session: string, before?: number): Promise<{ readonly messages: Message[] }> {
		const cut = this.#path.cuts.get(session);
		const limit = Math.min(
			before ?? Number.POSITIVE_INFINITY,
			cut === undefined ? Number.POSITIVE_INFINITY : cut + 1,
		);
		return api.messages({ session, limit: PAGE, ...(Number.isFinite(limit) && { before: limit }) });
	}

	async #readOlderSessions(): Promise<void> {
		const oldest = this.#sessions.find(({ id, live }) => id !== live) ?? this.#sessions[0];
		if (!oldest) return;
		const { sessions } = await api.sessions({
			conversation: this.#conversation,
			limit: SESSIONS,
			before: oldest.id,
		});
		const known = new Set(this.#sessions.map(({ id }) => id));
		this.#takeSessions([...sessions.filter(({ id }) => !known.has(id)).reverse(), ...this.#sessions]);
		this.#hasOlderSessions = sessions.length === SESSIONS;
	}

	async #reachSession(session: string): Promise<void> {
		while (this.#hasOlderSessions && !this.#sessions.some(({ id }) => id === session))
			await this.#readOlderSessions();
	}

	async #window(spot: Spot | undefined): Promise<Segment[]> {
		this.#isUncut = false;
		await this.#readSessions();
		if (!spot) return this.#end();
		await this.#reachSession(spot.session);
		const cut = this.#path.cuts.get(spot.session) ?? Number.POSITIVE_INFINITY;
		this.#isUncut = spot.seq > cut || !this.#order.some(({ id }) => id === spot.session);
		this.#takeSessions(this.#sessions);
		return this.#around(spot);
	}

	async #end(): Promise<Segment[]> {
		const segments: Segment[] = [];
		let rows = 0;
		for (const session of this.#order.toReversed()) {
			const { messages } = await this.#readEnd(session.id);
			segments.unshift({ id: session.id, session, messages, isWhole: messages.length < PAGE });
			rows += messages.length;
			if (rows >= FIRST || messages.length === PAGE) break;
		}
		return segments;
	}

	async #around({ session, seq }: Spot): Promise<Segment[]> {
		const [before, after] = await Promise.all([
			api.messages({ session, before: seq, limit: PAGE / 2 }),
			api.messages({ session, after: Math.max(0, seq - 1), limit: PAGE / 2 }),
		]);
		return [
			{
				id: session,
				session: this.#order.find(({ id }) => id === session) ?? null,
				messages: this.#shownOf(session, [...before.messages, ...after.messages]),
				isWhole: before.messages.length < PAGE / 2,
			},
		];
	}

	#reachesEnd(segments: readonly Segment[], { seq }: Spot): boolean {
		const last = segments.at(-1);
		const behind = last?.messages.filter((message) => message.seq >= seq).length ?? 0;
		return behind < PAGE / 2 && last?.id === this.#order.at(-1)?.id;
	}

	/** Reads the rows before the first one: from the same session, or from the end of the previous one. */
	async #before(first: Segment): Promise<Segment | null> {
		if (!first.isWhole) {
			const before = first.messages[0]?.seq;
			const { messages } = await this.#readEnd(first.id, before);
			return { ...first, messages, isWhole: messages.length < PAGE };
		}
		for (;;) {
			const index = this.#order.findIndex(({ id }) => id === first.id);
			const session = this.#order[index - 1];
			if (session) {
				const { messages } = await this.#readEnd(session.id);
				return { id: session.id, session, messages, isWhole: messages.length < PAGE };
			}
			if (!this.#hasOlderSessions) return null;
			await this.#readOlderSessions();
		}
	}

	#hasBefore(segments: readonly Segment[]): boolean {
		const [first] = segments;
		if (!first) return false;
		return !first.isWhole || this.#hasOlderSessions || this.#order[0]?.id !== first.id;
	}

	#after(session: string): Session | null {
		return this.#order[this.#order.findIndex(({ id }) => id === session) + 1] ?? null;
	}

	/** Appends the rows that arrived, if the end is shown and nothing is being read. */
	#putLate(): void {
		const { status, isAtEnd } = this.#state;
		if (this.#reads > 0 || status !== "ready" || !isAtEnd || this.#late.length === 0) return;
		let { segments } = this.#state;
		for (const message of this.#late) segments = appended(segments, message);
		const isNew =
			segments.at(-1)?.session === null && this.#state.segments.at(-1)?.id !== segments.at(-1)?.id;
		this.#late = [];
		this.#set({ segments });
		if (isNew) this.#refreshSessions();
	}

	#hasRow({ session, id }: Message): boolean {
		const segment = this.#state.segments.findLast((one) => one.id === session);
		return segment?.messages.findLast((one) => one.id <= id)?.id === id;
	}

	#nameAsStreamed(id: number, name: string): void {
		const streamed = new Map(this.#state.streamed).set(id, name);
		if (streamed.size > MOST_KEPT) streamed.delete(streamed.keys().next().value ?? 0);
		this.#state = { ...this.#state, streamed };
	}

	/** Reads counters, titles and ends of sessions again, and which session is live. */
	#refreshSessions(): void {
		this.#refreshAgain = true;
		this.#refreshing ??= this.#refresh().finally(() => {
			this.#refreshing = null;
		});
	}

	async #refresh(): Promise<void> {
		while (this.#refreshAgain) {
			this.#refreshAgain = false;
			const before = signatureOf(this.#path);
			try {
				await this.#readSessions();
			} catch {
				// The previous state stays; the next event reads again.
				return;
			}
			// A different version is shown now.
			if (signatureOf(this.#path) !== before && this.#state.status === "ready") return this.load();
			const { segments, isAtEnd, status } = this.#state;
			const infos = new Map(this.#order.map((session) => [session.id, session]));
			const updated = segments.map((segment) => ({
				...segment,
				session: infos.get(segment.id) ?? segment.session,
			}));
			const last = this.#order.at(-1);
			if (status === "ready" && isAtEnd && last && updated.at(-1)?.id !== last.id) {
				// Another session is live. A fresh one begins below; an earlier one is shown with its own rows.
				if (last.messages > 0 || updated.some(({ id }) => id === last.id)) return this.load();
				updated.push({ id: last.id, session: last, messages: [], isWhole: true });
			}
			this.#set({ segments: updated });
			await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
		}
	}

	/** Rows were hidden or shown again. Reads the last segments again, because a session may continue an earlier one. */
	async #readTail(): Promise<void> {
		const generation = this.#generation;
		if (this.#state.status !== "ready" || !this.#state.isAtEnd) return;
		this.#reads++;
		try {
			for (const { id } of this.#state.segments.slice(-3)) {
				const { messages } = await this.#readEnd(id);
				if (generation !== this.#generation) return;
				this.#set({ segments: replacedTail(this.#state.segments, id, messages, PAGE) });
			}
		} catch {
			await this.load();
		} finally {
			this.#reads--;
			this.#putLate();
		}
		this.#refreshSessions();
	}

	#takeDelivery(delivery: Delivery): void {
		const { turn } = delivery;
		const notice = noticeOf(delivery);
		if (notice) this.#addNotice(notice);
		else if (turn !== null) this.#replies.set(turn, [...(this.#replies.get(turn) ?? []), delivery]);
	}

	#addNotice(notice: Notice): void {
		this.#set({ notices: joinedNotices(this.#state.notices, [notice]) });
	}

	#tellFailure(turn: string, outcome: string, at: string): void {
		const failure = failureNotice(turn, this.#replies.get(turn) ?? [], at);
		this.#replies.delete(turn);
		if (outcome === "failed" && failure) this.#addNotice(failure);
	}

	/** Reads the present state, which is in no row: a running turn and its text so far. */
	async #readPresent(): Promise<void> {
		const turnId = this.#state.segments.at(-1)?.messages.at(-1)?.turn ?? null;
		try {
			const { partial } = await api.partial({ conversation: this.#conversation });
			if (partial) {
				noteRunning(this.#conversation, partial.turn);
				takeDelta(partial);
			}
			if (turnId === null) return;
			const turn = await api.turn({ turn: turnId });
			if (turn.state === "running") noteRunning(this.#conversation, turnId);
		} catch {
			// The transcript is loaded; the next event updates the rest.
		}
	}
}

function signatureOf({ cuts, forks }: Path): string {
	return JSON.stringify([[...cuts], forks]);
}

/** Notices of these rows. If these are the first rows, also earlier notices. */
async function noticesIn(
	segments: readonly Segment[],
	hasOlder: boolean,
	reader: NoticeReader,
): Promise<readonly Notice[]> {
	const rows = segments.flatMap(({ messages }) => messages);
	await reader.reach(hasOlder ? (rows[0]?.created_at ?? "") : "");
	return reader.notices((of) => rows.findLast(({ turn }) => turn === of)?.created_at);
}

function joinedTop(before: Segment, first: Segment): Segment {
	return { ...first, messages: [...before.messages, ...first.messages], isWhole: before.isWhole };
}
