// Keeps the store true about running processes. It owns no state: processes without an end in the store are compared with the host, or
// with a dead host's files. What cannot be recorded now is found again later.
import { KeryxError } from "../../errors.ts";
import { OPERATOR, type Process, type Store, type Woken } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { ProcessBackend } from "../backend.ts";
import type { ProcessMachine } from "../machine.ts";
import type { ProcessSettings, StartRequest } from "../registry.ts";
import type { ProcessInfo } from "../types.ts";
import { isUnknown, ProcessEnds } from "./ends.ts";
import { StorePatience } from "./patience.ts";

/** After a fault of the store or the host. */
const RETRY_MS = 1000;
/** A host accepts a request within this time, unless the machine hangs. */
const ON_ITS_WAY_MS = 5000;
const SAY_AGAIN_MS = 60_000;
const GIVEN_UP = "it was cancelled before the process host started it";
/** After this long without processes, the host is released, and exits by itself. */
const IDLE_MS = 60_000;

export interface KeeperOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly machine: ProcessMachine;
	readonly settings: () => ProcessSettings;
	/** Called after each end recorded here. */
	ended(id: string, woken: Woken | null): void;
	log(message: string, error: unknown): void;
}

export class ProcessKeeper {
	readonly #options: KeeperOptions;
	/** Being started right now: reconciling must ignore them. */
	readonly #starting = new Map<string, Promise<void>>();
	readonly #working = new Set<Promise<void>>();
	#backend: ProcessBackend | null = null;
	#unreachable: ReadonlySet<string> = new Set();
	#lastLogged = { message: "", at: Number.NEGATIVE_INFINITY };
	#connecting: Promise<ProcessBackend> | null = null;
	#reconciling: Promise<void> = Promise.resolve();
	#cancelIdle = () => {};
	#cancelLook = () => {};
	#unlisten = () => {};
	#closed = false;
	readonly #patience: StorePatience;
	readonly #ends: ProcessEnds;

