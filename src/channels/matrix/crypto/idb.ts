// IndexedDB for the encryption library, as far as it uses it, over one SQLite file. Transactions run one after another; each is one
// transaction of SQLite, on the disk before its `complete`. Method and property names are the web's.
import type { IdbFile, StoreFacts } from "./idb-file.ts";
import { Cursor, CursorWithValue, Index, ObjectStore } from "./idb-records.ts";
import { eventOf, type Handler, KeyRange, OpenRequest, Request } from "./idb-request.ts";

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
		// In a separate turn of the event loop: by then the transaction's first requests are queued.
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

	/** One request per turn of the event loop: by the next, its handlers have queued theirs. With none left, the transaction ends. */
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

	/** Requests queued before it still run; then the transaction ends. */
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

/** Sets the globals that the library looks for. Only in a separate thread. */
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
