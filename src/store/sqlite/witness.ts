// The audit's witness file. The writer updates it after its commits: at most five times a second, in its own thread. It is never a source
// of data; a store that lacks what the witness saw does not overwrite it.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { type Clock, holdingClock } from "../../time/index.ts";
import { auditHead, auditStanding, markWitnessed, verifyAudit, witnessOf } from "../operations/index.ts";
import { OPERATOR } from "../operator.ts";
import type { Witness, WitnessFound } from "../types.ts";
import { Connection } from "./connection.ts";

/** How long after a commit, including everything in between; longer on a disk so slow that it would take too much time. */
const DELAY_MS = 200;
const MOST_OF_THE_TIME = 0.1;

export interface WitnessOptions {
	readonly path: string;
	readonly key: Uint8Array;
	readonly connection: Connection;
	readonly clock?: Pick<Clock, "monotonic" | "after">;
}

export class WitnessKeeper {
	readonly #options: WitnessOptions;
	readonly #clock: Pick<Clock, "monotonic" | "after">;
	/** False if the store lacks what the witness saw: then the witness is kept, as proof. */
	#isTrusted: boolean;
	/** Of the last one written. */
	#count: number;
	/** Cancels the writing that is due. */
	#cancel: (() => void) | null = null;
	#hasFailed = false;
	/** The last one. */
	#tookMs = 0;

	/** At the start, before anything is written to the store. */
	constructor(options: WitnessOptions) {
		this.#options = options;
		const { path, key, connection, clock = holdingClock } = options;
		this.#clock = clock;
		const found = readWitness(path);
		const { problem } = connection.run(auditStanding({ scope: OPERATOR }, key, () => found));
		this.#isTrusted = problem === null;
		this.#count = found.kind === "found" ? found.witness.count : -1;
		if (!this.#isTrusted) return;
		if (this.#head().count > this.#count) this.#write();
		connection.run(markWitnessed());
	}

	/** After each commit; `accepted` if a human said that the store is right. */
	committed(accepted: boolean): void {
		if (accepted) {
			this.#isTrusted = true;
			this.#tryToWrite();
		}
		if (!this.#isTrusted || this.#cancel !== null || this.#head().count <= this.#count) return;
		const delay = Math.max(DELAY_MS, this.#tookMs / MOST_OF_THE_TIME);
		this.#cancel = this.#clock.after(delay, () => this.#tryToWrite());
	}

	/** The connection is still open. */
	close(): void {
		if (this.#cancel !== null) this.#tryToWrite();
	}

	/** The commit stands: if the disk refuses the witness now, a later commit or the next start writes it. */
	#tryToWrite(): void {
		this.#cancel?.();
		this.#cancel = null;
		try {
			this.#write();
			this.#hasFailed = false;
		} catch (error) {
			if (!this.#hasFailed)
				process.emitWarning(`the audit's witness cannot be written: ${(error as Error).message}`);
			this.#hasFailed = true;
		}
	}

	#write(): void {
		const { path, key } = this.#options;
		const witness = witnessOf(key, this.#head());
		const began = this.#clock.monotonic();
		writeWitness(path, witness);
		this.#tookMs = this.#clock.monotonic() - began;
		this.#count = witness.count;
	}

	#head(): Omit<Witness, "mac"> {
		return this.#options.connection.run(auditHead()) ?? { count: 0, last: "" };
	}
}

/** For a store that was restored where none was before. A broken audit gets none: the next start says so. */
export function beginWitness(store: string, path: string, key: Uint8Array): void {
	const connection = Connection.reader(store);
	try {
		const { bad } = connection.run(verifyAudit({ scope: OPERATOR }, key, () => ({ kind: "unkept" })));
		if (bad) return;
		writeWitness(path, witnessOf(key, connection.run(auditHead()) ?? { count: 0, last: "" }));
	} finally {
		connection.db.close();
	}
}

export function readWitness(path: string | null): WitnessFound {
	if (path === null) return { kind: "unkept" };
	let text: string;
	try {
		text = readFileSync(path, "utf8");
	} catch (error) {
		return { kind: (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : "unreadable" };
	}
	const witness = parsed(text);
	return witness === null ? { kind: "unreadable" } : { kind: "found", witness };
}

function parsed(text: string): Witness | null {
	try {
		const { count, last, mac } = JSON.parse(text) as Record<string, unknown>;
		if (!Number.isSafeInteger(count) || typeof last !== "string" || typeof mac !== "string") return null;
		return { count: count as number, last, mac };
	} catch {
		return null;
	}
}

/** When it returns, the file is on disk: complete, or the previous one. */
function writeWitness(path: string, witness: Witness): void {
	const draft = `${path}.new`;
	const file = openSync(draft, "w", 0o600);
	try {
		writeSync(file, `${JSON.stringify(witness)}\n`);
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
	renameSync(draft, path);
	const folder = openSync(dirname(path), "r");
	try {
		fsyncSync(folder);
	} finally {
		closeSync(folder);
	}
}
