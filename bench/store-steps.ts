// The operations of many rounds at once, run in this thread as the writer runs them: one transaction for each step of all of them. For
// measuring what the operations themselves cost, without threads and promises.
import { performance } from "node:perf_hooks";
import type Database from "better-sqlite3";
import { resolvePolicy } from "../src/config/index.ts";
import type { WriteName } from "../src/store/engine.ts";
import { systemClock, systemIds } from "../src/store/index.ts";
import type { Accepted } from "../src/store/operations/inbox/inbox.ts";
import { writeOp } from "../src/store/operations/run.ts";
import type { BegunTurn } from "../src/store/operations/turns/turns.ts";
import { Connection } from "../src/store/sqlite/connection.ts";
import { PLATFORM, REPLY, ROUTING, sourceOf, TEXT } from "./store-data.ts";
import { LANES, type Pick } from "./store-rounds.ts";

const policy = resolvePolicy({ mode: "idle", max_messages: 0 }, { platform: PLATFORM, chatType: "dm" });
const ids = systemIds(systemClock);

/** Told how long each call of a statement took, in microseconds. */
export type Clocked = (step: string, sql: string, us: number) => void;

export class StoreSteps {
	readonly connection: Connection;
	/** What was asked and answered last, by step: what travels between the threads for one group. */
	readonly exchanged = new Map<WriteName, { readonly asked: unknown[]; readonly answered: unknown[] }>();
	#step = "";
	#said = 0;

	constructor(path: string, clocked?: Clocked) {
		this.connection = Connection.writer(path);
		this.connection.db.pragma("wal_autocheckpoint = 1000");
		if (clocked) clockStatements(this.connection.db, (sql, us) => clocked(this.#step, sql, us));
	}

	/** As many rounds as there are lanes. */
	rounds(pick: Pick): void {
		const lanes = Array.from({ length: LANES }, (_, lane) => pick(lane));
		const accepted = this.#together(
			"accept",
			lanes.map((n) => ({
				kind: "person",
				source: sourceOf(n),
				platformMessage: `${process.pid} step ${++this.#said}`,
				content: TEXT,
				routing: ROUTING,
				as: { kind: "accept" },
			})),
		) as Accepted[];
		const begun = this.#together(
			"beginTurn",
			accepted.map(({ conversation, id }) => ({
				conversation,
				inbox: [id],
				policy,
				context: "You are Keryx.",
				autoContinueFreshness: 3600,
				deadlineAt: Date.now() + 600_000,
			})),
		) as BegunTurn[];
		this.#together(
			"endTurn",
			begun.map(({ turn, token, destination, nextIndex }) => ({
				turn,
				token,
				outcome: { kind: "completed" },
				messages: [{ role: "assistant", content: REPLY, index: nextIndex }],
				deliveries: [{ id: `${turn}:1`, kind: "reply", destination, body: { text: REPLY, plain: REPLY } }],
				policy,
			})),
		);
		const [claimed] = this.#together("claimDeliveries", [{ limit: LANES, timeoutMs: 60_000 }]) as {
			deliveries: { n: number; id: string; claim: string }[];
		}[];
		this.#together(
			"settleDelivery",
			(claimed?.deliveries ?? []).map(({ n, id, claim }) => ({
				id,
				claim,
				settlement: { kind: "sent", receipt: `r${n}` },
			})),
		);
	}

	close(): void {
		this.connection.db.close();
	}

	#together(name: WriteName, asked: unknown[]): unknown[] {
		const { connection } = this;
		this.#step = name;
		connection.control("BEGIN IMMEDIATE");
		const answered = asked.map((args) => {
			const drawn = { now: Date.now(), uuids: [ids.uuid(), ids.uuid()] };
			return connection.run(writeOp(name, args, drawn, { epoch: 1, auditKey: null }));
		});
		connection.runLater();
		connection.control("COMMIT");
		this.exchanged.set(name, { asked, answered });
		return answered;
	}
}

/** Puts a clock around every statement that is prepared from now on. */
function clockStatements(db: Database.Database, clocked: (sql: string, us: number) => void): void {
	const prepare = db.prepare.bind(db);
	db.prepare = ((sql: string) => {
		const statement = prepare(sql);
		for (const call of ["get", "all", "run"] as const) {
			const plain = statement[call].bind(statement) as (...params: unknown[]) => unknown;
			Object.defineProperty(statement, call, {
				value: (...params: unknown[]) => {
					const began = performance.now();
					const result = plain(...params);
					clocked(sql, (performance.now() - began) * 1000);
					return result;
				},
			});
		}
		return statement;
	}) as typeof db.prepare;
}
