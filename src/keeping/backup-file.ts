// The file format of a backup: a line that names it, a line of JSON, the packed entries, and an end with length and checksum.
//
//   KERYX BACKUP 1
//   {"made_at":..., "version":..., "sealed":null | {...}}
//   gzip of: for each entry 4 bytes length, {"name","size"} as JSON, then its bytes    (AES-256-GCM over that, if sealed, then its tag)
//   32 bytes SHA-256 of everything before, 8 bytes length of everything before, "KERYXEND"
//
// The end comes last, so a file that was cut short is told from one that was altered. Entries have fixed names (I10).
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, scrypt } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, link, open, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PassThrough, Readable, Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { z } from "zod";
import { KeryxError } from "../errors.ts";

const MAGIC = "KERYX BACKUP 1\n";
const END = "KERYXEND";
const END_BYTES = 32 + 8 + END.length;
const LONGEST_HEADER = 4096;
const TAG_BYTES = 16;

const ENTRIES = ["manifest.json", "keryx.db", "audit.key", "pseudonym.key", "config.yaml"] as const;
export type EntryName = (typeof ENTRIES)[number];

export interface BackupContents {
	readonly madeAt: number;
	/** Of the Keryx that made it. */
	readonly version: string;
	/** Files by the name they have in the backup. */
	readonly entries: readonly { readonly name: EntryName; readonly from: string | Uint8Array }[];
}

const sealSchema = z.strictObject({
	kdf: z.literal("scrypt"),
	/** Limited: the header is read before anything is known about its writer. */
	n: z
		.int()
		.min(2 ** 14)
		.max(2 ** 18),
	salt: z.string().length(32),
	iv: z.string().length(24),
	/** Distinguishes a wrong passphrase from a changed file. */
	check: z.string().length(32),
});
type Seal = z.output<typeof sealSchema>;
const headerSchema = z.object({
	made_at: z.iso.datetime(),
	version: z.string(),
	sealed: sealSchema.nullable(),
});

const SCRYPT_N = 2 ** 17;

function keyFrom(passphrase: string, { n, salt }: Pick<Seal, "n" | "salt">): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const options = { N: n, r: 8, p: 1, maxmem: 256 * n * 8 };
		scrypt(passphrase.normalize("NFC"), Buffer.from(salt, "hex"), 32, options, (error, key) =>
			error ? reject(error) : resolve(key),
		);
	});
}

function checkOf(key: Buffer): string {
	return createHmac("sha256", key).update("keryx backup").digest("hex").slice(0, 32);
}

async function newSeal(passphrase: string): Promise<{ readonly seal: Seal; readonly key: Buffer }> {
	const salt = randomBytes(16).toString("hex");
	const key = await keyFrom(passphrase, { n: SCRYPT_N, salt });
	const iv = randomBytes(12).toString("hex");
	return { key, seal: { kdf: "scrypt", n: SCRYPT_N, salt, iv, check: checkOf(key) } };
}

/** Complete, private and on disk, or not there at all. Never replaces an existing file. Returns its size. */
export async function writeBackup(
	path: string,
	contents: BackupContents,
	passphrase: string | null,
): Promise<number> {
	const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
	try {
		await rm(part, { force: true });
		const bytes = await writePart(part, contents, passphrase);
		await assertWhole(part);
		await link(part, path);
		await syncFolder(dirname(path));
		return bytes;
	} catch (cause) {
		const { code, message } = cause as NodeJS.ErrnoException;
		if (code === "EEXIST")
			throw new KeryxError("backup.failed", `${path} exists already`, {
				hint: "name a file that does not exist yet",
				cause,
			});
		if (cause instanceof KeryxError) throw cause;
		throw new KeryxError("backup.failed", `the backup ${path} could not be written: ${message}`, { cause });
	} finally {
		await rm(part, { force: true });
	}
}

