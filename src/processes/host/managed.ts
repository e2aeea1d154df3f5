// One process of this host, from its start until nothing writes to its log any more. Its end is on disk before anyone is told, and all
// its output is in the log before that.
import { readFile } from "node:fs/promises";
import { setImmediate as afterPoll, setTimeout as delay } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import { type Clock, holdingClock } from "../../time/index.ts";
import { findNamespace } from "../../walls/index.ts";
import { endFamily } from "../ending.ts";
import { type ProcessMeta, wallStatusFile, writeEnd } from "../files.ts";
import { endedStatus } from "../inspect.ts";
import { logFile } from "../log/files.ts";
import { type Family, livingMembers, signalGroup } from "../members.ts";
import type {
	EndCause,
	KillOptions,
	KillOutcome,
	ProcessEnd,
	ProcessIdentity,
	ProcessInfo,
	PtySize,
} from "../types.ts";
import type { LogWriter } from "./log-writer.ts";
import type { Exit, Started, Streams } from "./start.ts";

/** If an ended program left its output to others: it is done after this much silence. */
const SILENCE_MS = 200;
/** Or after this long without silence. By then the pipe's contents at its end have been read. */
const PATIENCE_MS = 2000;
/** Input waiting for a program that does not read. */
const MAX_INPUT = 1024 * 1024;
/** Between reporting the end and closing the last file, if nobody else holds the output. */
const DONE_MS = 1000;
/** An exit is seen at once; this is for a kernel that holds it. */
const EXIT_MS = 5000;
/** How much is reported of why a wall failed. */
const REASON = 500;

export interface ManagedOptions {
	readonly id: string;
	readonly folder: string;
	readonly meta: ProcessMeta & { readonly identity: ProcessIdentity };
	readonly started: Started;
	readonly log: LogWriter;
	/** Resolves when `meta` is on disk: an end is not reported before its start. */
	readonly recorded: Promise<void>;
	/** Measures the silence after an exit. */
	readonly clock?: Pick<Clock, "monotonic" | "after">;
	/** It has ended, and that is on disk. */
	onEnd(process: ManagedProcess): void;
	/** It has ended and its output is closed: nothing more will happen. */
	onDone(process: ManagedProcess): void;
}

export type OutputListener = (from: number, data: Buffer) => void;

export class ManagedProcess {
	readonly id: string;
	readonly #options: ManagedOptions;
	readonly #clock: Pick<Clock, "monotonic" | "after">;
	readonly #identity: ProcessIdentity;
	readonly #streams: Streams;
	readonly #closed = Promise.withResolvers<void>();
	readonly #done = Promise.withResolvers<void>();
	readonly #over = Promise.withResolvers<void>();
	readonly #listeners = new Set<OutputListener>();
	#pty: PtySize | null;
	#exit: Exit | null = null;
	#end: ProcessEnd | null = null;
	#survivors: readonly ProcessIdentity[] = [];
	#isKilled = false;
	#isInputClosed = false;
	#isOutputClosed = false;
	#writing: Promise<void> = Promise.resolve();
	#isWriting = false;
	#lastOutput = 0;

