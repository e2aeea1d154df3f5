// The files that a scan found, as columns by folder and name. Every snapshot compares tens of thousands of files with
// the last one, so an unchanged file costs no object and no path. Holds no file's content and reads no file.
import type { Stats } from "node:fs";
import { nameOf, parentOf, type RawPath } from "./names.ts";

/** One file. Times are in milliseconds, with fractions as exact as the system's clock. */
export interface Found {
	readonly mode: "100644" | "100755" | "120000";
	/** A file's exact permissions; links have none. */
	readonly permissions: number;
	/** The blob's id, hexadecimal. */
	readonly oid: string;
	readonly size: number;
	readonly mtime: number;
	/** 0: it was changed so shortly before it was read that its times prove nothing. */
	readonly ctime: number;
	readonly ino: number;
}

/** Files of one folder are neighbours, sorted by name. Folders end with /; the workspace itself is ''. */
export interface Columns {
	readonly folders: readonly string[];
	/** The number of files in each folder. */
	readonly counts: Uint32Array;
	readonly names: readonly string[];
	/** Four per file: size, mtime, ctime, ino. */
	readonly numbers: Float64Array;
	/** git's mode and the permissions of each file. */
	readonly kinds: Uint16Array;
	readonly oids: Buffer;
}

export const NUMBERS = 4;
export const OID_BYTES = 20;
const MODES = ["100644", "100755", "120000"] as const;
const LINK_KIND = 2;
/** Permissions use the bits below. */
const MODE_BITS = 12;
const PERMISSIONS = 0o7777;
const TYPE = 0o170000;
const LINK_TYPE = 0o120000;
const OWNER_MAY_RUN = 0o100;

/** The rows of one folder. */
export class FolderRows {
	readonly first: number;
	readonly end: number;
	readonly #names: readonly string[];
	#next: number;

	constructor(names: readonly string[], first: number, end: number) {
		this.#names = names;
		this.first = first;
		this.end = end;
		this.#next = first;
	}

	/** -1: not found. Fast if names are looked up in order. */
	find(name: string): number {
		const isNext = this.#next < this.end && this.#names[this.#next] === name;
		const row = isNext ? this.#next : this.#search(name);
		if (row >= 0) this.#next = row + 1;
		return row;
	}

	#search(name: string): number {
		let [low, high] = [this.first, this.end];
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((this.#names[middle] as string) < name) low = middle + 1;
			else high = middle;
		}
		return low < this.end && this.#names[low] === name ? low : -1;
	}
}

export class FileTable {
	readonly columns: Columns;
	readonly #folders = new Map<string, FolderRows>();

	constructor(columns: Columns) {
		this.columns = columns;
		let first = 0;
		for (const [n, folder] of columns.folders.entries()) {
			const end = first + (columns.counts[n] as number);
			this.#folders.set(folder, new FolderRows(columns.names, first, end));
			first = end;
		}
	}

	get size(): number {
		return this.columns.names.length;
	}

	/** Ends with /; the workspace itself is ''. */
	folder(path: string): FolderRows | undefined {
		return this.#folders.get(path);
	}

	folders(): Iterable<readonly [path: string, rows: FolderRows]> {
		return this.#folders;
	}

	/** -1: not found. */
	rowOf(path: RawPath): number {
		return this.#folders.get(folderOf(path))?.find(nameOf(path)) ?? -1;
	}

	get(path: RawPath): Found | undefined {
		const row = this.rowOf(path);
		if (row < 0) return undefined;
		const { numbers, kinds, oids } = this.columns;
		const kind = kinds[row] as number;
		const at = row * NUMBERS;
		return {
			mode: MODES[kind >> MODE_BITS] as Found["mode"],
			permissions: kind & PERMISSIONS,
			oid: oids.toString("hex", row * OID_BYTES, (row + 1) * OID_BYTES),
			size: numbers[at] as number,
			mtime: numbers[at + 1] as number,
			ctime: numbers[at + 2] as number,
			ino: numbers[at + 3] as number,
		};
	}

	/** Whether the times prove that a file is unchanged. Its inode number must be exact. */
	isUnchanged(row: number, stats: Stats): boolean {
		const { numbers, kinds } = this.columns;
		const at = row * NUMBERS;
		return (
			numbers[at + 2] === stats.ctimeMs &&
			numbers[at + 1] === stats.mtimeMs &&
			numbers[at] === stats.size &&
			numbers[at + 3] === stats.ino &&
			kinds[row] === kindOfStats(stats.mode)
		);
	}
}

export const NO_FILES = new FileTable({
	folders: [],
	counts: new Uint32Array(0),
	names: [],
	numbers: new Float64Array(0),
	kinds: new Uint16Array(0),
	oids: Buffer.alloc(0),
});

/** The files of the current scan: unchanged rows of the last scan, and new ones. */
export class FoundFiles {
	readonly #before: FileTable;
	readonly #kept: Uint8Array;
	#keptCount = 0;
	readonly #others = new Map<RawPath, Found>();

	constructor(before: FileTable) {
		this.#before = before;
		this.#kept = new Uint8Array(before.size);
	}

	get size(): number {
		return this.#keptCount + this.#others.size;
	}

	/** How many are unchanged since the last scan. */
	get kept(): number {
		return this.#keptCount;
	}

