// Local records of processes on another machine: one file each, written atomically, and next to it the reports of the ssh client and the
// other machine (`<id>.told`). They outlive their writer and never contain values of variables.
import { closeSync, openSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { KeryxError } from "../../errors.ts";
import { unknown } from "../inspect.ts";
import type { ProcessEnd, ProcessIdentity, PtySize } from "../types.ts";
import type { RemoteFamily } from "./family.ts";
import { type RemoteStart, type RemoteState, readState } from "./remote-state.ts";

export interface RemoteRecord {
	readonly id: string;
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly pty: PtySize | null;
	readonly startedAt: number;
	/** Its folder on the other machine; null until there is one. */
	readonly folder: string | null;
	readonly started: RemoteStart | null;
	/** A kill was requested before it ended. */
	readonly isKilled: boolean;
	readonly end: ProcessEnd | null;
	/** The connection broke, and its outcome could not be learned. */
	readonly isLost: boolean;
	/** Survivors at its end. */
	readonly survivors: readonly ProcessIdentity[];
	readonly isForgotten: boolean;
}

/** Null if it never started. */
export function familyOf({ id, started, survivors }: RemoteRecord): RemoteFamily | null {
	return started && { id, leader: started.identity, group: started.group, witnesses: survivors };
}

const ID = /^[a-z0-9_]{4,40}$/;

export class RemoteRecords {
	readonly #folder: string;
	#before: Promise<unknown> = Promise.resolve();

	constructor(folder: string) {
		this.#folder = folder;
	}

	async open(): Promise<void> {
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
	}

	stateFile(id: string): string {
		return join(this.#folder, `${id}.told`);
	}

	/** Refuses a used id, and one that cannot be a file name (I10). */
	async create(record: RemoteRecord): Promise<void> {
		const { id } = record;
		checkId(id);
		try {
			closeSync(openSync(this.stateFile(id), "wx", 0o600));
		} catch (cause) {
			if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
			throw new KeryxError("process.taken", `process ${id} already exists`, { cause });
		}
		await this.#write(record);
	}

	/** One at a time, so that no other update is lost. */
	update(id: string, change: Partial<RemoteRecord>): Promise<RemoteRecord> {
		const updated = this.#before.then(async () => {
			const record = { ...(await this.read(id)), ...change };
			await this.#write(record);
			return record;
		});
		this.#before = updated.catch(() => {});
		return updated;
	}

	/** Forgotten ones too. */
	async read(id: string): Promise<RemoteRecord> {
		checkId(id);
		const text = await readFile(this.#file(id), "utf8").catch(orMissing(null));
		if (text === null) throw unknown(id);
		return JSON.parse(text) as RemoteRecord;
	}

	async all(): Promise<RemoteRecord[]> {
		const ids = (await readdir(this.#folder)).flatMap((name) => /^(\w+)\.json$/.exec(name)?.[1] ?? []);
		const found: RemoteRecord[] = [];
		for (const id of ids) {
			const text = await readFile(this.#file(id), "utf8").catch(orMissing(null));
			if (text !== null) found.push(JSON.parse(text) as RemoteRecord);
		}
		return found;
	}

	async state(id: string): Promise<RemoteState> {
		return readState(await readFile(this.stateFile(id), "utf8").catch(orMissing("")));
	}

	async remove(id: string): Promise<void> {
		await rm(this.#file(id), { force: true });
		await rm(this.stateFile(id), { force: true });
	}

	async #write(record: RemoteRecord): Promise<void> {
		const file = this.#file(record.id);
		const handle = await open(`${file}.new`, "w", 0o600);
		try {
			await handle.writeFile(JSON.stringify(record));
			await handle.sync();
		} finally {
			await handle.close();
		}
		await rename(`${file}.new`, file);
	}

	#file(id: string): string {
		return join(this.#folder, `${id}.json`);
	}
}

function checkId(id: string): void {
	if (ID.test(id)) return;
	const problem = `a process id must be 4 to 40 of a-z, 0-9 and _, not ${JSON.stringify(id)}`;
	throw new KeryxError("argument.invalid", problem, { field: "id" });
}

function orMissing<Value>(value: Value): (error: unknown) => Value {
	return (error) => {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return value;
		throw error;
	};
}
