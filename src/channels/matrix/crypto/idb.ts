// IndexedDB for the encryption library, as far as it uses it, over one SQLite file. Transactions run one after another; each is one
// transaction of SQLite, on the disk before its `complete`. Method and property names are the web's.
import {
	type Bounds,
	EVERYTHING,
	type IdbFile,
	type IndexFacts,
	type Row,
	type StoreFacts,
} from "./idb-file.ts";
import { encodeKey } from "./idb-keys.ts";

type Handler = ((event: IdbEvent) => unknown) | null;

interface IdbEvent {
	readonly type: string;
	readonly target: unknown;
	readonly oldVersion?: number;
	readonly newVersion?: number;
	preventDefault(): void;
	stopPropagation(): void;
}

class Request {
	result: unknown = undefined;
	error: unknown = null;
	readyState: "pending" | "done" = "pending";
	onsuccess: Handler = null;
	onerror: Handler = null;
	transaction: Transaction | null = null;
	source: unknown = null;

	succeed(result: unknown): void {
		this.result = result;
		this.error = null;
		this.readyState = "done";
		this.onsuccess?.(eventOf("success", this));
	}

	fail(error: unknown): void {
		this.result = undefined;
		this.error = error;
		this.readyState = "done";
		this.onerror?.(eventOf("error", this));
	}
}

class OpenRequest extends Request {
	onupgradeneeded: Handler = null;
	onblocked: Handler = null;
}

class KeyRange {
	readonly lower: unknown;
	readonly upper: unknown;
	readonly lowerOpen: boolean;
	readonly upperOpen: boolean;

	constructor(lower: unknown, upper: unknown, lowerOpen: boolean, upperOpen: boolean) {
		this.lower = lower;
		this.upper = upper;
		this.lowerOpen = lowerOpen;
		this.upperOpen = upperOpen;
	}

	static bound(lower: unknown, upper: unknown, lowerOpen = false, upperOpen = false): KeyRange {
		return new KeyRange(lower, upper, lowerOpen, upperOpen);
	}

	static lowerBound(lower: unknown, open = false): KeyRange {
		return new KeyRange(lower, undefined, open, true);
	}

	static upperBound(upper: unknown, open = false): KeyRange {
		return new KeyRange(undefined, upper, true, open);
	}

	static only(key: unknown): KeyRange {
		return new KeyRange(key, key, false, false);
	}
}

/** A key, a range, or nothing for everything. */
function boundsOf(query: unknown): Bounds {
	if (query === undefined || query === null) return EVERYTHING;
	const { lower, upper, lowerOpen, upperOpen } = query instanceof KeyRange ? query : KeyRange.only(query);
	return {
		lower: lower === undefined ? null : encodeKey(lower),
		upper: upper === undefined ? null : encodeKey(upper),
		lowerOpen,
		upperOpen,
	};
}

/** Runs transactions one after another. */
class Queue {
	readonly #waiting: Transaction[] = [];
	#running: Transaction | null = null;

	add(transaction: Transaction): void {
		this.#waiting.push(transaction);
		if (!this.#running) this.#next();
	}

	done(transaction: Transaction): void {
		if (this.#running === transaction) this.#next();
	}

	#next(): void {
		this.#running = this.#waiting.shift() ?? null;
		// In a turn of its own: whoever made the transaction has placed its first requests by then.
		const running = this.#running;
		if (running) setImmediate(() => running.start());
	}
}

class Transaction {
	readonly db: IdbDatabase;
	readonly mode: string;
	error: unknown = null;
	oncomplete: Handler = null;
	onabort: Handler = null;
	onerror: Handler = null;
	/** Called after the library's own handlers; null: it is complete. */
	ended: (error: unknown) => void = () => {};
	readonly #file: IdbFile;
	readonly #queue: Queue;
	readonly #requests: (() => void)[] = [];
	#isStarted = false;
	#state: "open" | "closing" | "finished" = "open";

	constructor(db: IdbDatabase, mode: string, file: IdbFile, queue: Queue) {
		this.db = db;
		this.mode = mode;
		this.#file = file;
		this.#queue = queue;
	}

