// The only way to the database. Each method is one operation in one transaction; nothing above knows the engine. Guards I12: known
// secrets are removed from all inputs, so that no row, event, delivery or index can contain one.
import { newSessionId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Secrets } from "../secrets/index.ts";
import type { Clock } from "../time/index.ts";
import type {
	Cluster,
	Drawn,
	Engine,
	MigrationProgress,
	NodeOptions,
	ReadName,
	StoreFacts,
	WriteName,
} from "./engine.ts";
import type { reads, writes } from "./operations/index.ts";
import { READS, WRITES } from "./operations/names.ts";
import { isPassing } from "./passing.ts";
import type { ServerFacts } from "./postgres/facts.ts";
import type { Op } from "./query.ts";
import { openSqlite } from "./sqlite/engine.ts";

export interface Ids {
	uuid(): string;
	bytes(length: number): Uint8Array;
}

type Result<Operation> = Operation extends (...args: never[]) => Op<infer Value> ? Value : never;
type WriteArgs<Name extends WriteName> =
	Parameters<(typeof writes)[Name]> extends [unknown, infer Args] ? [args: Args] : [];
type ReadArgs<Name extends ReadName> =
	Parameters<(typeof reads)[Name]> extends [infer Args, ...unknown[]] ? [args: Args] : [];

type Writes = {
	readonly [Name in WriteName]: (...args: WriteArgs<Name>) => Promise<Result<(typeof writes)[Name]>>;
};
type Reads = {
	readonly [Name in ReadName]: (...args: ReadArgs<Name>) => Promise<Result<(typeof reads)[Name]>>;
};

export interface Store extends Writes, Reads {
	/** Counts the owners of this store. */
	readonly epoch: number;
	/** What it hides. Code that hashes, splits or sends a text before it gets here must hide it first. */
	readonly secrets: Secrets;
	/** Called after each commit; details are in the events. */
	onCommit(listener: () => void): () => void;
	/** Called after each committed write, with its duration. Not measured without listeners. */
	onWritten(listener: (ms: number) => void): () => void;
	/** Called after each write that met a temporary fault: it may have been made without anyone knowing. */
	onFault(listener: () => void): () => void;
	/** The other gateways on the same store; null if there can be none. */
	readonly cluster: Cluster | null;
	/** Writes a consistent copy to a new file of mode 0600. Other operations continue. Throws store.unsupported. */
	copyTo(path: string): Promise<StoreFacts>;
	close(): Promise<void>;
}

export interface OpenOptions {
	/** sqlite:<path>, postgres://..., or sqlite::memory: for tests. */
	readonly url: string;
	readonly clock: Pick<Clock, "now"> & Partial<Pick<Clock, "monotonic">>;
	readonly ids: Ids;
	/** What no row may contain; NO_SECRETS if there are none. */
	readonly secrets: Secrets;
	/** own (default): only this process writes. read: whether or not there is an owner. */
	readonly access?: "own" | "read";
	/** The audit key, kept outside the store. Without it nothing can be confirmed. */
	readonly auditKey?: Uint8Array;
	/** Called when the owner can acknowledge nothing any more, because a file or the ownership is lost; with null when it can again. */
	readonly onTrouble?: (trouble: KeryxError | null) => void;
	/** Called before the store is open, while a file of an earlier version is brought up to date. */
	readonly onMigration?: (progress: MigrationProgress) => void;
	/**
	 * A separate file outside the store with the number of audit entries and the last code: without it, a deleted or replaced audit is
	 * not noticed.
	 */
	readonly auditWitness?: string;
	/** On a server: which gateway this is, and whether there may be others (`nodes`). Left out: the only one. */
	readonly node?: NodeOptions;
}

export async function openStore(options: OpenOptions): Promise<Store> {
	return storeOn(await openEngine(options), options);
}