	keep(row: number): void {
		if (this.#kept[row] === 1) return;
		this.#kept[row] = 1;
		this.#keptCount++;
	}

	/** For a file that is not kept. */
	set(path: RawPath, found: Found): void {
		this.#others.set(path, found);
	}

	has(path: RawPath): boolean {
		return this.#others.has(path) || this.#kept[this.#before.rowOf(path)] === 1;
	}

	/** Files of the last scan that are not kept. */
	*unkept(): Generator<RawPath> {
		const { names } = this.#before.columns;
		for (const [folder, { first, end }] of this.#before.folders())
			for (let row = first; row < end; row++)
				if (this.#kept[row] !== 1) yield (folder + names[row]) as RawPath;
	}

	/** Files whose permissions differ from the usual ones of their mode. */
	*unusual(usual: (mode: string) => number): Generator<readonly [RawPath, number]> {
		const { names, kinds } = this.#before.columns;
		const plain = MODES.map((mode, n) => (n << MODE_BITS) | (n === LINK_KIND ? 0 : usual(mode)));
		for (const [folder, { first, end }] of this.#before.folders())
			for (let row = first; row < end; row++) {
				const kind = kinds[row] as number;
				if (this.#kept[row] !== 1 || kind === plain[kind >> MODE_BITS]) continue;
				yield [(folder + names[row]) as RawPath, kind & PERMISSIONS];
			}
		for (const [path, found] of this.#others)
			if (kindOf(found) !== plain[MODES.indexOf(found.mode)]) yield [path, found.permissions];
	}

	columns(): Columns {
		const writer = new ColumnsWriter(this.size);
		const others = byFolder(this.#others);
		for (const [folder, rows] of this.#before.folders()) {
			const added = others.get(folder);
			others.delete(folder);
			writer.folder(folder, this.#before.columns, this.#keptRows(rows), added ?? []);
		}
		for (const [folder, added] of others) writer.folder(folder, this.#before.columns, [], added);
		return writer.done();
	}

	/** A range if all are kept: copied at once. */
	#keptRows({ first, end }: FolderRows): Range | readonly number[] {
		const rows: number[] = [];
		for (let row = first; row < end; row++) if (this.#kept[row] === 1) rows.push(row);
		return rows.length === end - first ? { first, end } : rows;
	}
}

interface Range {
	readonly first: number;
	readonly end: number;
}

interface Named {
	readonly name: string;
	readonly found: Found;
}

class ColumnsWriter {
	readonly #folders: string[] = [];
	readonly #counts: number[] = [];
	readonly #names: string[] = [];
	readonly #numbers: Float64Array;
	readonly #kinds: Uint16Array;
	readonly #oids: Buffer;

	constructor(files: number) {
		this.#numbers = new Float64Array(files * NUMBERS);
		this.#kinds = new Uint16Array(files);
		this.#oids = Buffer.alloc(files * OID_BYTES);
	}

	folder(path: string, from: Columns, rows: Range | readonly number[], added: readonly Named[]): void {
		const before = this.#names.length;
		if ("end" in rows && added.length === 0) this.#copy(from, rows);
		else {
			const kept =
				"end" in rows ? Array.from({ length: rows.end - rows.first }, (_, n) => rows.first + n) : rows;
			const all = [...kept.map((row) => ({ name: from.names[row] as string, row })), ...added];
			for (const one of all.sort((a, b) => (a.name < b.name ? -1 : 1)))
				if ("row" in one) this.#copy(from, { first: one.row, end: one.row + 1 });
				else this.#add(one);
		}
		if (this.#names.length === before) return;
		this.#folders.push(path);
		this.#counts.push(this.#names.length - before);
	}

	done(): Columns {
		return {
			folders: this.#folders,
			counts: Uint32Array.from(this.#counts),
			names: this.#names,
			numbers: this.#numbers,
			kinds: this.#kinds,
			oids: this.#oids,
		};
	}

	#copy(from: Columns, { first, end }: Range): void {
		const row = this.#names.length;
		for (let n = first; n < end; n++) this.#names.push(from.names[n] as string);
		this.#numbers.set(from.numbers.subarray(first * NUMBERS, end * NUMBERS), row * NUMBERS);
		this.#kinds.set(from.kinds.subarray(first, end), row);
		from.oids.copy(this.#oids, row * OID_BYTES, first * OID_BYTES, end * OID_BYTES);
	}

	#add({ name, found }: Named): void {
		const row = this.#names.length;
		this.#names.push(name);
		this.#numbers.set([found.size, found.mtime, found.ctime, found.ino], row * NUMBERS);
		this.#kinds[row] = kindOf(found);
		this.#oids.write(found.oid, row * OID_BYTES, "hex");
	}
}

function byFolder(files: ReadonlyMap<RawPath, Found>): Map<string, Named[]> {
	const folders = new Map<string, Named[]>();
	for (const [path, found] of files) {
		const folder = folderOf(path);
		const named = folders.get(folder) ?? [];
		named.push({ name: nameOf(path), found });
		folders.set(folder, named);
	}
	return folders;
}

function folderOf(path: RawPath): string {
	const parent = parentOf(path);
	return parent === "" ? "" : `${parent}/`;
}

function kindOf({ mode, permissions }: Found): number {
	return (MODES.indexOf(mode) << MODE_BITS) | permissions;
}

/** The same from the system's mode. A link has no permissions. */
function kindOfStats(mode: number): number {
	if ((mode & TYPE) === LINK_TYPE) return LINK_KIND << MODE_BITS;
	return (Number((mode & OWNER_MAY_RUN) !== 0) << MODE_BITS) | (mode & PERMISSIONS);
}