	objectStore(name: string): ObjectStore {
		const facts = this.db.facts().find((store) => store.name === name);
		if (!facts) throw new DOMException(`there is no store ${name}`, "NotFoundError");
		return new ObjectStore(this, facts, this.#file);
	}

	/** Runs it in its turn. */
	request(run: () => unknown, request = new Request(), source: unknown = null): Request {
		if (this.#state !== "open") throw new DOMException("the transaction is over", "TransactionInactiveError");
		request.transaction = this;
		request.source = source;
		request.readyState = "pending";
		this.#requests.push(() => {
			let result: unknown;
			try {
				result = run();
			} catch (error) {
				request.fail(error);
				this.#end(error);
				return;
			}
			request.succeed(result);
		});
		return request;
	}

	start(): void {
		// Aborted before its turn.
		if (this.#state === "finished") {
			this.#queue.done(this);
			return;
		}
		try {
			if (this.mode !== "readonly") this.#file.begin();
			this.#isStarted = true;
		} catch (error) {
			this.#end(error);
			return;
		}
		this.step();
	}

	/** One request in each turn of the loop: what follows from its answer has placed its own by then. Without one, it is over. */
	step(): void {
		if (this.#state === "finished") return;
		const next = this.#requests.shift();
		if (!next) {
			this.#end(null);
			return;
		}
		next();
		setImmediate(() => this.step());
	}

	/** Requests that were placed before it still run; then it is over. */
	commit(): void {
		if (this.#state === "open") this.#state = "closing";
	}

	abort(): void {
		this.#end(new DOMException("the transaction was aborted", "AbortError"));
	}

	#end(error: unknown): void {
		if (this.#state === "finished") return;
		this.#state = "finished";
		let failed = error;
		try {
			if (this.mode !== "readonly" && failed === null) this.#file.commit();
		} catch (problem) {
			failed = problem;
		}
		if (failed === null) this.oncomplete?.(eventOf("complete", this));
		else {
			if (this.mode !== "readonly" && this.#isStarted) this.#file.rollback();
			this.error = failed;
			this.onabort?.(eventOf("abort", this));
		}
		this.ended(failed);
		this.#queue.done(this);
	}
}

class IdbDatabase {
	readonly name: string;
	version: number;
	onversionchange: Handler = null;
	onclose: Handler = null;
	readonly #file: IdbFile;
	readonly #queue: Queue;
	/** While it is being upgraded. */
	upgrade: Transaction | null = null;
	#facts: readonly StoreFacts[] | null = null;

	constructor(name: string, version: number, file: IdbFile, queue: Queue) {
		this.name = name;
		this.version = version;
		this.#file = file;
		this.#queue = queue;
	}

	facts(): readonly StoreFacts[] {
		this.#facts ??= this.#file.storesOf(this.name);
		return this.#facts;
	}

	get objectStoreNames(): Names {
		return new Names(this.facts().map(({ name }) => name));
	}

	transaction(_stores: unknown, mode = "readonly"): Transaction {
		const transaction = new Transaction(this, mode, this.#file, this.#queue);
		this.#queue.add(transaction);
		return transaction;
	}

	createObjectStore(
		name: string,
		{ keyPath = null, autoIncrement = false }: Partial<Pick<StoreFacts, "keyPath" | "autoIncrement">> = {},
	): ObjectStore {
		this.#file.createStore(this.name, name, { keyPath, autoIncrement });
		this.#facts = null;
		return this.#upgrading().objectStore(name);
	}

	deleteObjectStore(name: string): void {
		this.#file.deleteStore(this.name, name);
		this.#facts = null;
	}

	/** The file stays open: others may use it. */
	close(): void {}

	#upgrading(): Transaction {
		if (!this.upgrade) throw new DOMException("the database is not being upgraded", "InvalidStateError");
		return this.upgrade;
	}
}

/** Methods that a store and an index share. */
abstract class Readable {
	protected readonly transaction: Transaction;
	protected readonly file: IdbFile;
	protected readonly store: StoreFacts;
	/** Null: the store itself. */
	readonly #index: number | null;

	constructor(transaction: Transaction, file: IdbFile, store: StoreFacts, index: number | null) {
		this.transaction = transaction;
		this.file = file;
		this.store = store;
		this.#index = index;
	}

	get(query: unknown): Request {
		return this.#ask(query, 1, ([row]) => row?.value);
	}

	getAll(query?: unknown, count?: number): Request {
		return this.#ask(query, count ?? null, (rows) => rows.map(({ value }) => value));
	}

	getAllKeys(query?: unknown, count?: number): Request {
		return this.#ask(query, count ?? null, (rows) => rows.map(({ primary }) => primary));
	}

	count(query?: unknown): Request {
		const bounds = boundsOf(query);
		return this.transaction.request(
			() => this.file.count(this.store.id, this.#index, bounds),
			undefined,
			this,
		);
	}

	openCursor(query?: unknown, direction = "next"): Request {
		const request = new Request();
		const cursor = new CursorWithValue({
			request,
			bounds: boundsOf(query),
			isBackwards: direction.startsWith("prev"),
			read: (bounds, isBackwards, after) =>
				this.file.rows(this.store.id, this.#index, bounds, {
					count: 1,
					isBackwards,
					...(after && { after }),
				})[0],
			enqueue: (run) => this.transaction.request(run, request, this),
			update: (value, key) =>
				this.file.put(this.store, value, this.store.keyPath === null ? key : undefined, false),
			remove: (key) => this.file.delete(this.store.id, boundsOf(key)),
			direction,
			source: this,
		});
		cursor.step(undefined);
		return request;
	}

	#ask(query: unknown, count: number | null, answer: (rows: readonly Row[]) => unknown): Request {
		const bounds = boundsOf(query);
		return this.transaction.request(
			() => answer(this.file.rows(this.store.id, this.#index, bounds, { count, isBackwards: false })),
			undefined,
			this,
		);
	}
}

class ObjectStore extends Readable {
	readonly name: string;

	constructor(transaction: Transaction, store: StoreFacts, file: IdbFile) {
		super(transaction, file, store, null);
		this.name = store.name;
	}

	put(value: unknown, key?: unknown): Request {
		return this.#write(value, key, false);
	}

	add(value: unknown, key?: unknown): Request {
		return this.#write(value, key, true);
	}

	delete(query: unknown): Request {
		const bounds = boundsOf(query);
		return this.transaction.request(() => this.file.delete(this.store.id, bounds), undefined, this);
	}

	clear(): Request {
		return this.transaction.request(() => this.file.clear(this.store.id), undefined, this);
	}

	createIndex(
		name: string,
		keyPath: string | readonly string[],
		{ unique = false }: { readonly unique?: boolean; readonly multiEntry?: boolean } = {},
	): Index {
		this.file.createIndex(this.store.id, name, keyPath, unique);
		return this.index(name);
	}

	index(name: string): Index {
		const facts = this.file.indexesOf(this.store.id).find((one) => one.name === name);
		if (!facts) throw new DOMException(`there is no index ${name}`, "NotFoundError");
		return new Index(this.transaction, this.file, this.store, facts);
	}

	/** Copied when it is placed: the caller may change its value afterwards. */
	#write(value: unknown, key: unknown, isNew: boolean): Request {
		const copy = structuredClone(value);
		return this.transaction.request(() => this.file.put(this.store, copy, key, isNew), undefined, this);
	}
}

class Index extends Readable {
	readonly name: string;

	constructor(transaction: Transaction, file: IdbFile, store: StoreFacts, { id, name }: IndexFacts) {
		super(transaction, file, store, id);
		this.name = name;
	}
}

interface CursorOptions {
	readonly request: Request;
	readonly bounds: Bounds;
	readonly isBackwards: boolean;
	readonly direction: string;
	readonly source: unknown;
	readonly read: (bounds: Bounds, isBackwards: boolean, after: Row | undefined) => Row | undefined;
	readonly enqueue: (run: () => unknown) => Request;
	readonly update: (value: unknown, key: unknown) => unknown;
	readonly remove: (key: unknown) => void;
}

class Cursor {
	readonly #options: CursorOptions;
	#row: Row | undefined;

	constructor(options: CursorOptions) {
		this.#options = options;
	}

	get request(): Request {
		return this.#options.request;
	}

	get source(): unknown {
		return this.#options.source;
	}

	get direction(): string {
		return this.#options.direction;
	}

	get key(): unknown {
		return this.#row?.given;
	}

	get primaryKey(): unknown {
		return this.#row?.primary;
	}

	get value(): unknown {
		return this.#row?.value;
	}

	/** To the next record, or to the first at or after the key. */
	continue(key?: unknown): void {
		this.step(this.#row, key);
	}

	update(value: unknown): Request {
		const { transaction } = this.request;
		if (!transaction) throw new DOMException("the cursor has no transaction", "InvalidStateError");
		const copy = structuredClone(value);
		return transaction.request(() => this.#options.update(copy, this.primaryKey), undefined, this);
	}

	delete(): Request {
		const { transaction } = this.request;
		if (!transaction) throw new DOMException("the cursor has no transaction", "InvalidStateError");
		const key = this.primaryKey;
		return transaction.request(() => this.#options.remove(key), undefined, this);
	}

	step(after: Row | undefined, key?: unknown): void {
		const { bounds, isBackwards, read, enqueue } = this.#options;
		const from =
			key === undefined || key === null ? {} : { [isBackwards ? "upper" : "lower"]: encodeKey(key) };
		const open =
			key === undefined || key === null ? {} : { [isBackwards ? "upperOpen" : "lowerOpen"]: false };
		enqueue(() => {
			this.#row = read({ ...bounds, ...from, ...open }, isBackwards, after);
			return this.#row ? this : null;
		});
	}
}

class CursorWithValue extends Cursor {}

/** A DOMStringList. */
class Names {
	readonly #names: readonly string[];

	constructor(names: readonly string[]) {
		this.#names = names;
	}

	get length(): number {
		return this.#names.length;
	}

	item(at: number): string | null {
		return this.#names[at] ?? null;
	}

	contains(name: string): boolean {
		return this.#names.includes(name);
	}

	[Symbol.iterator](): Iterator<string> {
		return this.#names[Symbol.iterator]();
	}
}

class Factory {
	readonly #file: IdbFile;
	readonly #queue = new Queue();

	constructor(file: IdbFile) {
		this.#file = file;
	}

	open(name: string, wanted?: number): OpenRequest {
		const request = new OpenRequest();
		setImmediate(() => this.#open(request, name, wanted));
		return request;
	}

	#open(request: OpenRequest, name: string, wanted: number | undefined): void {
		const before = this.#file.versionOf(name);
		const version = wanted ?? (before || 1);
		const db = new IdbDatabase(name, version, this.#file, this.#queue);
		if (version < before) {
			request.fail(new DOMException(`the database has the newer version ${before}`, "VersionError"));
			return;
		}
		if (version === before) {
			request.succeed(db);
			return;
		}
		const transaction = new Transaction(db, "versionchange", this.#file, this.#queue);
		db.upgrade = transaction;
		transaction.request(() => {
			this.#file.setVersion(name, version);
			request.result = db;
			request.readyState = "done";
			request.transaction = transaction;
			request.onupgradeneeded?.({
				...eventOf("upgradeneeded", request),
				oldVersion: before,
				newVersion: version,
			});
		});
		transaction.ended = (error) => {
			db.upgrade = null;
			request.transaction = null;
			if (error === null) request.succeed(db);
			else request.fail(error);
		};
		this.#queue.add(transaction);
	}
}

function eventOf(type: string, target: unknown): IdbEvent {
	return { type, target, preventDefault: () => {}, stopPropagation: () => {} };
}

/** Sets the names that the library looks for. Only in a thread of its own. */
export function installIdb(file: IdbFile): void {
	Object.assign(globalThis, {
		indexedDB: new Factory(file),
		IDBKeyRange: KeyRange,
		IDBRequest: Request,
		IDBOpenDBRequest: OpenRequest,
		IDBDatabase: IdbDatabase,
		IDBTransaction: Transaction,
		IDBObjectStore: ObjectStore,
		IDBIndex: Index,
		IDBCursor: Cursor,
		IDBCursorWithValue: CursorWithValue,
		IDBFactory: Factory,
	});
}
