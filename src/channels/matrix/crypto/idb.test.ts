// IndexedDB over SQLite: what the encryption library relies on, and what a kill leaves.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { EVERYTHING, FileTaken, IdbFile } from "./idb-file.ts";
import { encodeKey, keyAt } from "./idb-keys.ts";

const folders: string[] = [];
afterEach(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function fileAt(): string {
	const folder = mkdtempSync(join(tmpdir(), "keryx-idb-"));
	folders.push(folder);
	return join(folder, "keys.db");
}

const key: fc.Arbitrary<unknown> = fc.oneof(
	fc.double({ noNaN: true }),
	fc.string(),
	fc.uint8Array({ maxLength: 5 }),
	fc.array(fc.oneof(fc.integer(), fc.string()), { maxLength: 3 }),
);
const RANK = (one: unknown) =>
	typeof one === "number" ? 1 : typeof one === "string" ? 2 : one instanceof Uint8Array ? 3 : 4;

/** As the web's specification orders keys. */
function compare(a: unknown, b: unknown): number {
	if (RANK(a) !== RANK(b)) return RANK(a) - RANK(b);
	if (typeof a === "number" && typeof b === "number") return a - b;
	if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
	if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
	const [left, right] = [a as unknown[], b as unknown[]];
	const at = left.findIndex((one, n) => n >= right.length || compare(one, right[n]) !== 0);
	if (at < 0) return left.length - right.length;
	return at >= right.length ? 1 : compare(left[at], right[at]);
}

test("encoded keys have the order of the keys", () => {
	fc.assert(
		fc.property(key, key, (a, b) => {
			expect(Math.sign(Buffer.compare(encodeKey(a), encodeKey(b)))).toBe(Math.sign(compare(a, b)));
		}),
	);
	expect(() => encodeKey({})).toThrow("not a valid key");
	expect(keyAt({ a: { b: 1 }, c: 2 }, ["a.b", "c"])).toEqual([1, 2]);
	expect(keyAt({ a: 1 }, ["a", "b"])).toBeUndefined();
});

test("records come back in order, by range and by index; a unique index refuses a second one", () => {
	const file = new IdbFile(fileAt());
	file.begin();
	file.setVersion("db", 1);
	file.createStore("db", "people", { keyPath: null, autoIncrement: false });
	const [store] = file.storesOf("db");
	if (!store) throw new Error("no store");
	file.createIndex(store.id, "by_name", "name", true);
	for (const name of ["carol", "ada", "bob"])
		file.put(store, { name, bytes: Uint8Array.of(1, 2) }, `k-${name}`, true);
	expect(() => file.put(store, { name: "ada" }, "k-other", true)).toThrow("in the index");
	file.commit();
	const [index] = file.indexesOf(store.id);
	const names = (isBackwards: boolean) =>
		file
			.rows(store.id, index?.id ?? null, EVERYTHING, { count: null, isBackwards })
			.map(({ given }) => given);
	expect(names(false)).toEqual(["ada", "bob", "carol"]);
	expect(names(true)).toEqual(["carol", "bob", "ada"]);
	const from = { lower: encodeKey("k-ada"), upper: encodeKey("k-bob"), lowerOpen: true, upperOpen: false };
	expect(
		file.rows(store.id, null, from, { count: null, isBackwards: false }).map(({ value }) => value),
	).toEqual([{ name: "bob", bytes: Uint8Array.of(1, 2) }]);
	file.begin();
	file.put(store, { name: "bob", bytes: Uint8Array.of(3) }, "k-bob", false);
	file.delete(store.id, {
		lower: encodeKey("k-ada"),
		upper: encodeKey("k-ada"),
		lowerOpen: false,
		upperOpen: false,
	});
	file.commit();
	expect(names(false)).toEqual(["bob", "carol"]);
	expect(file.count(store.id, null, EVERYTHING)).toBe(2);
	file.close();
});

test("what was not committed is not there after a reopening, and a second opener is refused while the first has it", () => {
	const path = join(fileAt(), "keys", "matrix.db");
	const first = new IdbFile(path);
	expect(statSync(path).mode & 0o777).toBe(0o600);
	first.begin();
	first.setVersion("db", 3);
	first.commit();
	first.begin();
	first.setVersion("db", 4);
	expect(() => new IdbFile(path)).toThrow(FileTaken);
	first.close();
	const second = new IdbFile(path);
	expect(second.versionOf("db")).toBe(3);
	second.keepWaiting("!room", "$1", "{}", 10);
	second.keepWaiting("!room", "$2", "{}", 20);
	expect(second.waiting(15)).toEqual([{ room: "!room", body: "{}" }]);
	second.close();
});
