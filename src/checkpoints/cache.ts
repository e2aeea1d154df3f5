// The result of the last scan of a workspace, so that the next reads only changed files. Derived data: a missing, damaged or outdated one
// only costs time.
import { createReadStream, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { crc32 } from "node:zlib";
import { type Columns, FileTable, NUMBERS, OID_BYTES } from "./file-table.ts";

interface Snapshotted {
	/** The snapshot whose files these are. */
	readonly commit: string;
	readonly tree: string;
	/** The manifest of that snapshot. */
	readonly manifest: Buffer;
	/** What git's tree does not record about these files. */
	readonly facts: Buffer;
}

export interface ScanCache extends Snapshotted {
	readonly files: FileTable;
}

const VERSION = 3;
const LATIN = "latin1";
const HEADER_BYTES = 1024;

export function cacheFile(repository: string): string {
	return join(repository, "scan.cache");
}

interface Header {
	readonly version: number;
	readonly commit: string;
	readonly tree: string;
	readonly count: number;
	/** The length of each part of the body, in bytes. */
	readonly parts: readonly number[];
	readonly crc: number;
}

export function writeCache(
	file: string,
	files: Columns,
	{ commit, tree, manifest, facts }: Snapshotted,
): void {
	const { folders, counts, names, numbers, kinds, oids } = files;
	const parts = [
		bytesOf(numbers),
		bytesOf(kinds),
		bytesOf(counts),
		oids,
		Buffer.from(folders.join("\0"), LATIN),
		Buffer.from(names.join("\0"), LATIN),
		manifest,
		facts,
	];
	const header: Header = {
		version: VERSION,
		commit,
		tree,
		count: names.length,
		parts: parts.map(({ length }) => length),
		crc: parts.reduce((crc, part) => crc32(part, crc), 0),
	};
	const draft = `${file}.draft`;
	const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...parts]);
	writeFileSync(draft, bytes, { mode: 0o600 });
	renameSync(draft, file);
}

/** The commit it builds on, without reading the rest; null if there is none. */
export async function cachedCommit(file: string): Promise<string | null> {
	try {
		for await (const line of createInterface({ input: createReadStream(file, { end: HEADER_BYTES }) }))
			return (JSON.parse(line) as Header).commit;
	} catch {
		// Treated as missing.
	}
	return null;
}

export function readCache(file: string): ScanCache | null {
	try {
		return parse(readFileSync(file));
	} catch {
		return null;
	}
}

function parse(bytes: Buffer): ScanCache | null {
	const end = bytes.indexOf("\n");
	const header = JSON.parse(bytes.toString("utf8", 0, end)) as Header;
	const body = bytes.subarray(end + 1);
	if (header.version !== VERSION || crc32(body) !== header.crc) return null;
	const { count, commit, tree } = header;
	let at = 0;
	const [numbers, kinds, counts, oids, folders, names, manifest, facts] = header.parts.map((length) => {
		at += length;
		return body.subarray(at - length, at);
	}) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
	const files = new FileTable({
		folders: textsOf(folders, count),
		counts: new Uint32Array(aligned(counts)),
		names: textsOf(names, count),
		numbers: new Float64Array(aligned(numbers)),
		kinds: new Uint16Array(aligned(kinds)),
		oids,
	});
	const isWhole = numbers.length === count * NUMBERS * 8 && oids.length === count * OID_BYTES;
	return files.size === count && isWhole ? { commit, tree, files, manifest, facts } : null;
}

/** Without files there are no names; a single empty name is the workspace itself. */
function textsOf(part: Buffer, files: number): readonly string[] {
	return files === 0 ? [] : part.toString(LATIN).split("\0");
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint16Array | Uint32Array): Buffer {
	return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** A copy: the parts of the file are not aligned. */
function aligned(part: Buffer): ArrayBuffer {
	return Uint8Array.prototype.slice.call(part).buffer as ArrayBuffer;
}