	constructor(options: ManagedOptions) {
		const { id, started, meta, clock = holdingClock } = options;
		this.id = id;
		this.#options = options;
		this.#clock = clock;
		this.#pty = meta.pty;
		this.#identity = meta.identity;
		this.#streams = started.open((data) => this.#take(data));
		const { output, input } = this.#streams;
		// A terminal without programs returns an error. Either way the stream is closed then.
		output.on("error", () => {});
		output.on("close", () => {
			this.#isOutputClosed = true;
			this.#closed.resolve();
		});
		input.on("error", () => this.#closeInput());
		input.on("close", () => this.#closeInput());
		output.resume();
		started.onExit((exit) => void this.#finish(exit));
	}

	get info(): ProcessInfo {
		const { meta, log } = this.#options;
		return {
			id: this.id,
			argv: meta.argv,
			cwd: meta.cwd,
			pty: this.#pty,
			startedAt: meta.startedAt,
			identity: meta.identity,
			status: this.#end ? endedStatus(this.#end) : "running",
			end: this.#end,
			survivors: this.#survivors.length > 0 ? livingMembers(this.#family).map(({ pid }) => pid) : [],
			logSize: log.size,
		};
	}

	/** Whether it is done, or soon will be: it has ended, and nothing else holds its output. */
	async isDone(): Promise<boolean> {
		if (!this.#end) return false;
		return Promise.race([this.#done.promise.then(() => true), delay(DONE_MS, false, { ref: false })]);
	}

	get hasEnded(): boolean {
		return this.#end !== null;
	}

	/** Called for output once it is in the log. */
	onOutput(listener: OutputListener): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	async write(data: Buffer): Promise<void> {
		this.#checkInput();
		const { input } = this.#streams;
		if (input.writableLength + data.length > MAX_INPUT)
			throw new KeryxError("process.input_full", `process ${this.id} is not reading its input`);
		const written = new Promise<void>((resolve, reject) => {
			input.write(data, (error) => (error ? reject(this.#inputClosed()) : resolve()));
		});
		// A program that does not read now may read later; one that closed its end is known by then.
		await Promise.race([written, afterPoll().then(() => afterPoll())]);
		written.catch(() => {});
	}

	endInput(): void {
		this.#checkInput();
		if (!this.#pty) this.#isInputClosed = true;
		this.#streams.endInput();
	}

	resize(size: PtySize): void {
		const { resize } = this.#options.started;
		if (!resize) throw new KeryxError("process.no_pty", `process ${this.id} has no terminal`);
		if (this.#isOutputClosed || this.#exit) throw this.#ended();
		resize(size);
		this.#pty = size;
	}

	signal(signal: NodeJS.Signals): void {
		if (this.#exit || !signalGroup(this.#identity, signal)) throw this.#ended();
	}

	async kill(options: KillOptions): Promise<KillOutcome> {
		const hadEnded = this.#exit !== null;
		if (!hadEnded) this.#isKilled = true;
		const family = this.#family;
		const survivors = await endFamily(family, options);
		if (survivors.length > 0) return { result: "survived", survivors };
		await Promise.race([this.#over.promise, delay(EXIT_MS, undefined, { ref: false })]);
		return {
			result: hadEnded ? "already_exited" : "killed",
			survivors,
			...(family.namespace && { isCertain: true }),
		};
	}

	get #family(): Family {
		// Its namespace ends with it: another could have its numbers by now.
		const namespace = this.#exit ? null : findNamespace(wallStatusFile(this.#options.folder));
		const { folder } = this.#options;
		return { id: this.id, folder, leader: this.#identity, witnesses: this.#survivors, namespace };
	}

	#take(data: Buffer): boolean {
		const from = this.#options.log.size;
		this.#lastOutput = this.#clock.monotonic();
		const written = this.#options.log.appendNow(data);
		this.#tell(from, data.subarray(0, written));
		if (written === data.length) return true;
		this.#writing = this.#append(data.subarray(written));
		return false;
	}

	/** The program waits meanwhile, so nothing accumulates here. */
	async #append(data: Buffer): Promise<void> {
		const from = this.#options.log.size;
		this.#isWriting = true;
		await this.#options.log.append(data);
		this.#tell(from, data);
		this.#lastOutput = this.#clock.monotonic();
		this.#isWriting = false;
		this.#streams.output.resume();
	}

	#tell(from: number, data: Buffer): void {
		if (this.#listeners.size === 0 || data.length === 0) return;
		const copy = Buffer.from(data);
		for (const listener of this.#listeners) listener(from, copy);
	}

	async #finish(exit: Exit): Promise<void> {
		this.#exit = exit;
		const endedAt = Date.now();
		await this.#untilRead();
		await this.#writing;
		const { log, folder, recorded, onEnd, onDone } = this.#options;
		await recorded;
		await log.settle();
		const end = await this.#endOf(exit, endedAt);
		this.#survivors = livingMembers(this.#family).map(({ bootId, pid, startTime }) => ({
			bootId,
			pid,
			startTime,
		}));
		await retried(() => writeEnd(folder, { ...end, survivors: this.#survivors }));
		this.#end = end;
		onEnd(this);
		this.#over.resolve();
		await this.#closed.promise;
		await this.#writing;
		this.#streams.input.destroy();
		await log.close();
		onDone(this);
		this.#done.resolve();
	}

	async #endOf({ code, signal, isWallFailed = false }: Exit, endedAt: number): Promise<ProcessEnd> {
		if (isWallFailed && !this.#isKilled) {
			const said = await readFile(logFile(this.#options.folder, 0), "utf8").catch(() => "");
			const reason = said.trim().slice(0, REASON) || "its wall could not be made";
			return { cause: "failed_start", code: null, signal: null, reason, endedAt };
		}
		const cause: EndCause = this.#isKilled ? "killed" : code === null && signal ? "signal" : "exited";
		return { cause, code, signal, reason: null, endedAt };
	}

	/** Until the output ends, or its other holders are silent: then everything from before the exit has been read. */
	async #untilRead(): Promise<void> {
		const exitedAt = this.#clock.monotonic();
		this.#lastOutput = exitedAt;
		while (!this.#isOutputClosed) {
			const timer = new Promise<void>((resolve) => this.#clock.after(SILENCE_MS / 4, resolve));
			await Promise.race([this.#closed.promise, timer]);
			// After the next check of the pipe: after a stall, a timer alone would fire before it.
			await afterPoll();
			if (this.#isWriting) continue;
			const now = this.#clock.monotonic();
			if (now - this.#lastOutput >= SILENCE_MS || now - exitedAt >= PATIENCE_MS) return;
		}
	}

	#checkInput(): void {
		if (this.#isInputClosed || this.#exit) throw this.#inputClosed();
	}

	#closeInput(): void {
		this.#isInputClosed = true;
	}

	#inputClosed(): KeryxError {
		return new KeryxError("process.input_closed", `process ${this.id} no longer accepts input`);
	}

	#ended(): KeryxError {
		return new KeryxError("process.ended", `process ${this.id} has ended`);
	}
}

/** On a full disk the end waits: reported before it is on disk, it could be reported twice, or never. */
async function retried(write: () => Promise<void>): Promise<void> {
	for (let pause = 50; ; pause = Math.min(pause * 2, 5000)) {
		try {
			return await write();
		} catch (error) {
			process.stderr.write(
				`${new Date().toISOString()} an end cannot be written: ${(error as Error).message}\n`,
			);
			await delay(pause);
		}
	}
}
