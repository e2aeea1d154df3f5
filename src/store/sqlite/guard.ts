// Whether an owner may still acknowledge its commits: no newer owner has taken over, and its open files are those at their paths. Checked
// around every commit, and periodically otherwise.
import { basename } from "node:path";
import { KeryxError } from "../../errors.ts";
import { get, type Op, sql } from "../query.ts";
import type { Connection } from "./connection.ts";
import { isStorageFault, toKeryxError } from "./faults.ts";
import { closeKeepingLog, noteOverwritten } from "./foreign-log.ts";
import { type Loss, type OpenedFiles, OpenFiles } from "./open-files.ts";
import { currentOwner } from "./ownership.ts";

export interface Guarded {
	readonly connection: Connection;
	readonly epoch: number;
	readonly opened: OpenedFiles;
	/** Called for each change: the trouble, and null when it is over. */
	readonly tell: (trouble: KeryxError | null) => void;
}

export class Guard {
	readonly #connection: Connection;
	readonly #epoch: number;
	readonly #path: string;
	readonly #files: OpenFiles;
	readonly #tell: Guarded["tell"];
	#trouble: KeryxError | null = null;
	/** Permanent: an epoch never comes back. */
	#superseded: KeryxError | null = null;

	constructor({ connection, epoch, opened, tell }: Guarded) {
		this.#connection = connection;
		this.#epoch = epoch;
		this.#path = opened.path;
		this.#files = new OpenFiles(connection, opened);
		this.#tell = tell;
	}

	/** Before a group starts, and again after its commit: throws if it must not be acknowledged. */
	check(): void {
		const trouble = this.#superseded ?? this.#look();
		this.#hold(trouble);
		if (trouble) throw trouble;
	}

	/** Within the group's transaction, so that no newer owner comes in between. */
	checkEpoch(): void {
		if (this.#connection.run(epochNow()) === this.#epoch) return;
		const owner = currentOwner(this.#path);
		this.#superseded = new KeryxError(
			"store.owner_lost",
			`the store ${this.#path} belongs to a newer Keryx: ${owner}`,
		);
		throw this.#superseded;
	}

	/** While nothing is committed. */
	lookAround(): void {
		try {
			this.check();
			this.checkEpoch();
		} catch (error) {
			this.#hold(toKeryxError(error));
		}
	}

	/** After a commit is acknowledged. If the log cannot be checkpointed, the next commit tries again. */
	tidy(): void {
		try {
			if (this.#trouble === null) this.#files.foldIfLong();
		} catch (error) {
			if (!isStorageFault(error)) throw error;
		}
	}

	/** Leaves the files in a state that the next start can use. */
	close(): void {
		if (this.#files.isOverwritten) closeKeepingLog(this.#path, this.#connection.db);
		else this.#connection.db.close();
	}

	#look(): KeryxError | null {
		const loss = this.#files.look();
		if (!loss) return null;
		if (loss.file === "" && loss.how === "written") noteOverwritten(this.#path);
		else if (loss.file === "" || (loss.file === "-wal" && loss.how !== "written")) this.#saveLog();
		return describe(this.#path, loss);
	}

	/**
	 * Checkpoints the whole log into its own database. If the log file is gone, this saves acknowledged data; if the database is another
	 * one, SQLite would apply the log to it at the next start. Readers may prevent it; the next check tries again.
	 */
	#saveLog(): void {
		try {
			if (this.#connection.log().frames > 0) this.#files.fold("TRUNCATE");
		} catch (error) {
			if (!isStorageFault(error)) throw error;
		}
	}

	#hold(trouble: KeryxError | null): void {
		const isNews = trouble?.message !== this.#trouble?.message;
		this.#trouble = trouble;
		if (isNews) this.#tell(trouble);
	}
}

const readEpoch = sql<{ value: string }>("SELECT value FROM settings WHERE name = 'epoch'");

export function* epochNow(): Op<number> {
	return Number((yield* get(readEpoch))?.value ?? 0);
}

const HOW: Readonly<Record<Loss["how"], string>> = {
	gone: "was deleted or moved away",
	other: "was replaced by another file",
	written: "was overwritten by another program",
};

function describe(path: string, { file, how }: Loss): KeryxError {
	const name = basename(path);
	const what = `${path}${file} ${HOW[how]} while Keryx had it open`;
	if (file === ".owner" && how === "other")
		return new KeryxError("store.owner_lost", `${what}: the store belongs to ${currentOwner(path)}`);
	if (file === ".owner")
		return new KeryxError("store.owner_lost", `${what}: nothing keeps a second Keryx out of the store`, {
			hint: "put it back and Keryx continues, or restart Keryx",
		});
	if (file === "" && how === "written")
		return new KeryxError("store.replaced", what, {
			hint: `stop Keryx, delete ${name}-wal and ${name}-shm, put the right file in place again, and start Keryx`,
		});
	if (file === "-wal" && how === "written")
		return new KeryxError("store.replaced", what, {
			hint: "restart Keryx: what was only in the log is lost, so restore a backup if it matters",
		});
	if (file === "") return new KeryxError("store.replaced", what);
	return new KeryxError("store.replaced", what, {
		hint: "restart Keryx: everything it accepted is still there",
	});
}
