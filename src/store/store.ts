// The only door to the database. Each method is one operation in one transaction; nothing above knows the engine. Guards I12:
// known secrets are taken out of whatever an operation is given, so that no row, event, delivery or index can hold one.
import { newSessionId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Secrets } from "../secrets/index.ts";
import type { Clock } from "../time/index.ts";
import type { Cluster, Drawn, Engine, ReadName, StoreFacts, WriteName } from "./engine.ts";
import { DRAWS, reads, writes } from "./operations/index.ts";
import { isPassing } from "./passing.ts";
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
	/** What it hides. Whoever hashes, splits or sends a text before it gets here hides it with this first. */
	readonly secrets: Secrets;
	/** Called after each commit; what happened is in the events. */
	onCommit(listener: () => void): () => void;
	/** Called after each write that was committed, with how long that took. Without listeners nothing is measured. */
	onWritten(listener: (ms: number) => void): () => void;
	/** Called after each write that met a passing fault: it may have been made without anybody having heard of it. */
	onFault(listener: () => void): () => void;
	/** The other gateways on the same store; null where there can be none. */
	readonly cluster: Cluster | null;
	/** Writes all of it, as it is at one instant, to a new file of mode 0600. Other operations go on. Throws store.unsupported. */
	copyTo(path: string): Promise<StoreFacts>;
	close(): Promise<void>;
}

export interface OpenOptions {
	/** sqlite:<path>, postgres://..., or sqlite::memory: for tests. */
	readonly url: string;
	readonly clock: Pick<Clock, "now"> & Partial<Pick<Clock, "monotonic">>;
	readonly ids: Ids;
	/** What no row may hold; NO_SECRETS where there are none. */
	readonly secrets: Secrets;
	/** own (default): this process alone writes. read: beside an owner, or without one. */
	readonly access?: "own" | "read";
	/** Of the audit of confirmations; kept outside the store. Without it nothing can be confirmed. */
	readonly auditKey?: Uint8Array;
	/** Told when its owner can acknowledge nothing any more, since a file or the ownership is lost; with null when it can again. */
	readonly onTrouble?: (trouble: KeryxError | null) => void;
	/**
	 * A file outside the store, of its own for each, that tells how many entries the audit has and the code of the last one: without
	 * it an audit that was deleted or replaced as a whole is not noticed.
	 */
	readonly auditWitness?: string;
	/** On a server: beside other gateways (many), or alone (one, the default). */
	readonly nodes?: "one" | "many";
}

export async function openStore(options: OpenOptions): Promise<Store> {
	return storeOn(await openEngine(options), options);
}

/** What a store runs on, for who puts something between the two: a test that counts writes, or kills at one. */
export async function openEngine({
	url,
	clock,
	access = "own",
	auditKey,
	auditWitness,
	onTrouble,
	nodes = "one",
}: Pick<
	OpenOptions,
	"url" | "clock" | "access" | "auditKey" | "auditWitness" | "onTrouble" | "nodes"
>): Promise<Engine> {
	if (/^postgres(?:ql)?:/.test(url)) {
		// Loaded when it is asked for: most never need it.
		const { openPostgres } = await import("./postgres/engine.ts");
		return openPostgres({ url, startedAt: clock.now(), access, auditKey, onTrouble, node: { nodes } });
	}
	const path = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : "";
	if (path === "")
		throw new KeryxError("store.url", "url must be sqlite:<path>, sqlite::memory: or postgres://...", {
			field: "url",
		});
	return openSqlite({ path, startedAt: clock.now(), access, auditKey, auditWitness, onTrouble });
}

/** Brings the tables of a store on a server up to date; that of a file is brought up to date when it is opened. */
export async function migrateStore(
	url: string,
): Promise<{ readonly from: number | null; readonly to: number }> {
	return (await import("./postgres/engine.ts")).migratePostgres(url);
}

/** The store on any engine: hides secrets, draws the clock and the ids, and hands each operation over by its name. */
export function storeOn(
	engine: Engine,
	{ clock, ids, secrets }: Pick<OpenOptions, "clock" | "ids" | "secrets">,
): Store {
	const draw = (name: WriteName): Drawn => {
		const now = clock.now();
		const { uuids = 0, sessions = 0 } = DRAWS[name] ?? {};
		return {
			now,
			...(uuids > 0 && { uuids: Array.from({ length: uuids }, () => ids.uuid()) }),
			...(sessions > 0 && { sessions: Array.from({ length: sessions }, () => newSessionId(now, ids.bytes)) }),
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
	const operations: Record<string, unknown> = {};
	for (const name of Object.keys(writes) as WriteName[])
		operations[name] = (args: unknown) =>
			timed(engine.write(name, secrets.hideIn(args), draw(name))).catch(noteFault);
	// What is asked for by a name was written under the hidden one.
	for (const name of Object.keys(reads) as ReadName[])
		operations[name] = (args: unknown) => engine.read(name, secrets.hideIn(args));
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
