// Keys of IndexedDB as bytes whose order is that of the keys: numbers, then dates, strings, binary, arrays.

const TAG = { number: 0x10, date: 0x20, string: 0x30, binary: 0x40, array: 0x50 } as const;

export type IdbKey = number | string | Date | Uint8Array | readonly IdbKey[];

/** Throws for what cannot be a key. */
export function encodeKey(key: unknown): Buffer {
	if (typeof key === "number" && !Number.isNaN(key))
		return Buffer.concat([Buffer.of(TAG.number), ordered(key)]);
	if (key instanceof Date) return Buffer.concat([Buffer.of(TAG.date), ordered(key.getTime())]);
	if (typeof key === "string") return Buffer.concat([Buffer.of(TAG.string), ended(Buffer.from(key))]);
	if (key instanceof Uint8Array) return Buffer.concat([Buffer.of(TAG.binary), ended(key)]);
	if (key instanceof ArrayBuffer) return encodeKey(new Uint8Array(key));
	if (Array.isArray(key)) return Buffer.concat([Buffer.of(TAG.array), ...key.map(encodeKey), Buffer.of(0)]);
	throw new DOMException("the value is not a valid key", "DataError");
}

/** The key of a record, by its path: a field, fields separated by dots, or a list of such. Undefined: it has none. */
export function keyAt(value: unknown, path: string | readonly string[]): unknown {
	if (typeof path !== "string") {
		const parts = path.map((one) => keyAt(value, one));
		return parts.includes(undefined) ? undefined : parts;
	}
	if (path === "") return value;
	return path.split(".").reduce<unknown>((at, field) => {
		if (typeof at !== "object" || at === null) return undefined;
		return (at as Readonly<Record<string, unknown>>)[field];
	}, value);
}

/** Negative numbers before positive ones. */
function ordered(value: number): Buffer {
	const bytes = Buffer.alloc(8);
	bytes.writeDoubleBE(value === 0 ? 0 : value);
	const isNegative = (bytes[0] ?? 0) >= 0x80;
	for (let n = 0; n < 8; n++)
		bytes[n] = isNegative ? ~(bytes[n] ?? 0) : (bytes[n] ?? 0) ^ (n === 0 ? 0x80 : 0);
	return bytes;
}

/** A zero ends it, so a zero inside is written as two bytes. */
function ended(bytes: Uint8Array): Buffer {
	const escaped: number[] = [];
	for (const byte of bytes) escaped.push(...(byte === 0 ? [0, 0xff] : [byte]));
	return Buffer.from([...escaped, 0, 0]);
}