	constructor(options: KeeperOptions) {
		this.#options = options;
		this.#patience = new StorePatience(options);
		this.#ends = new ProcessEnds({
			...options,
			patience: this.#patience,
			backend: () => this.#backend,
			ended: (id, woken) => {
				options.ended(id, woken);
				this.#considerIdle();
			},
		});
	}

	/** Never starts a host: if none runs, the files are read. */
	async open(): Promise<void> {
		const { store } = this.#options;
		// Nobody waits for these any more.
		for (const { id, background } of await this.unfinished())
			if (!background) await store.adoptProcess({ id });
		await this.#look("processes cannot be picked up yet");
		// Unreported starts and ends are found by reconciling, too.
		this.#unlisten = store.onFault(() => this.#lookAgain());
	}

	async close(): Promise<void> {
		this.#closed = true;
		this.#unlisten();
		this.#cancelIdle();
		this.#cancelLook();
		this.#patience.close();
		await Promise.all([this.#reconciling, ...this.#working]);
		const backend = this.#backend;
		this.#backend = null;
		await backend?.close();
	}

	async unfinished(): Promise<readonly Process[]> {
		const { store, machine } = this.#options;
		const rows = await store.unfinishedProcesses({ scope: OPERATOR });
		return rows.filter(({ backend }) => backend === machine.name);
	}

	/** Of these, those whose host does not answer now; without a connection, those whose host did not answer last time. */
	async unreachable(ids: readonly string[]): Promise<ReadonlySet<string>> {
		if (ids.length === 0 || !this.#backend) return this.#unreachable;
		return this.#backend.silent(ids);
	}

	/** Its conversation kills it, and is told there. */
	markKnown(id: string): void {
		this.#ends.markKnown(id);
	}

	/** The host, started if there is none. */
	connected(): Promise<ProcessBackend> {
		if (this.#backend) return Promise.resolve(this.#backend);
		this.#connecting ??= this.#options.machine
			.connect()
			.then((backend) => this.#attach(backend))
			.finally(() => {
				this.#connecting = null;
			});
		return this.#connecting;
	}

	/** For callers that wait: a store in trouble is retried until the signal aborts, or for a while. */
	soon<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
		return this.#patience.soon(work, signal);
	}

	async starting(id: string, work: () => Promise<void>): Promise<void> {
		const starting = work();
		this.#starting.set(
			id,
			starting.catch(() => {}),
		);
		try {
			await starting;
		} finally {
			this.#starting.delete(id);
		}
	}

	/** Leaves the row running or ended: a start whose answer was lost is looked up. */
	async spawn(row: Process, { argv, cwd, env, pty, signal, wall, folder }: StartRequest): Promise<void> {
		const { settings } = this.#options;
		const { id } = row;
		let info: ProcessInfo;
		let asked: ProcessBackend | null = null;
		try {
			const backend = await this.connected();
			if (signal?.aborted) return await this.#ends.neverStarted(row, GIVEN_UP);
			asked = backend;
			const maxLogBytes = settings().maxLogBytes;
			const spawning = backend.spawn({
				...{ id, argv, cwd, env, pty, maxLogBytes },
				...(wall && { wall }),
				...(folder !== undefined && { folder }),
			});
			if (signal && (await isAbortedFirst(signal, spawning)) && (await this.#giveUp(row, backend))) return;
			info = await spawning;
		} catch (error) {
			if (asked && isSilent(error)) {
				if (await this.#giveUp(row, asked)) return;
				// The host has started it: its state is found out when the host answers again.
				await this.#options.store.adoptProcess({ id });
				this.#lookAgain();
				return;
			}
			if (error instanceof KeryxError && error.code === "process.host_gone") {
				this.#starting.delete(id);
				await this.reconcile();
				return;
			}
			await this.#ends.neverStarted(row, error instanceof Error ? error.message : String(error));
			throw error;
		}
		// It runs, even if that cannot be recorded: from here on nothing may say that it never started.
		if (info.status === "failed_start") await this.#ends.settle(row, info);
		else if (info.identity) await this.#started(id, info.identity);
	}

	/** False: its host has started it, or may still, since giving up could not be written down. */
	async #giveUp(row: Process, backend: ProcessBackend): Promise<boolean> {
		const isGivenUp = await this.#options.machine.giveUp(row.id, backend).catch((error: unknown) => {
			this.#options.log(`the start of ${row.id} cannot be given up`, error);
			return false;
		});
		if (!isGivenUp) return false;
		await this.#ends.neverStarted(row, GIVEN_UP);
		return true;
	}

	#started(id: string, identity: NonNullable<ProcessInfo["identity"]>): Promise<void> {
		return this.#patience.untilWritten(() => this.#options.store.processStarted({ id, identity }));
	}

	/** Compares every process without an end with reality. Serialised: two rounds never overlap. */
	reconcile(): Promise<void> {
		const done = this.#reconciling.then(() => this.#reconcileNow());
		this.#reconciling = done.catch(() => {});
		return done;
	}

	async #reconcileNow(): Promise<void> {
		const { machine, clock } = this.#options;
		const rows = (await this.unfinished()).filter(({ id }) => !this.#starting.has(id));
		if (rows.length === 0) return;
		const backend = this.#backend ?? (await this.#found(rows));
		const held = backend ? await infosOf(backend, rows) : new Map<string, ProcessInfo>();
		const missing = rows.flatMap(({ id }) => (held.has(id) ? [] : id));
		const left = new Map((await machine.inspect(missing)).map((info) => [info.id, info]));
		let isOpen = false;
		for (const row of rows) {
			const info = held.get(row.id) ?? left.get(row.id);
			// It was seen running: whatever happened to its traces, it did start.
			if (!info && row.status === "running") await this.#ends.withoutTrace(row);
			// The last owner's final request may still be on its way to the host.
			else if (!info && backend && Math.abs(clock.now() - row.startedAt) < ON_ITS_WAY_MS) isOpen = true;
			else if (!info && backend && !(await machine.giveUp(row.id, backend))) isOpen = true;
			else if (!info) await this.#ends.neverStarted(row, "Keryx stopped before it was started");
			else if (info.status !== "running") await this.#ends.settle(row, info);
			else if (info.identity) await this.#started(row.id, info.identity);
		}
		// Held by a host that does not report its end: one that is dying, or of another version.
		if (isOpen || rows.some(({ id }) => !held.has(id) && left.get(id)?.status === "running"))
			this.#lookAgain();
	}

	async #found(rows: readonly Process[]): Promise<ProcessBackend | null> {
		const backend = await this.#options.machine.find().catch((cause: unknown) => {
			if (!isSilent(cause)) throw cause;
			this.#unreachable = new Set(rows.map(({ id }) => id));
			const ids = [...this.#unreachable].join(", ");
			throw new KeryxError("process.host_silent", `the process host does not answer; out of reach: ${ids}`, {
				cause,
			});
		});
		this.#unreachable = new Set();
		return backend && this.#attach(backend);
	}

	#attach(backend: ProcessBackend): ProcessBackend {
		this.#backend = backend;
		backend.onEnd((info) => this.#track(this.#heardOfEnd(info)));
		backend.onGone(() => {
			if (this.#backend === backend) this.#backend = null;
			if (!this.#closed) this.#track(this.#look("the process host is gone and cannot be found yet"));
		});
		return backend;
	}

	async #heardOfEnd(info: ProcessInfo): Promise<void> {
		// In order: an end is not recorded before its start.
		await this.#starting.get(info.id);
		try {
			await this.#ends.settle(await this.#options.store.process({ scope: OPERATOR, id: info.id }), info);
		} catch (error) {
			if (error instanceof KeryxError && error.code === "store.not_found") return;
			this.#lookLater(`the end of ${info.id} cannot be recorded yet`, error);
		}
	}

	/** Deletes an ended one's files, once it is off the host's list. Survivors keep them. */
	discard(id: string): void {
		const removed = async () => {
			await this.#ends.settled(id);
			await (this.#backend ?? this.#options.machine).remove(id);
		};
		this.#track(
			removed().catch((error: unknown) => {
				const isLeft = error instanceof KeryxError && error.code === "process.running";
				if (!isLeft && !isUnknown(error)) throw error;
			}),
		);
	}

	/** Lets an idle host exit. */
	#considerIdle(): void {
		this.#cancelIdle();
		if (!this.#closed)
			this.#cancelIdle = this.#options.clock.after(IDLE_MS, () => this.#track(this.#letGo()));
	}

	async #letGo(): Promise<void> {
		const isBusy = (await this.unfinished()).length > 0 || this.#starting.size > 0;
		if (this.#closed || isBusy) return;
		const backend = this.#backend;
		this.#backend = null;
		await backend?.close();
	}

	/** Until it is done, or Keryx stops. */
	async #look(message: string): Promise<void> {
		await this.reconcile().catch((error: unknown) => this.#lookLater(message, error));
	}

	#lookLater(message: string, error: unknown): void {
		const { clock, log } = this.#options;
		const said = `${message}: ${String(error)}`;
		const now = clock.monotonic();
		// Tried every second; the same failure is logged once a minute.
		if (said !== this.#lastLogged.message || now - this.#lastLogged.at >= SAY_AGAIN_MS) {
			this.#lastLogged = { message: said, at: now };
			log(message, error);
		}
		this.#lookAgain();
	}

	#lookAgain(): void {
		this.#cancelLook();
		this.#cancelLook = this.#options.clock.after(RETRY_MS, () => {
			if (!this.#closed) this.#track(this.#look("processes cannot be checked yet"));
		});
	}

	#track(work: Promise<void>): void {
		const done = work.catch((error: unknown) =>
			this.#options.log("processes cannot be checked right now", error),
		);
		this.#working.add(done);
		void done.finally(() => this.#working.delete(done));
	}
}

/** One by one: a list would read everything ever kept (I16). */
async function infosOf(
	backend: ProcessBackend,
	rows: readonly Process[],
): Promise<ReadonlyMap<string, ProcessInfo>> {
	const infos = await Promise.all(
		rows.map(({ id }) =>
			backend.get(id).catch((error: unknown) => {
				if (isUnknown(error)) return null;
				throw error;
			}),
		),
	);
	return new Map(infos.flatMap((info) => (info ? [[info.id, info]] : [])));
}

function isSilent(error: unknown): boolean {
	return error instanceof KeryxError && error.code === "process.host_silent";
}

/** Whether the signal came before the work ended. */
function isAbortedFirst(signal: AbortSignal, work: Promise<unknown>): Promise<boolean> {
	return new Promise((resolve) => {
		const abort = () => done(true);
		const done = (aborted: boolean) => {
			signal.removeEventListener("abort", abort);
			resolve(aborted);
		};
		if (signal.aborted) return resolve(true);
		signal.addEventListener("abort", abort, { once: true });
		work.then(
			() => done(false),
			() => done(false),
		);
	});
}
