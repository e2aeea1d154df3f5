// Everything that the children were told is done, and whether the store agrees: all of it there, nothing of it twice.
import type { ConversationId } from "../../src/domain/index.ts";
import type { Message, Scope, Store, StoreEvent } from "../../src/store/index.ts";
import type { Ack, AckedEvent, AckedRow, Token } from "./acks.ts";

const OPERATOR: Scope = { kind: "operator" };
const PAGE = 500;

type Accepted = Extract<Ack, { op: "accepted" }>;
type Ended = Extract<Ack, { op: "ended" }>;
type Settled = Extract<Ack, { op: "settled" }>;

/** What one child acknowledged, before it was killed. */
export interface Acks {
	readonly accepted: Accepted[];
	readonly rows: AckedRow[];
	readonly ended: Ended[];
	readonly settled: Settled[];
}

/** Reads the events as a page or a command line does: by cursor, as they come. */
export class Follower {
	readonly events: StoreEvent[] = [];
	#cursor = "";

	async follow(store: Store): Promise<void> {
		for (;;) {
			const page = await store.events({ scope: OPERATOR, after: this.#cursor, limit: PAGE });
			if (page.kind !== "events") throw new Error("a follower lost its place");
			this.#cursor = page.cursor;
			if (page.events.length === 0) return;
			this.events.push(...page.events);
		}
	}
}

export class Ledger {
	readonly #all: Acks = { accepted: [], rows: [], ended: [], settled: [] };
	readonly #events = new Map<string, number>();
	readonly #held = new Map<string, number>();
	readonly #conversations = new Set<ConversationId>();
	readonly problems: string[] = [];
	acknowledged = 0;
	refused = 0;
	epoch = 0;
	#now: Acks = { accepted: [], rows: [], ended: [], settled: [] };

	/** Tokens that the next child must not be able to use: of turns that were running, and of some that had ended. */
	stale(): Token[] {
		return [...this.#held].map(([turn, token]) => ({ turn, token })).slice(-12);
	}

	/** Takes in what a child said until it was killed. */
	record(acks: readonly Ack[]): void {
		this.#now = { accepted: [], rows: [], ended: [], settled: [] };
		for (const ack of acks) this.#take(ack);
		this.#all.accepted.push(...this.#now.accepted);
		this.#all.rows.push(...this.#now.rows);
		this.#all.ended.push(...this.#now.ended);
		this.#all.settled.push(...this.#now.settled);
	}

	#take(ack: Ack): void {
		this.acknowledged++;
		switch (ack.op) {
			case "starting":
				return;
			case "opened":
				// A child that was killed before it could say so has had an epoch of its own.
				if (ack.epoch <= this.epoch) this.#report(`epoch ${ack.epoch} came after ${this.epoch}`);
				this.epoch = ack.epoch;
				return;
			case "refused":
				this.refused++;
				if (ack.code === null) this.#report(`a stale token of turn ${ack.turn} was accepted`);
				return;
			case "accepted":
				this.#conversations.add(ack.conversation);
				this.#now.accepted.push(ack);
				return;
			case "holds":
				this.#held.set(ack.turn, ack.token);
				return;
			case "rows":
				this.#now.rows.push(...ack.rows);
				return;
			case "ended":
				this.#now.ended.push(ack);
				return;
			case "settled":
				this.#now.settled.push(ack);
				return;
			case "happened":
				for (const event of ack.events) count(this.#events, keyOf(event));
				return;
			case "failed":
				this.#report(`a child failed: ${ack.message}`);
		}
	}

	/** What the last child acknowledged, row by row, and every invariant. */
	async checkLast(store: Store, follower: Follower): Promise<void> {
		await this.#checkAcks(store, this.#now);
		await follower.follow(store);
		this.#checkEvents(follower.events);
		const { problems } = await store.checkIntegrity({ scope: { kind: "operator" } });
		for (const problem of problems) this.#report(problem);
	}

	/** Everything that was ever acknowledged, and every transcript from its first row. */
	async checkAll(store: Store, follower: Follower): Promise<void> {
		await this.#checkAcks(store, this.#all);
		const anew = new Follower();
		await anew.follow(store);
		if (JSON.stringify(anew.events) !== JSON.stringify(follower.events))
			this.#report("a follower that began anew saw other events, or in another order");
		const texts = new Map<string, number>();
		for (const conversation of this.#conversations) {
			const sessions = await store.sessions({ scope: OPERATOR, conversation, limit: 100_000 });
			for (const { id } of sessions)
				this.#checkTranscript(
					id,
					await store.messages({ scope: OPERATOR, session: id, limit: 100_000, hidden: true }),
					texts,
				);
		}
		for (const [text, times] of texts) if (times > 1) this.#report(`"${text}" is there ${times} times`);
	}

	async #checkAcks(store: Store, acks: Acks): Promise<void> {
		await this.#each("inbound", acks.accepted, async ({ inbox, platformMessage, conversation }) => {
			const item = await store.inboxItem({ scope: OPERATOR, id: inbox });
			this.#compare(
				`inbound ${inbox}`,
				[item.platformMessage, item.conversation],
				[platformMessage, conversation],
			);
		});
		await this.#each("message", acks.rows, async ({ id, session, seq, text }) => {
			const page = { session, after: seq - 1, limit: 1, hidden: true };
			const [row] = await store.messages({ scope: OPERATOR, ...page });
			this.#compare(`message ${id}`, row && [row.id, row.seq, beginning(row)], [id, seq, text]);
		});
		await this.#each("turn", acks.ended, async ({ turn, state, deliveries }) => {
			const found = await store.turn({ scope: OPERATOR, id: turn });
			const ids = found.deliveries.map(({ id }) => id).filter((id) => deliveries.includes(id));
			this.#compare(`turn ${turn}`, [found.state, ids], [state, deliveries]);
			for (const { id, disposition } of found.inbox)
				if (disposition === null)
					this.#report(`inbound ${id} of turn ${turn}, which ended, has no disposition`);
		});
		await this.#each("delivery", acks.settled, async ({ delivery, state }) => {
			const found = await store.delivery({ scope: OPERATOR, id: delivery });
			this.#compare(`delivery ${delivery}`, found.state, state);
		});
	}

	/** Many reads under way at once, not all of them. What cannot be read is a problem like any other. */
	async #each<Item>(
		what: string,
		items: readonly Item[],
		check: (item: Item) => Promise<void>,
	): Promise<void> {
		const tolerant = (item: Item): Promise<void> =>
			check(item).catch((error: unknown) =>
				this.#report(`${what} ${JSON.stringify(item)}: ${String(error)}`),
			);
		for (let at = 0; at < items.length; at += PAGE)
			await Promise.all(items.slice(at, at + PAGE).map(tolerant));
	}

	#checkEvents(events: readonly StoreEvent[]): void {
		const seen = new Map<string, number>();
		const cursors = new Set<string>();
		const begun = new Set<string>();
		for (const event of events) {
			if (cursors.has(event.cursor)) this.#report(`event ${event.cursor} was seen twice`);
			cursors.add(event.cursor);
			if (event.turn !== null && event.type === "turn.begun") begun.add(event.turn);
			if (event.turn !== null && !begun.has(event.turn))
				this.#report(`${event.type} of turn ${event.turn} came before the turn had begun`);
			const times = count(seen, keyOf(event));
			if (times > 1 && ONCE.has(event.type)) this.#report(`${keyOf(event)} happened ${times} times`);
		}
		for (const [key, times] of this.#events)
			if ((seen.get(key) ?? 0) < times) this.#report(`${key} was acknowledged ${times} times and is missing`);
	}

	#checkTranscript(session: string, rows: readonly Message[], texts: Map<string, number>): void {
		for (const [index, row] of rows.entries()) {
			if (row.seq !== index + 1) this.#report(`session ${session} has seq ${row.seq} at place ${index + 1}`);
			if (row.role === "meta") continue;
			const text = beginning(row);
			count(texts, text);
			if (text.startsWith("stale")) this.#report(`a stale token wrote "${text}" into session ${session}`);
		}
	}

	#compare(what: string, found: unknown, wanted: unknown): void {
		const [is, must] = [JSON.stringify(found), JSON.stringify(wanted)];
		if (is !== must) this.#report(`${what} is ${is}; acknowledged was ${must}`);
	}

	#report(problem: string): void {
		this.problems.push(problem);
	}
}

/** Events that one thing can have once in its life. */
const ONCE = new Set(["inbound.accepted", "turn.begun", "turn.ended", "message.appended", "delivery.sent"]);

function keyOf({ type, conversation, turn, subject }: AckedEvent | StoreEvent): string {
	// An event that names no subject is told apart by its turn, or counted for its conversation.
	return [type, conversation, turn ?? "", subject ?? ""].join(" ");
}

function count(map: Map<string, number>, key: string): number {
	const times = (map.get(key) ?? 0) + 1;
	map.set(key, times);
	return times;
}

function beginning(row: Message): string {
	return String(row.content).slice(0, 40);
}
