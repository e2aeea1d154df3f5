// One transaction of the writer: several operations, one after the other. Each sees the store as if alone, because one transaction of the
// store writes at a time. Predicted answers are not awaited: the operation continues with the prediction, and before the commit every
// prediction is compared with the real answer. If one differs, nothing is committed and everything runs again without predictions.
import { KeryxError } from "../../errors.ts";
import { insertEvent } from "../operations/events.ts";
import type { Op, Query, Value } from "../query.ts";
import { type Answer, type Connection, plain } from "./connection.ts";
import { Predictions } from "./predictions.ts";

/** The first of this many unused message ids, all from `from` on. */
export type DrawIds = (from: number, count: number) => Promise<number>;

export interface Reply {
	readonly ok: boolean;
	readonly value?: unknown;
	readonly error?: unknown;
}

/** A prediction was wrong. */
export class Mistaken extends Error {}

/** An operation failed after writing something: its whole transaction is lost. */
export class Spoilt extends Error {
	constructor(cause: unknown) {
		super("an operation failed half-way", { cause });
	}
}

interface Pending {
	readonly query: Query;
	readonly predicted: unknown;
	readonly answer: Promise<Answer>;
}

export class Transaction {
	readonly #connection: Connection;
	readonly #predictions: Predictions | null;
	readonly #drawIds: DrawIds;
	#later: Query[] = [];
	#pending: Pending[] = [];
	#wrote = false;
	#everWrote = false;

	/** Without `predictions` every answer is awaited. */
	constructor(connection: Connection, predictions: Predictions | null, drawIds: DrawIds) {
		this.#connection = connection;
		this.#predictions = predictions;
		this.#drawIds = drawIds;
	}

	/** Runs one operation. Refused alone as long as it has written nothing; otherwise throws. */
	async run(op: Op<unknown>): Promise<Reply> {
		const later = this.#later.length;
		this.#wrote = false;
		try {
			let step = op.next();
			while (!step.done) {
				const answer = this.#answerTo(step.value);
				step = op.next(answer instanceof Promise ? await answer : answer);
			}
			return { ok: true, value: step.value };
		} catch (error) {
			// It may have been misled by a prediction, or by an earlier failed statement.
			await this.settle();
			if (!(error instanceof KeryxError)) throw error;
			if (this.#wrote) throw new Spoilt(error);
			this.#later.length = later;
			return { ok: false, error };
		}
	}

	/** Compares predictions with answers, in the order they were sent: a wrong prediction probably caused a later failure. */
	async settle(): Promise<void> {
		const pending = this.#pending;
		this.#pending = [];
		const answers = await Promise.allSettled(pending.map(({ answer }) => answer));
		pending.forEach(({ query, predicted }, n) => {
			const answer = answers[n] as PromiseSettledResult<Answer>;
			if (answer.status === "rejected") throw answer.reason;
			const real = inMode(query, answer.value);
			if (this.#predictions?.compare(query, predicted, real) === false) throw new Mistaken();
		});
	}

	/** Sends everything that is left: deferred statements, events and the commit. */
	async commit(): Promise<void> {
		await this.settle();
		const rest = this.#sendLater();
		const committed = this.#connection.exec("COMMIT");
		await allAnswered([...rest, committed]);
		if ((await committed).command !== "COMMIT") throw new Error("the server took the transaction back");
	}

	/** Writes what was deferred so far: later operations see it. */
	async runLater(): Promise<void> {
		await this.settle();
		await allAnswered(this.#sendLater());
	}

	/** Whether any operation has written something, or will. */
	get hasWritten(): boolean {
		return this.#everWrote || this.#later.length > 0;
	}

	#sendLater(): Promise<unknown>[] {
		const later = this.#later;
		this.#later = [];
		if (later.length > 0) this.#everWrote = true;
		const sent: Promise<unknown>[] = [];
		const events: (readonly Value[])[] = [];
		for (const query of later)
			if (query.statement === insertEvent) events.push(query.params);
			else sent.push(this.#connection.ask(query));
		if (events.length > 0) sent.push(this.#connection.exec(...insertOf(events)));
		return sent;
	}

	#answerTo(query: Query): unknown {
		if (query.mode === "later") {
			this.#later.push(query);
			return undefined;
		}
		if (query.reserve) return this.#reserved(query, query.reserve);
		if (Predictions.writes(query)) this.#wrote = this.#everWrote = true;
		const predicted = this.#predictions?.answerTo(query);
		const answer = this.#connection.ask(query);
		if (predicted === undefined) return this.#waited(query, answer);
		// Checked before the commit; until then nobody else reads it.
		answer.catch(() => {});
		this.#pending.push({ query, predicted: predicted.value, answer });
		return predicted.value;
	}

	async #reserved(query: Query, { from, count }: NonNullable<Query["reserve"]>): Promise<unknown> {
		const [first, { rows }] = await Promise.all([this.#drawIds(from, count), this.#connection.ask(query)]);
		return { ...(rows[0] as object), id: first - 1 };
	}

	async #waited(query: Query, answer: Promise<Answer>): Promise<unknown> {
		const real = inMode(query, await answer);
		this.#predictions?.learn(query, real);
		return real;
	}
}

/** Throws the first failure: it made the server ignore the rest. */
async function allAnswered(sent: readonly Promise<unknown>[]): Promise<void> {
	const results = await Promise.allSettled(sent);
	const failed = results.find((result) => result.status === "rejected");
	if (failed) throw failed.reason;
}

function inMode({ mode }: Query, { rows, count }: Answer): unknown {
	if (mode === "all") return rows;
	return mode === "get" ? rows[0] : count;
}

/** One statement for all of them; the numbers follow their order. */
function insertOf(events: readonly (readonly Value[])[]): [text: string, values: Value[]] {
	return [INSERT_EVENTS, [JSON.stringify(events.map((event) => event.map(plain)))]];
}

const INSERT_EVENTS = `INSERT INTO events (at, type, conversation, session, turn, subject, facts)
	SELECT (e.v ->> 0)::bigint, e.v ->> 1, e.v ->> 2, e.v ->> 3, e.v ->> 4, e.v ->> 5, e.v ->> 6
	FROM json_array_elements($1::json) WITH ORDINALITY AS e (v, n) ORDER BY e.n`;
