// Requests to the database: their answers as events, and ranges of keys. Names are the web's.
import { type Bounds, EVERYTHING } from "./idb-file.ts";
import { encodeKey } from "./idb-keys.ts";

export type Handler = ((event: IdbEvent) => unknown) | null;

export interface IdbEvent {
	readonly type: string;
	readonly target: unknown;
	readonly oldVersion?: number;
	readonly newVersion?: number;
	preventDefault(): void;
	stopPropagation(): void;
}

/** Takes requests, and runs each in its turn. */
export interface Requests {
	request(run: () => unknown, request?: Request, source?: unknown): Request;
}

export class Request {
	result: unknown = undefined;
	error: unknown = null;
	readyState: "pending" | "done" = "pending";
	onsuccess: Handler = null;
	onerror: Handler = null;
	transaction: Requests | null = null;
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

export class OpenRequest extends Request {
	onupgradeneeded: Handler = null;
	onblocked: Handler = null;
}

export class KeyRange {
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
export function boundsOf(query: unknown): Bounds {
	if (query === undefined || query === null) return EVERYTHING;
	const { lower, upper, lowerOpen, upperOpen } = query instanceof KeyRange ? query : KeyRange.only(query);
	return {
		lower: lower === undefined ? null : encodeKey(lower),
		upper: upper === undefined ? null : encodeKey(upper),
		lowerOpen,
		upperOpen,
	};
}

export function eventOf(type: string, target: unknown): IdbEvent {
	return { type, target, preventDefault: () => {}, stopPropagation: () => {} };
}
