// One owner per store. It holds an exclusive transaction on a tiny database beside the store for its lifetime; the kernel
// frees that on kill -9, so there is nothing stale to clean up. The text beside it says who, for the message only.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { KeryxError } from "../../errors.ts";
import { createPrivately } from "./files.ts";

export interface Ownership {
	release(): void;
}

export function takeOwnership(path: string, startedAt: number): Ownership {
	const lockFile = `${path}.owner`;
	const textFile = `${path}.owner.txt`;
	createPrivately(lockFile);
	const lock = new Database(lockFile, { timeout: 0 });
	try {
		lock.pragma("journal_mode = DELETE");
		lock.exec("BEGIN EXCLUSIVE");
	} catch (error) {
		lock.close();
		if ((error as { code?: string }).code?.startsWith("SQLITE_BUSY")) throw ownedBy(path, textFile, error);
		throw error;
	}
	writeFileSync(textFile, `${hostname()} pid ${process.pid} since ${new Date(startedAt).toISOString()}\n`, {
		mode: 0o600,
	});
	return {
		release: () => {
			lock.exec("ROLLBACK");
			lock.close();
		},
	};
}

function ownedBy(path: string, textFile: string, cause: unknown): KeryxError {
	const who = existsSync(textFile) ? readFileSync(textFile, "utf8").trim() : "another process";
	return new KeryxError("store.owned", `the store ${path} belongs to a running Keryx: ${who}`, { cause });
}
