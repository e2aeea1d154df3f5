// The records of a store: reading and writing them, by key, by index or with a cursor. Names are the web's.
import type { Bounds, IdbFile, IndexFacts, Row, StoreFacts } from "./idb-file.ts";
import { encodeKey } from "./idb-keys.ts";
import { boundsOf, Request, type Requests } from "./idb-request.ts";

/** Methods that a store and an index share. */
abstract class Readable {
	protected readonly transaction: Requests;
	protected readonly file: IdbFile;
	protected readonly store: StoreFacts;
	/** Null: the store itself. */
	readonly #index: number | null;

	constructor(transaction: Requests, file: IdbFile, store: StoreFacts, index: number | null) {
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

export class ObjectStore extends Readable {
	readonly name: string;

	constructor(transaction: Requests, store: StoreFacts, file: IdbFile) {
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

	/** Copied when it is queued: the caller may change its value afterwards. */
	#write(value: unknown, key: unknown, isNew: boolean): Request {
		const copy = structuredClone(value);
		return this.transaction.request(() => this.file.put(this.store, copy, key, isNew), undefined, this);
	}
}

export class Index extends Readable {
	readonly name: string;

	constructor(transaction: Requests, file: IdbFile, store: StoreFacts, { id, name }: IndexFacts) {
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

export class Cursor {
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

export class CursorWithValue extends Cursor {}
