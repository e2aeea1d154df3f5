// Records the ends of processes: once, however often an end is reported, and before the host may forget it.
import { KeryxError } from "../../errors.ts";
import type { Process, ProcessEnd, Store, Woken } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { ProcessBackend } from "../backend.ts";
import { tailOf } from "../log/reading.ts";
import type { ProcessMachine } from "../machine.ts";
import type { ProcessInfo } from "../types.ts";
import { completionNote, endOf } from "../words.ts";
import type { StorePatience } from "./patience.ts";

/** How much output an end includes. */
const NOTE_LENGTH = 8000;
const NO_TRACE = "nothing of it was found on its machine, so what happened to it is unknown";

export interface ProcessEndsOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly machine: ProcessMachine;
	readonly patience: StorePatience;
	/** The connected host. */
	readonly backend: () => ProcessBackend | null;
	/** Called after each end recorded here. */
	ended(id: string, woken: Woken | null): void;
	log(message: string, error: unknown): void;
}

export class ProcessEnds {
	readonly #options: ProcessEndsOptions;
	/** Killed by their own conversation, which need not be told. */
	readonly #known = new Set<string>();
	/** Ends being recorded and removed from the host's list. */
	readonly #settling = new Map<string, Promise<void>>();

	constructor(options: ProcessEndsOptions) {
		this.#options = options;
	}

	/** Its conversation kills it, and is told there. */
	markKnown(id: string): void {
		this.#known.add(id);
	}

	/** Waits for an end that is being recorded. */
	async settled(id: string): Promise<void> {
		await this.#settling.get(id)?.catch(() => {});
	}

	/** Records an end, and lets the host forget it. A second call finds it done. */
	settle(row: Process, info: ProcessInfo): Promise<void> {
		const settling = this.#settleNow(row, info);
		this.#settling.set(row.id, settling);
		const done = () => {
			if (this.#settling.get(row.id) === settling) this.#settling.delete(row.id);
		};
		settling.then(done, done);
		return settling;
	}

	async #settleNow(row: Process, info: ProcessInfo): Promise<void> {
		const { store, clock, machine } = this.#options;
		const { survivors } = info;
		const end = endOf(info);
		const at = info.end?.endedAt ?? clock.now();
		const output = await tailOf(machine.read, row.id, {
			most: NOTE_LENGTH,
			hide: (text) => store.secrets.hide(text),
			hideBytes: (bytes) => store.secrets.hideBytes(bytes),
		});
		const note = completionNote(row, end, { at, output, survivors });
		await this.#record(row, end, { at, logBytes: output.to, logLost: await machine.lost(row.id), note });
		if (survivors.length > 0) return;
		const backend = this.#options.backend();
		const forgetting = backend && end.status !== "lost" ? backend.forget(row.id) : machine.forget(row.id);
		await forgetting.catch((error: unknown) => {
			// Reported twice, forgotten once. Otherwise it is only listed longer.
			if (!isUnknown(error)) this.#options.log(`${row.id} stays on its host's list`, error);
		});
	}

	neverStarted(row: Process, cause: string): Promise<void> {
		return this.#endWithoutOutput(row, "failed_start", cause);
	}

	withoutTrace(row: Process): Promise<void> {
		return this.#endWithoutOutput(row, "lost", NO_TRACE);
	}

	async #endWithoutOutput(row: Process, status: "failed_start" | "lost", cause: string): Promise<void> {
		const at = this.#options.clock.now();
		const end: ProcessEnd = { status, exitCode: null, signal: null, cause };
		const note = completionNote(row, end, { at, output: { text: "", to: 0, cut: false }, survivors: [] });
		await this.#record(row, end, { at, logBytes: 0, logLost: 0, note });
	}

	async #record(
		{ id, background }: Process,
		end: ProcessEnd,
		{
			at,
			logBytes,
			logLost,
			note,
		}: {
			readonly at: number;
			readonly logBytes: number;
			readonly logLost: number;
			readonly note: string;
		},
	): Promise<void> {
		const { store, patience, ended } = this.#options;
		const isKnown = background && this.#known.has(id);
		const unreported = isKnown ? null : note;
		// Until it is reported: callers waiting for the end wait for this.
		const recorded = await patience.untilWritten(() =>
			store.endProcess({ id, end, at, logBytes, logLost, note: unreported }),
		);
		this.#known.delete(id);
		ended(id, recorded?.woken ?? null);
	}
}

export function isUnknown(error: unknown): boolean {
	return error instanceof KeryxError && error.code === "process.unknown";
}
