// The PostgreSQL engine. Operations that wait share a transaction. Several writers can work side by side, and the database judges; one is
// the default. Reads have connections of their own. The engine never answers an operation before its commit is known.
import { setTimeout as pause } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import { type Drawn, type Engine, type ReadName, readOp, type WriteName, writeOp } from "../engine.ts";
import { SCHEMA_VERSION } from "../schema.ts";
import { type ServerSettings, serverSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { toKeryxError } from "./faults.ts";
import { Foretelling } from "./foretelling.ts";
import { Gate } from "./gate.ts";
import { keepOwnership, leave, ownerLost, RENEW_MS, renew, takeOwnership } from "./ownership.ts";
import { Readers } from "./readers.ts";
import { assertVersion, checkServer, migrate, openingFault, schemaVersion } from "./server.ts";
import { type Begin, Writer } from "./writer.ts";

/** Measured: a second one collides with the first more often than it helps, since what is unfinished is on few pages. */
const WRITERS = 1;
const READERS = 4;
/** A longer group would make the first in it wait for too much. */
const GROUP = 64;
/** How long the server may be gone before the next try, at most. */
const RETRY_MS = 1000;

export interface PostgresOptions {
	readonly url: string;
	readonly startedAt: number;
	/** read: no owner, no writes. */
	readonly access: "own" | "read";
	readonly auditKey?: Uint8Array | undefined;
	/** Told when nothing can be acknowledged any more, and with null when it can again. */
	readonly onTrouble?: ((trouble: KeryxError | null) => void) | undefined;
	/** Connections for writes and for reads, 1 and 4 where left out. */
	readonly writers?: number;
	readonly readers?: number;
}

export async function openPostgres(options: PostgresOptions): Promise<PostgresEngine> {
	const { writers = WRITERS, readers = READERS, startedAt } = options;
	const settings = serverSettings(options.url);
	try {
		await prepare(settings, options.access);
		if (options.access === "read") return new PostgresEngine(settings, { ...options, readers });
		const { epoch, connection } = await takeOwnership(settings, { startedAt, writers });
		const lastId = await lastMessage(connection);
		return new PostgresEngine(settings, {
			...options,
			readers,
			owner: { epoch, connection, writers, lastId },
		});
	} catch (error) {
		throw openingFault(error, options.url);
	}
}

/** For `keryx store migrate`. Answers the versions from before and after; null: there was no store. */
export async function migratePostgres(
	url: string,
): Promise<{ readonly from: number | null; readonly to: number }> {
	const settings = serverSettings(url);
	try {
		const connection = await Connection.open(settings, { name: "keryx migrate", timeoutMs: 0 });
		try {
			await checkServer(connection, settings);
			return { from: await migrate(connection, settings, "all"), to: SCHEMA_VERSION };
		} finally {
			await connection.close();
		}
	} catch (error) {
		throw openingFault(error, url);
	}
}

/** Makes the tables of a new store; those of an older one are left alone, and refused. */
async function prepare(settings: ServerSettings, access: "own" | "read"): Promise<void> {
	const connection = await Connection.open(settings, { name: "keryx", timeoutMs: 0 });
	try {
		await checkServer(connection, settings);
		let version = await schemaVersion(connection, settings.schema);
		if (version === null && access === "own") {
			await migrate(connection, settings, "new");
			version = await schemaVersion(connection, settings.schema);
		}
		if (version === null)
			throw new KeryxError(
				"store.unreachable",
				`there is no store in the schema ${settings.schema} of the database`,
				{
					hint: "start Keryx once, which makes it, or correct store.url",
				},
			);
		assertVersion(version);
		const { rows } = await connection.exec("SELECT 1 AS found FROM settings WHERE name = 'moving'");
		if (rows.length > 0)
			throw new KeryxError("store.moving", "a store is being moved here, and the move is not finished");
	} finally {
		await connection.close();
	}
}

async function lastMessage(connection: Connection): Promise<number> {
	const { rows } = await connection.exec("SELECT max(id) AS id FROM messages");
	return (rows[0] as { id: number | null }).id ?? 0;
}

interface Owner {
	readonly epoch: number;
	readonly connection: Connection;
	readonly writers: number;
	readonly lastId: number;
}

interface Waiting {
	readonly begin: Begin;
	readonly resolve: (value: unknown) => void;
	readonly reject: (error: unknown) => void;
}

class PostgresEngine implements Engine {
	readonly epoch: number;
	readonly #settings: ServerSettings;
	readonly #auditKey: Uint8Array | null;
	readonly #readers: Readers;
	readonly #idle: Writer[] = [];
	readonly #all: Writer[] = [];
	readonly #listeners = new Set<() => void>();
	readonly #onTrouble: (trouble: KeryxError | null) => void;
	#waiting: Waiting[] = [];
	#busy = 0;
	#lastId: number;
	#trouble: KeryxError | null = null;
	#closed = false;
	#keeper: Promise<void> | null = null;
	readonly #ending = new AbortController();

	constructor(
		settings: ServerSettings,
		{
			auditKey = null,
			onTrouble = () => {},
			readers,
			owner,
		}: Omit<PostgresOptions, "auditKey" | "readers" | "writers"> & {
			readonly auditKey?: Uint8Array | null | undefined;
			readonly readers: number;
			readonly owner?: Owner;
		},
	) {
		this.#settings = settings;
		this.#auditKey = auditKey;
		this.#onTrouble = onTrouble;
		this.#readers = new Readers(settings, readers);
		this.epoch = owner?.epoch ?? 0;
		this.#lastId = owner?.lastId ?? 0;
		if (!owner) return;
		const foretelling = new Foretelling();
		const gate = new Gate();
		for (let slot = 1; slot <= owner.writers; slot++)
			this.#all.push(
				new Writer(slot, {
					settings,
					epoch: owner.epoch,
					isAlone: owner.writers === 1,
					foretelling,
					drawIds: (from, count) => this.#drawIds(from, count),
					gate,
					idsTaken: async (connection) => {
						const last = await lastMessage(connection);
						// Read after the wait: others may have drawn ids meanwhile.
						this.#lastId = Math.max(this.#lastId, last);
					},
				}),
			);
		this.#idle.push(...this.#all);
		this.#keeper = this.#keep(owner.connection);
	}

	write(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown> {
		if (this.#closed) return Promise.reject(new KeryxError("store.closed", "the store is closed"));
		if (this.#all.length === 0)
			return Promise.reject(
				new KeryxError("store.readonly", "the store is open for reading only", {
					hint: "open it as its owner",
				}),
			);
		if (this.#trouble?.code === "store.owner_lost") return Promise.reject(this.#trouble);
		// The caller may change what it has given meanwhile.
		const given = structuredClone(args);
		const owner = { epoch: this.epoch, auditKey: this.#auditKey };
		return new Promise((resolve, reject) => {
			this.#waiting.push({ begin: () => writeOp(name, given, drawn, owner), resolve, reject });
			if (this.#waiting.length === 1) queueMicrotask(() => this.#dispatch());
		});
	}

	async read(name: ReadName, args: unknown): Promise<unknown> {
		const given = structuredClone(args);
		return await this.#readers.run(() => readOp(name, given, { auditKey: this.#auditKey }));
	}

	onCommit(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** What was asked for before is answered first. */
	async close(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		while (this.#waiting.length > 0 || this.#busy > 0) await pause(1);
		await Promise.all(this.#all.map((writer) => writer.close()));
		this.#ending.abort();
		await this.#keeper;
		await this.#readers.close();
	}

	/** Whoever is free takes what waits. */
	#dispatch(): void {
		while (this.#waiting.length > 0) {
			const writer = this.#idle.pop();
			if (!writer) return;
			void this.#serve(writer, this.#waiting.splice(0, GROUP));
		}
	}

	async #serve(writer: Writer, group: readonly Waiting[]): Promise<void> {
		this.#busy++;
		try {
			const { replies, changed } = await writer.commit(group.map(({ begin }) => begin));
			this.#hearTrouble(null);
			group.forEach(({ resolve, reject }, n) => {
				const reply = replies[n];
				if (reply?.ok) resolve(reply.value);
				else reject(reply?.error);
			});
			if (changed) for (const listener of this.#listeners) listener();
		} catch (error) {
			const known = toKeryxError(error);
			this.#hearTrouble(known);
			for (const { reject } of group) reject(known);
		} finally {
			this.#busy--;
			this.#idle.push(writer);
			this.#dispatch();
		}
	}

	#drawIds(from: number, count: number): number {
		const first = Math.max(this.#lastId + 1, from);
		this.#lastId = first + count - 1;
		return first;
	}

	/** Renews the lease, and connects again where the server was gone. Ends with the engine, or when somebody else is the owner. */
	async #keep(first: Connection): Promise<void> {
		let connection: Connection | null = first;
		while (!this.#ending.signal.aborted) {
			await pause(connection ? RENEW_MS : RETRY_MS, null, { signal: this.#ending.signal }).catch(() => {});
			if (this.#ending.signal.aborted) break;
			try {
				connection ??= await keepOwnership(this.#settings, this.epoch);
				if (!(await renew(connection, this.epoch))) throw ownerLost();
				this.#hearTrouble(null);
			} catch (error) {
				const known = toKeryxError(error);
				this.#hearTrouble(known);
				connection?.drop();
				connection = null;
				if (known.code === "store.owner_lost") return;
			}
		}
		if (!connection) return;
		await leave(connection, this.epoch).catch(() => {});
		await connection.close();
	}

	#hearTrouble(trouble: KeryxError | null): void {
		if (this.#trouble?.code === "store.owner_lost" || this.#trouble?.code === trouble?.code) return;
		if (trouble && !LASTING.has(trouble.code)) return;
		this.#trouble = trouble;
		this.#onTrouble(trouble);
	}
}

/** Troubles of the server, not of one operation. */
const LASTING: ReadonlySet<string> = new Set([
	"store.unreachable",
	"store.full",
	"store.io",
	"store.readonly",
	"store.refused",
	"store.owner_lost",
	"store.corrupt",
]);
