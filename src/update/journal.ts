// Records of updates, in `versions` of the home. The journal exists from the request until the update is made or undone; `current.json`
// names the running version; `last.json` the last result. Each is replaced atomically, and is on disk before anything that follows from
// it.
import {
	closeSync,
	existsSync,
	fsyncSync,
	linkSync,
	mkdirSync,
	openSync,
	readFileSync,
	renameSync,
	rmSync,
	writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { KeryxError } from "../errors.ts";

const identity = z.object({ bootId: z.string(), pid: z.int(), startTime: z.string() });

const build = z.object({
	version: z.string(),
	/** The folder of its package. */
	root: z.string(),
	/** The version of its store. */
	schema: z.int(),
});
export type Build = z.output<typeof build>;

const journal = z.object({
	/**
	 * asked: everything is checked; the running Keryx should stop. saving: the store is being copied. held: the new version may have
	 * opened the store, but nobody reaches it. going: it was released, and may have accepted messages.
	 */
	phase: z.enum(["asked", "saving", "held", "going"]),
	from: build,
	to: build,
	/** The package whose code continues with this journal. */
	by: z.string(),
	askedAt: z.number(),
	/** How long the new version took to open a copy of the store. */
	trialMs: z.number(),
	/** Whether /ready said yes before; only then is it expected of the new version. */
	wasReady: z.boolean(),
	/** Starts of the new version since it took over. */
	attempts: z.int(),
	/** The launcher that works on it. */
	worker: identity.nullable(),
	/** The command that asked for it, and waits for its end. */
	asker: identity.nullable().default(null),
});
export type Journal = z.output<typeof journal>;

const current = z.object({
	version: z.string(),
	root: z.string(),
	/** The version of the package that was installed when this was written. Another one was installed later, and is used instead. */
	launcher: z.string(),
	since: z.number(),
	/** The store of the version before: where it is. Null: it was removed. */
	before: z.object({ version: z.string(), store: z.string() }).nullable(),
});
export type Current = z.output<typeof current>;

const last = z.object({
	from: z.string(),
	to: z.string(),
	at: z.number(),
	/** Null: the update was made. */
	problem: z.string().nullable(),
	/** How long nothing was answered, in milliseconds. */
	awayMs: z.number(),
});
export type Last = z.output<typeof last>;

export interface UpdatePaths {
	readonly folder: string;
	readonly journal: string;
	readonly current: string;
	readonly last: string;
	/** The store before the last update, with what belongs to it. */
	readonly before: string;
}

export function updatePaths(home: string): UpdatePaths {
	const folder = join(home, "versions");
	return {
		folder,
		journal: join(folder, "journal.json"),
		current: join(folder, "current.json"),
		last: join(folder, "last.json"),
		before: join(folder, "before"),
	};
}

export function versionFolder(home: string, version: string): string {
	return join(updatePaths(home).folder, version);
}

/** The package within the folder that npm installed it into. */
export function packageIn(folder: string): string {
	return join(folder, "node_modules", "keryx");
}

export function readJournal(home: string): Journal | null {
	return readAs(updatePaths(home).journal, journal);
}

export function readCurrent(home: string): Current | null {
	return readAs(updatePaths(home).current, current);
}

export function readLast(home: string): Last | null {
	return readAs(updatePaths(home).last, last);
}

export function writeJournal(home: string, value: Journal): Journal {
	replace(updatePaths(home).journal, value);
	return value;
}

/** Begins an update. Throws update.under_way if another one runs. */
export function beginJournal(home: string, value: Journal): Journal {
	const file = updatePaths(home).journal;
	const draft = `${file}.new-${process.pid}`;
	replace(draft, value);
	try {
		linkSync(draft, file);
		sync(dirname(file));
		return value;
	} catch (cause) {
		if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
		throw new KeryxError("update.under_way", "another update is under way", { cause });
	} finally {
		rmSync(draft, { force: true });
	}
}

export function writeCurrent(home: string, value: Current): void {
	replace(updatePaths(home).current, value);
}

/** The end of an update. The journal goes last: until then the end can be written again. */
export function endJournal(home: string, value: Last): void {
	const paths = updatePaths(home);
	replace(paths.last, value);
	rmSync(paths.journal, { force: true });
	sync(paths.folder);
}

function readAs<Value>(file: string, schema: z.ZodType<Value>): Value | null {
	if (!existsSync(file)) return null;
	try {
		return schema.parse(JSON.parse(readFileSync(file, "utf8")));
	} catch (cause) {
		if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw new KeryxError("update.failed", `${file} cannot be read: ${(cause as Error).message}`, {
			hint: `remove ${file}; \`keryx doctor\` then says whether the store is whole`,
			cause,
		});
	}
}

function replace(file: string, value: object): void {
	mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
	const draft = `${file}.${process.pid}`;
	const handle = openSync(draft, "w", 0o600);
	try {
		writeSync(handle, `${JSON.stringify(value, null, "\t")}\n`);
		fsyncSync(handle);
	} finally {
		closeSync(handle);
	}
	renameSync(draft, file);
	sync(dirname(file));
}

function sync(path: string): void {
	const handle = openSync(path, "r");
	try {
		fsyncSync(handle);
	} finally {
		closeSync(handle);
	}
}