async function writePart(
	path: string,
	{ madeAt, version, entries }: BackupContents,
	passphrase: string | null,
): Promise<number> {
	const sealed = passphrase === null ? null : await newSeal(passphrase);
	const header = { made_at: new Date(madeAt).toISOString(), version, sealed: sealed?.seal ?? null };
	const head = Buffer.from(`${MAGIC}${JSON.stringify(header)}\n`);
	const file = await open(path, "wx", 0o600);
	try {
		const hash = createHash("sha256");
		let bytes = 0;
		const write = async (chunk: Uint8Array): Promise<void> => {
			hash.update(chunk);
			bytes += chunk.length;
			await file.writeFile(chunk);
		};
		await write(head);
		const cipher = sealed && createCipheriv("aes-256-gcm", sealed.key, Buffer.from(sealed.seal.iv, "hex"));
		cipher?.setAAD(head);
		await pipeline(
			Readable.from(framesOf(entries), { objectMode: false }),
			createGzip({ level: 4 }),
			cipher ?? new PassThrough(),
			async (packed: AsyncIterable<Buffer>) => {
				for await (const chunk of packed) await write(chunk);
			},
		);
		if (cipher) await write(cipher.getAuthTag());
		const length = Buffer.alloc(8);
		length.writeBigUInt64BE(BigInt(bytes));
		await file.writeFile(Buffer.concat([hash.digest(), length, Buffer.from(END)]));
		await file.sync();
		return bytes + END_BYTES;
	} finally {
		await file.close();
	}
}

async function* framesOf(entries: BackupContents["entries"]): AsyncGenerator<Buffer> {
	for (const { name, from } of entries) {
		const size = typeof from === "string" ? (await stat(from)).size : from.length;
		const head = Buffer.from(JSON.stringify({ name, size }));
		const length = Buffer.alloc(4);
		length.writeUInt32BE(head.length);
		yield Buffer.concat([length, head]);
		if (typeof from !== "string") yield Buffer.from(from);
		else for await (const chunk of createReadStream(from)) yield chunk as Buffer;
	}
}

interface OpenedBackup {
	readonly madeAt: number;
	readonly version: string;
	readonly isSealed: boolean;
	/** Writes its entries into a folder, private, and returns their names. Throws backup.passphrase, backup.damaged. */
	unpack(folder: string, passphrase: string | null): Promise<ReadonlySet<EntryName>>;
}

/** Reads all of it once: throws backup.damaged with the reason if it is incomplete. */
export async function openBackup(path: string): Promise<OpenedBackup> {
	const { header, head, end } = await assertWhole(path);
	return {
		madeAt: Date.parse(header.made_at),
		version: header.version,
		isSealed: header.sealed !== null,
		unpack: async (folder, passphrase) => {
			const range = { start: head.length, end: end - 1 - (header.sealed ? TAG_BYTES : 0) };
			const names = new Set<EntryName>();
			try {
				await pipeline(
					createReadStream(path, range),
					await decipherOf(path, header.sealed, head, end, passphrase),
					createGunzip(),
					new Unpacking(folder, names),
				);
			} catch (cause) {
				if (cause instanceof KeryxError) throw cause;
				const { syscall, message } = cause as NodeJS.ErrnoException;
				// The disk's fault, not the file's.
				if (syscall !== undefined)
					throw new KeryxError("backup.failed", `${path} could not be unpacked: ${message}`, { cause });
				throw damaged(path, `its contents cannot be read (${(cause as Error).message})`, cause);
			}
			return names;
		},
	};
}

async function decipherOf(
	path: string,
	seal: Seal | null,
	head: Buffer,
	end: number,
	passphrase: string | null,
): Promise<Transform> {
	if (seal === null) return new PassThrough();
	if (passphrase === null) throw new KeryxError("backup.passphrase", `${path} is encrypted`);
	const key = await keyFrom(passphrase, seal);
	if (checkOf(key) !== seal.check)
		throw new KeryxError("backup.passphrase", `this is not the passphrase of ${path}`);
	const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(seal.iv, "hex"));
	decipher.setAAD(head);
	decipher.setAuthTag(await readAt(path, end - TAG_BYTES, TAG_BYTES));
	return decipher;
}

/** Splits the stream into entries, and writes each to its own file. */
class Unpacking extends Transform {
	readonly #folder: string;
	readonly #names: Set<EntryName>;
	#gathered: Buffer = Buffer.alloc(0);
	#file: FileHandle | null = null;
	#left = 0;

