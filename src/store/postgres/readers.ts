// Reads: each in its own read-only transaction with one snapshot, on as many connections as needed at once.
import { KeryxError } from "../../errors.ts";
import type { Op, Query } from "../query.ts";
import type { ServerSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { isCollision, isLost, toKeryxError } from "./faults.ts";

/** A longer statement is given up. */
const STATEMENT_MS = 600_000;

export class Readers {
	readonly #settings: ServerSettings;
	readonly #most: number;
	readonly #idle: Connection[] = [];
	readonly #waiting: ((connection: Connection | null) => void)[] = [];
	#open = 0;
	#closed = false;

	constructor(settings: ServerSettings, most: number) {
		this.#settings = settings;
		this.#most = most;
	}

	/** A lost connection is reopened, and a read that collided with a migration made again, once. */
	async run(begin: () => Op<unknown>): Promise<unknown> {
		for (let attempt = 0; ; attempt++) {
			if (this.#closed) throw new KeryxError("store.closed", "the store is closed");
			try {
				const connection = await this.#take();
				try {
					return await read(connection, begin());
				} finally {
					this.#giveBack(connection);
				}
			} catch (error) {
				if (error instanceof KeryxError) throw error;
				if (attempt === 0 && (isLost(error) || isCollision(error))) continue;
				throw toKeryxError(error);
			}
		}
	}

	async close(): Promise<void> {
		this.#closed = true;
		for (const wake of this.#waiting.splice(0)) wake(null);
		await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
	}

	async #take(): Promise<Connection> {
		for (;;) {
			const idle = this.#idle.pop();
			if (idle && !idle.isLost) return idle;
			if (idle) {
				this.#open--;
				continue;
			}
			if (this.#open < this.#most) return await this.#connect();
			const given = await new Promise<Connection | null>((resolve) => this.#waiting.push(resolve));
			if (given) return given;
			if (this.#closed) throw new KeryxError("store.closed", "the store is closed");
		}
	}

	async #connect(): Promise<Connection> {
		this.#open++;
		try {
			return await Connection.open(this.#settings, {
				name: "keryx reader",
				timeoutMs: STATEMENT_MS,
				settings: [
					"SET default_transaction_isolation = 'repeatable read'",
					"SET default_transaction_read_only = on",
				],
			});
		} catch (error) {
			this.#open--;
			this.#waiting.shift()?.(null);
			throw error;
		}
	}

	#giveBack(connection: Connection): void {
		if (this.#closed || connection.isLost) {
			this.#open--;
			void connection.close();
			this.#waiting.shift()?.(null);
			return;
		}
		const next = this.#waiting.shift();
		if (next) next(connection);
		else this.#idle.push(connection);
	}
}

/** BEGIN is sent with the first statement, and nobody waits for the end. */
async function read(connection: Connection, op: Op<unknown>): Promise<unknown> {
	const begun = connection.exec("BEGIN");
	begun.catch(() => {});
	try {
		let step = op.next();
		while (!step.done) step = op.next(await answerTo(connection, step.value));
		await begun;
		return step.value;
	} finally {
		connection.exec("ROLLBACK").catch(() => connection.drop());
	}
}

async function answerTo(connection: Connection, query: Query): Promise<unknown> {
	const { rows, count } = await connection.ask(query);
	if (query.mode === "all") return rows;
	return query.mode === "get" ? rows[0] : count;
}
