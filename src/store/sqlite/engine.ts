// The SQLite engine: one writer thread, and reader threads started on demand. Operations called in the same turn of the event loop travel
// in one message; those that arrive during a commit share the next one.
import { KeryxError } from "../../errors.ts";
import type { Drawn, Engine, MigrationProgress, ReadName, StoreFacts, WriteName } from "../engine.ts";
import type { ConnectionSettings } from "./connection.ts";
import { Readers } from "./readers.ts";
import { Thread } from "./thread.ts";

/** Small reads that a gateway makes at its start, and now and then without a message: for them alone, no thread is started or kept. */
const SMALL: ReadonlySet<ReadName> = new Set([
	"auditStanding",
	"confirmationWork",
	"dueConfirmationNotices",
	"dueJobs",
	"dueProcessChecks",
	"dueSessions",
	"dueTurns",
	"events",
	"homeChannels",
	"lastEventAt",
	"oldProcesses",
	"openRestores",
	"unfinishedProcesses",
	"unknownDeliveries",
	"unsettledRuns",
	"waitingItems",
] satisfies ReadName[]);

export interface SqliteOptions {
	/** A file's path, or ":memory:" for tests: then reads run on the writer's connection, and nobody owns it. */
	readonly path: string;
	readonly startedAt: number;
	/** read: no owner, no writes; for a command, whether or not Keryx is running. */
	readonly access: "own" | "read";
	/** The audit key; without it nothing is audited. */
	readonly auditKey?: Uint8Array | undefined;
	/** Called when the owner can acknowledge nothing any more, and with null when it can again. */
	readonly onTrouble?: ((trouble: KeryxError | null) => void) | undefined;
	/** Called before the store is open, if it has an earlier version. */
	readonly onMigration?: ((progress: MigrationProgress) => void) | undefined;
	/** The witness file; without it none is kept. */
	readonly auditWitness?: string | undefined;
}

export async function openSqlite(options: SqliteOptions): Promise<SqliteEngine> {
	const { path, startedAt, access, auditKey = null, auditWitness = null, onTrouble, onMigration } = options;
	const alone = path === ":memory:";
	const settings = { path, startedAt, alone, auditKey, auditWitness: alone ? null : auditWitness };
	if (access === "read") {
		const readers = new Readers(() => Thread.start({ ...settings, role: "reader" }));
		await readers.start();
		return new SqliteEngine(undefined, readers, () => Thread.start({ ...settings, role: "reader" }));
	}
	const writer = await Thread.start({ ...settings, role: "writer" }, onTrouble, onMigration);
	const { database } = writer;
	const reader = () => Thread.start({ ...settings, role: "reader", database });
	return alone ? new SqliteEngine(writer) : new SqliteEngine(writer, new Readers(reader), reader);
}

class SqliteEngine implements Engine {
	readonly epoch: number;
	readonly #writer: Thread | undefined;
	readonly #readers: Readers | undefined;
	readonly #copier: (() => Promise<Thread>) | undefined;
	readonly #listeners = new Set<() => void>();
	#closing: Promise<void> | undefined;

	constructor(writer: Thread | undefined, readers?: Readers, copier?: () => Promise<Thread>) {
		this.#writer = writer;
		this.#readers = readers;
		this.#copier = copier;
		this.epoch = writer?.epoch ?? 0;
		writer?.onChange(() => {
			for (const listener of this.#listeners) listener();
		});
	}

	write(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown> {
		if (this.#closing) return Promise.reject(closed());
		if (!this.#writer)
			return Promise.reject(
				new KeryxError("store.readonly", "the store is open for reading only", {
					hint: "open it as its owner",
				}),
			);
		return this.#writer.ask({ id: 0, kind: "write", name, args, drawn });
	}

	read(name: ReadName, args: unknown): Promise<unknown> {
		if (this.#closing) return Promise.reject(closed());
		const request = { id: 0, kind: "read", name, args } as const;
		const isSmall = SMALL.has(name);
		const isForWriter = !this.#readers || (!this.#readers.isRunning && isSmall);
		if (this.#writer && isForWriter) return this.#writer.ask(request);
		const readers = this.#readers as Readers;
		// A process that does not own the store searches once: a second thread would be there too late.
		if (this.#writer && name === "search") return readers.search(args);
		return readers.ask(request, this.#writer && isSmall ? "in passing" : "due");
	}

	/** On a separate thread: it may take minutes, and no read should wait for it. */
	async copyTo(path: string): Promise<StoreFacts> {
		if (this.#closing) throw closed();
		if (!this.#copier) throw new KeryxError("store.unsupported", "a store in memory cannot be copied");
		const thread = await this.#copier();
		try {
			return (await thread.ask({ id: 0, kind: "copy", path })) as StoreFacts;
		} finally {
			await thread.close();
		}
	}

	/** The writer's own settings; another connection's would say nothing about them. */
	writerSettings(): Promise<ConnectionSettings> {
		return (this.#writer as Thread).ask({ id: 0, kind: "settings" }) as Promise<ConnectionSettings>;
	}

	onCommit(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Earlier requests are answered first, later ones refused. */
	close(): Promise<void> {
		this.#closing ??= this.#close();
		return this.#closing;
	}

	async #close(): Promise<void> {
		// Readers first: then the writer closes the last connection, and SQLite checkpoints its log.
		await this.#readers?.close();
		await this.#writer?.close();
	}
}

function closed(): KeryxError {
	return new KeryxError("store.closed", "the store is closed");
}
