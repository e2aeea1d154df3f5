// The PostgreSQL engine, one per node of a store. Waiting operations share a transaction; reads have their own connections. The engine
// never answers an operation before its commit is known. It renews the node's lease, buries dead nodes, and listens for others' commits.
import { setTimeout as pause } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import { type Clock, systemClock } from "../../time/index.ts";
import type {
	Cluster,
	Drawn,
	Engine,
	MigrationProgress,
	NodeOptions,
	ReadName,
	WriteName,
} from "../engine.ts";
import { WRITES } from "../operations/names.ts";
import { readOp, writeOp } from "../operations/run.ts";
import { SCHEMA_VERSION } from "../schema.ts";
import { type ServerSettings, serverSettings } from "./address.ts";
import { Connection } from "./connection.ts";
import { toKeryxError } from "./faults.ts";
import { Membership } from "./membership.ts";
import { Predictions } from "./predictions.ts";
import { Readers } from "./readers.ts";
import { assertVersion, checkServer, migrate, openingFault, schemaVersion } from "./server.ts";
import { type Begin, RECONNECTS, Writer } from "./writer.ts";

const READERS = 4;
/** A longer group would delay its first operation too much. */
const GROUP = 64;
const LEASE_MS = 10_000;
const HEARTBEAT_MS = 3000;

export interface PostgresOptions {
	readonly url: string;
	readonly startedAt: number;
	/** This machine's; left out: the system's. */
	readonly clock?: Pick<Clock, "now">;
	/** read: no owner, no writes. */
	readonly access: "own" | "read";
	readonly auditKey?: Uint8Array | undefined;
	/** Called when nothing can be acknowledged any more, and with null when it can again. */
	readonly onTrouble?: ((trouble: KeryxError | null) => void) | undefined;
	/** Connections for reads; default 4. */
	readonly readers?: number | undefined;
	/** How often a lost connection is reopened for the same operations; default 3. */
	readonly reconnects?: number | undefined;
	readonly node?: NodeOptions | undefined;
}

export async function openPostgres(options: PostgresOptions): Promise<PostgresEngine> {
	const { startedAt, auditKey = null, clock = systemClock, node = {} } = options;
	const settings = serverSettings(options.url);
	const { name, nodes = "one", leaseMs = LEASE_MS, heartbeatMs = HEARTBEAT_MS } = node;
	try {
		await prepare(settings, options.access);
		if (options.access === "read") return new PostgresEngine(settings, options, null);
		const now = () => clock.now();
		const membership = await Membership.join(settings, {
			startedAt,
			name,
			nodes,
			leaseMs,
			heartbeatMs,
			now,
			auditKey,
		});
		return new PostgresEngine(settings, options, membership);
	} catch (error) {
		throw openingFault(error, options.url);
	}
}

/** For `keryx store migrate`. Returns the versions before and after; null: there was no store. */
export async function migratePostgres(
	url: string,
	tell?: (progress: MigrationProgress) => void,
): Promise<{ readonly from: number | null; readonly to: number }> {
	const settings = serverSettings(url);
	try {
		const connection = await Connection.open(settings, { name: "keryx migrate", timeoutMs: 0 });
		try {
			await checkServer(connection, settings);
			return { from: await migrate(connection, settings, "all", tell), to: SCHEMA_VERSION };
		} finally {
			await connection.close();
		}
	} catch (error) {
		throw openingFault(error, url);
	}
}

/** Creates the tables of a new store; an older store is left alone and refused. */
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

interface Waiting {
	readonly begin: Begin;
	readonly resolve: (value: unknown) => void;
	readonly reject: (error: unknown) => void;
}

class PostgresEngine implements Engine {
	readonly epoch: number;
	readonly #auditKey: Uint8Array | null;
	readonly #readers: Readers;
	/** Null: open for reading. */
	readonly #membership: Membership | null;
	readonly #writer: Writer | null;
	readonly #listeners = new Set<() => void>();
	readonly #onTrouble: (trouble: KeryxError | null) => void;
	#waiting: Waiting[] = [];
	#isBusy = false;
	#trouble: KeryxError | null = null;
	#closed = false;

	constructor(
		settings: ServerSettings,
		{ auditKey, onTrouble = () => {}, readers = READERS, reconnects = RECONNECTS }: PostgresOptions,
		membership: Membership | null,
	) {
		this.#auditKey = auditKey ?? null;
		this.#onTrouble = onTrouble;
		this.#readers = new Readers(settings, readers);
		this.#membership = membership;
		this.epoch = membership?.epoch ?? 0;
		this.#writer =
			membership && new Writer({ settings, epoch: this.epoch, predictions: new Predictions(), reconnects });
		membership?.start({
			trouble: (trouble) => this.#hearTrouble(trouble),
			committedElsewhere: () => {
				for (const listener of this.#listeners) listener();
			},
		});
	}

	get cluster(): Cluster | undefined {
		return this.#membership?.isShared ? this.#membership : undefined;
	}

	write(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown> {
		if (this.#closed) return Promise.reject(new KeryxError("store.closed", "the store is closed"));
		if (!this.#writer)
			return Promise.reject(
				new KeryxError("store.readonly", "the store is open for reading only", {
					hint: "open it as its owner",
				}),
			);
		if (this.#trouble?.code === "store.owner_lost") return Promise.reject(this.#trouble);
		// The caller may change its arguments meanwhile.
		const given = structuredClone(args);
		const owner = { epoch: this.epoch, auditKey: this.#auditKey };
		return new Promise((resolve, reject) => {
			const op = () => writeOp(name, given, drawn, owner);
			this.#waiting.push({ begin: { op, seesEvents: WRITES[name].seesEvents ?? false }, resolve, reject });
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

	/** Earlier requests are answered first. */
	async close(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		while (this.#waiting.length > 0 || this.#isBusy) await pause(1);
		await this.#writer?.close();
		await this.#membership?.leave();
		await this.#readers.close();
	}

	#dispatch(): void {
		if (this.#waiting.length === 0 || this.#isBusy || !this.#writer) return;
		void this.#serve(this.#writer);
	}

	async #serve(writer: Writer): Promise<void> {
		this.#isBusy = true;
		let group: readonly Waiting[] = [];
		try {
			const { replies, changed } = await writer.commit(() => {
				group = this.#waiting.splice(0, GROUP);
				return group.map(({ begin }) => begin);
			});
			this.#hearTrouble(null);
			group.forEach(({ resolve, reject }, n) => {
				const reply = replies[n];
				if (reply?.ok) resolve(reply.value);
				else reject(reply?.error);
			});
			if (!changed) return;
			this.#membership?.committed();
			for (const listener of this.#listeners) listener();
		} catch (error) {
			const known = toKeryxError(error);
			this.#hearTrouble(known);
			if (group.length === 0) group = this.#waiting.splice(0, GROUP);
			for (const { reject } of group) reject(known);
		} finally {
			this.#isBusy = false;
			this.#dispatch();
		}
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