	constructor(folder: string, names: Set<EntryName>) {
		super();
		this.#folder = folder;
		this.#names = names;
	}

	override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
		this.#take(chunk).then(() => done(), done);
	}

	override _flush(done: TransformCallback): void {
		const isWhole = this.#file === null && this.#gathered.length === 0;
		void this.#file?.close();
		done(isWhole ? null : new Error("it ends within an entry"));
	}

	async #take(chunk: Buffer): Promise<void> {
		let rest: Buffer = this.#file ? chunk : Buffer.concat([this.#gathered, chunk]);
		this.#gathered = Buffer.alloc(0);
		while (rest.length > 0) {
			if (this.#file === null) {
				const after = await this.#begin(rest);
				if (after === null) {
					this.#gathered = rest;
					return;
				}
				rest = after;
			}
			const piece = rest.subarray(0, this.#left);
			if (this.#file !== null && piece.length > 0) await (this.#file as FileHandle).writeFile(piece);
			this.#left -= piece.length;
			rest = rest.subarray(piece.length);
			if (this.#left === 0) await this.#end();
		}
	}

	/** Null: its header has not arrived yet. */
	async #begin(bytes: Buffer): Promise<Buffer | null> {
		if (bytes.length < 4) return null;
		const length = bytes.readUInt32BE();
		if (length > LONGEST_HEADER) throw new Error("an entry has no head");
		if (bytes.length < 4 + length) return null;
		const head: unknown = JSON.parse(bytes.subarray(4, 4 + length).toString());
		const { name, size } = z.object({ name: z.enum(ENTRIES), size: z.int().min(0) }).parse(head);
		this.#file = await open(join(this.#folder, name), "wx", 0o600);
		this.#names.add(name);
		this.#left = size;
		if (size === 0) await this.#end();
		return bytes.subarray(4 + length);
	}

	async #end(): Promise<void> {
		await this.#file?.sync();
		await this.#file?.close();
		this.#file = null;
	}
}

interface Whole {
	readonly header: z.output<typeof headerSchema>;
	readonly head: Buffer;
	/** Where its contents end, from the start. */
	readonly end: number;
}

async function assertWhole(path: string): Promise<Whole> {
	const { size } = await stat(path).catch((cause: Error) => {
		throw new KeryxError("input.unreadable", `cannot read ${path}: ${cause.message}`, { cause });
	});
	const first = await readAt(path, 0, Math.min(size, LONGEST_HEADER));
	if (!first.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC)))
		throw damaged(path, size === 0 ? "it is empty" : "it is not a backup made by Keryx");
	const end = size - END_BYTES;
	const last = end < MAGIC.length ? null : await readAt(path, end, END_BYTES);
	if (!last?.subarray(-END.length).equals(Buffer.from(END)) || last.readBigUInt64BE(32) !== BigInt(end))
		throw damaged(path, "it is cut short: its end is missing");
	const hash = createHash("sha256");
	for await (const chunk of createReadStream(path, { end: end - 1 })) hash.update(chunk as Buffer);
	if (!hash.digest().equals(last.subarray(0, 32)))
		throw damaged(path, "it was altered: its checksum does not match its contents");
	const newline = first.indexOf("\n", MAGIC.length);
	const head = first.subarray(0, newline + 1);
	const header = headerSchema.safeParse(parsed(head.subarray(MAGIC.length).toString()));
	if (newline === -1 || !header.success) throw damaged(path, "its header cannot be read");
	return { header: header.data, head, end };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

async function readAt(path: string, position: number, length: number): Promise<Buffer> {
	const file = await open(path, "r");
	try {
		const buffer = Buffer.alloc(length);
		const { bytesRead } = await file.read(buffer, 0, length, position);
		return buffer.subarray(0, bytesRead);
	} finally {
		await file.close();
	}
}

function damaged(path: string, why: string, cause?: unknown): KeryxError {
	return new KeryxError("backup.damaged", `${path} cannot be restored: ${why}`, { cause });
}

/** Flushes the name to disk, too. */
async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, "r");
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}