/** The engine, for code that wraps it: a test that counts writes, or kills at one. */
export async function openEngine({
	url,
	clock,
	access = "own",
	auditKey,
	auditWitness,
	onTrouble,
	onMigration,
	node,
}: Pick<
	OpenOptions,
	"url" | "clock" | "access" | "auditKey" | "auditWitness" | "onTrouble" | "onMigration" | "node"
>): Promise<Engine> {
	if (/^postgres(?:ql)?:/.test(url)) {
		// Loaded on demand: most never need it.
		const { openPostgres } = await import("./postgres/engine.ts");
		return openPostgres({ url, clock, startedAt: clock.now(), access, auditKey, onTrouble, node });
	}
	const path = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : "";
	if (path === "")
		throw new KeryxError("store.url", "url must be sqlite:<path>, sqlite::memory: or postgres://...", {
			field: "url",
		});
	return openSqlite({
		path,
		startedAt: clock.now(),
		access,
		auditKey,
		auditWitness,
		onTrouble,
		onMigration,
	});
}

/** Migrates the tables of a store on a server; a file is migrated when it is opened. */
export async function migrateStore(
	url: string,
	onMigration?: (progress: MigrationProgress) => void,
): Promise<{ readonly from: number | null; readonly to: number }> {
	return (await import("./postgres/engine.ts")).migratePostgres(url, onMigration);
}

/** The server's facts for `keryx doctor`. */
export async function serverFacts(url: string, now: () => number): Promise<ServerFacts> {
	return (await import("./postgres/facts.ts")).serverFacts(url, now);
}

/** The store on any engine: hides secrets, draws the clock and the ids, and hands each operation over by its name. */
export function storeOn(
	engine: Engine,
	{ clock, ids, secrets }: Pick<OpenOptions, "clock" | "ids" | "secrets">,
): Store {
	const draw = (name: WriteName): Drawn => {
		const now = clock.now();
		const { uuids = 0, session } = WRITES[name];
		return {
			now,
			...(uuids > 0 && { uuids: Array.from({ length: uuids }, () => ids.uuid()) }),
			...(session && { session: newSessionId(now, ids.bytes) }),
		};
	};
	const faultListeners = new Set<() => void>();
	const noteFault = (error: unknown): never => {
		if (isPassing(error)) for (const listener of faultListeners) listener();
		throw error;
	};
	const writtenListeners = new Set<(ms: number) => void>();
	const timed = <Value>(write: Promise<Value>): Promise<Value> => {
		const { monotonic } = clock;
		if (writtenListeners.size === 0 || !monotonic) return write;
		const began = monotonic();
		return write.then((value) => {
			for (const listener of writtenListeners) listener(monotonic() - began);
			return value;
		});
	};
	/** Values that cannot be walked, such as very deep ones, are refused like any others. */
	const withHidden = <Value>(args: unknown, run: (hidden: unknown) => Promise<Value>): Promise<Value> => {
		try {
			return run(secrets.hideIn(args));
		} catch (error) {
			return Promise.reject(error);
		}
	};
	const operations: Record<string, unknown> = {};
	for (const name of Object.keys(WRITES) as WriteName[])
		operations[name] = (args: unknown) =>
			withHidden(args, (hidden) => timed(engine.write(name, hidden, draw(name))).catch(noteFault));
	// Names were stored with secrets hidden.
	for (const name of Object.keys(READS) as ReadName[])
		operations[name] = (args: unknown) => withHidden(args, (hidden) => engine.read(name, hidden));
	return {
		...(operations as unknown as Writes & Reads),
		epoch: engine.epoch,
		cluster: engine.cluster ?? null,
		secrets,
		onCommit: (listener) => engine.onCommit(listener),
		onWritten: (listener) => {
			writtenListeners.add(listener);
			return () => writtenListeners.delete(listener);
		},
		onFault: (listener) => {
			faultListeners.add(listener);
			return () => faultListeners.delete(listener);
		},
		copyTo: async (path) => {
			if (!engine.copyTo)
				throw new KeryxError("store.unsupported", "a store on a server is not backed up by Keryx", {
					hint: "use pg_dump, and keep audit.key, pseudonym.key and config.yaml of Keryx's home with it",
				});
			return await engine.copyTo(path);
		},
		close: () => engine.close(),
	};
}
