// What the last look at a workspace found, so that the next one reads only files that changed. Derived from the workspace and the
// repository: one that is missing, damaged or of another version costs time and nothing else.
import { createReadStream, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { crc32 } from "node:zlib";
import type { RawPath } from "./names.ts";

export interface Found {
	readonly mode: "100644" | "100755" | "120000";
	/** Of a file, exactly; of a link there are none. */
	readonly permissions: number;
	/** Hexadecimal, of the blob. */
	readonly oid: string;
	readonly size: bigint;
	readonly mtime: bigint;
	/** 0: it was changed so shortly before it was read that its times cannot vouch for it. */
	readonly ctime: bigint;
	readonly ino: bigint;
}

export interface ScanCache {
	/** The snapshot whose files these are. */
	readonly commit: string;
	readonly tree: string;
	readonly files: ReadonlyMap<RawPath, Found>;
	/** The manifest of that snapshot. */
	readonly manifest: Buffer;
	/** What git's tree does not say of these files. */
	readonly facts: Buffer;
}

const VERSION = 2;
const MODES = ["100644", "100755", "120000"] as const;
const NUMBERS = 4;
const OID_BYTES = 20;
const MODE_BYTES = 3;
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
	readonly paths: number;
	readonly manifest: number;
	readonly facts: number;
	readonly crc: number;
}

export function writeCache(file: string, { commit, tree, files, manifest, facts }: ScanCache): void {
	const count = files.size;
	const numbers = new BigUint64Array(count * NUMBERS);
	const modes = Buffer.alloc(count * MODE_BYTES);
	let oids = "";
	let at = 0;
	for (const { mode, permissions, oid, size, mtime, ctime, ino } of files.values()) {
		const first = at * NUMBERS;
		numbers[first] = size;
		numbers[first + 1] = mtime;
		numbers[first + 2] = ctime;
		numbers[first + 3] = ino;
		modes[at * MODE_BYTES] = MODES.indexOf(mode);
		modes.writeUInt16LE(permissions, at++ * MODE_BYTES + 1);
		oids += oid;
	}
	const paths = Buffer.from([...files.keys()].join("\0"), LATIN);
	const body = Buffer.concat([
		Buffer.from(numbers.buffer),
		modes,
		Buffer.from(oids, "hex"),
		paths,
		manifest,
		facts,
	]);
	const header: Header = {
		version: VERSION,
		commit,
		tree,
		count,
		paths: paths.length,
		manifest: manifest.length,
		facts: facts.length,
		crc: crc32(body),
	};
	const draft = `${file}.draft`;
	writeFileSync(draft, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]), { mode: 0o600 });
	renameSync(draft, file);
}

/** The commit it builds on, without reading the rest; null where there is none. */
export async function cachedCommit(file: string): Promise<string | null> {
	try {
		for await (const line of createInterface({ input: createReadStream(file, { end: HEADER_BYTES }) }))
			return (JSON.parse(line) as Header).commit;
	} catch {
		// As good as none.
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
	const { count } = header;
	const modes = count * NUMBERS * 8;
	const oids = modes + count * MODE_BYTES;
	const paths = oids + count * OID_BYTES;
	const manifest = paths + header.paths;
	const facts = manifest + header.manifest;
	// A copy: what stands behind the header is not aligned.
	const numbers = new BigUint64Array(Uint8Array.prototype.slice.call(body, 0, modes).buffer);
	const hex = body.toString("hex", oids, paths);
	const files = new Map<RawPath, Found>();
	const names = count === 0 ? [] : body.toString(LATIN, paths, manifest).split("\0");
	for (const [n, name] of names.entries()) {
		const at = n * NUMBERS;
		files.set(name as RawPath, {
			mode: MODES[body[modes + n * MODE_BYTES] ?? 0] ?? "100644",
			permissions: body.readUInt16LE(modes + n * MODE_BYTES + 1),
			oid: hex.slice(n * OID_BYTES * 2, (n + 1) * OID_BYTES * 2),
			size: numbers[at] as bigint,
			mtime: numbers[at + 1] as bigint,
			ctime: numbers[at + 2] as bigint,
			ino: numbers[at + 3] as bigint,
		});
	}
	return {
		commit: header.commit,
		tree: header.tree,
		files,
		manifest: Buffer.from(body.subarray(manifest, facts)),
		facts: Buffer.from(body.subarray(facts)),
	};
}
