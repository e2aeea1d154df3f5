// A store in this thread and in memory that outlives its owners, for tests that need thousands of lives and no disk. An owner can be
// killed at any write; its later requests are never answered. Faults are those of a disk: full, or a lost answer.
import { KeryxError } from "../../src/errors.ts";
import type { Drawn, Engine, ReadName, WriteName } from "../../src/store/engine.ts";
import { readOp, writeOp } from "../../src/store/operations/run.ts";
import { Connection } from "../../src/store/sqlite/connection.ts";

const NEVER = new Promise<never>(() => {});

/** What happens to a write. lost_answer: it is committed, and its caller gets an error. */
export type WriteFault = "full" | "lost_answer" | "die_before" | "die_after";

export class MemoryDatabase {
	readonly connection = Connection.inMemory();
	readonly #auditKey: Uint8Array;
	#epoch = 0;

	constructor(auditKey: Uint8Array) {
		this.#auditKey = auditKey;
	}

	/** The next owner. `fault` is called before each write; `died` at the owner's last one. */
	own(fault: (name: WriteName) => WriteFault | null = () => null, died: () => void = () => {}): MemoryEngine {
		const around = { epoch: ++this.#epoch, auditKey: this.#auditKey };
		return new MemoryEngine(this.connection, around, fault, died);
	}

	/** The newest event, read directly. */
	lastEvent(): number {
		const { id } = this.connection.db.prepare("SELECT max(id) AS id FROM events").get() as {
			id: number | null;
		};
		return id ?? 0;
	}

	/** The raw rows, for a verdict that trusts no operation. */
	rows<Row>(sql: string): Row[] {
		return this.connection.db.prepare(sql).all() as Row[];
	}

	close(): void {
		this.connection.db.close();
	}
}

class MemoryEngine implements Engine {
	readonly epoch: number;
	readonly #connection: Connection;
	readonly #around: { readonly epoch: number; readonly auditKey: Uint8Array };
	readonly #fault: (name: WriteName) => WriteFault | null;
	readonly #died: () => void;
	readonly #listeners = new Set<() => void>();
	isDead = false;

	constructor(
		connection: Connection,
		around: { readonly epoch: number; readonly auditKey: Uint8Array },
		fault: (name: WriteName) => WriteFault | null,
		died: () => void,
	) {
		this.#connection = connection;
		this.#around = around;
		this.#fault = fault;
		this.#died = died;
		this.epoch = around.epoch;
	}

	/** From now on nothing is answered. */
	kill(): void {
		if (this.isDead) return;
		this.isDead = true;
		this.#died();
	}

	write(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown> {
		if (this.isDead) return NEVER;
		const fault = this.#fault(name);
		if (fault === "die_before") this.kill();
		if (fault === "full") return Promise.reject(new KeryxError("store.full", "the disk is full"));
		if (this.isDead) return NEVER;
		const answer = this.#commit(name, args, drawn);
		if (fault === "die_after") this.kill();
		if (this.isDead) return NEVER;
		if (fault === "lost_answer") return Promise.reject(new KeryxError("store.io", "the answer was lost"));
		return answer;
	}

	read(name: ReadName, args: unknown): Promise<unknown> {
		if (this.isDead) return NEVER;
		try {
			return Promise.resolve(this.#connection.run(readOp(name, args, this.#around)));
		} catch (error) {
			return Promise.reject(error as Error);
		}
	}

	onCommit(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	async close(): Promise<void> {
		this.isDead = true;
	}

	#commit(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown> {
		const connection = this.#connection;
		const before = connection.changes();
		connection.control("BEGIN IMMEDIATE");
		try {
			const value = connection.run(writeOp(name, args, drawn, this.#around));
			connection.runLater();
			connection.control("COMMIT");
			if (connection.changes() > before) queueMicrotask(() => this.#tell());
			return Promise.resolve(value);
		} catch (error) {
			connection.forgetLater();
			connection.control("ROLLBACK");
			return Promise.reject(error as Error);
		}
	}

	#tell(): void {
		if (!this.isDead) for (const listener of this.#listeners) listener();
	}
}
