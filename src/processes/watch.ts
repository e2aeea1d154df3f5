// Background work for processes: reports progress to their chat, notes which still print, and removes old ones with their logs.
// Idempotent; asks the store for due work, and sleeps until the next.
import { type Destination, type NewDelivery, OPERATOR, type Process, type Store } from "../store/index.ts";
import { type Clock, Rounds } from "../time/index.ts";
import { newOutput } from "./log/reading.ts";
import type { ProcessMachine } from "./machine.ts";
import { progressText } from "./words.ts";

const AT_ONCE = 100;
/** Sessions are kept open by the hour. */
const PRINTED_EVERY_MS = 600_000;
const SWEEP_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const PROGRESS_LENGTH = 1000;
/** Shows the next check, however far away. */
const FAR = 253_402_300_000_000;

export interface ProcessWatchOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly machine: ProcessMachine;
	keepDays(): number;
	render(
		text: string,
		to: { readonly id: string; readonly destination: Destination },
	): readonly NewDelivery[];
	log(message: string, error: unknown): void;
}

export class ProcessWatch {
	readonly #options: ProcessWatchOptions;
	/** How much each had printed at the last check. */
	readonly #printed = new Map<string, number>();
	readonly #rounds: Rounds;
	/** When each was last done (monotonic). */
	#printedAt = Number.NEGATIVE_INFINITY;
	#sweptAt = Number.NEGATIVE_INFINITY;

	constructor(options: ProcessWatchOptions) {
		this.#options = options;
		this.#rounds = new Rounds({
			clock: options.clock,
			round: () => this.#round(),
			failed: (error) => options.log("processes cannot be watched right now", error),
		});
	}

	start(): void {
		this.#rounds.start();
	}

	stop(): Promise<void> {
		return this.#rounds.stop();
	}

	look(): void {
		this.#rounds.look();
	}

	async #round(): Promise<number> {
		const { store, clock, machine } = this.#options;
		await this.#tellProgress();
		const runs = await this.#notePrinting();
		await this.#sweep();
		const checks = await store.dueProcessChecks({ scope: OPERATOR, now: FAR, limit: AT_ONCE });
		// Another machine has its own watch.
		const next = checks.find(({ backend }) => backend === machine.name);
		const pause = Math.min(
			this.#sweptAt + SWEEP_EVERY_MS,
			runs ? this.#printedAt + PRINTED_EVERY_MS : Infinity,
		);
		const wakes = clock.now() + pause - clock.monotonic();
		return next?.nextCheckAt == null ? wakes : Math.min(wakes, next.nextCheckAt);
	}

	async #tellProgress(): Promise<void> {
		const { store, clock, machine } = this.#options;
		for (;;) {
			const due = await store.dueProcessChecks({ scope: OPERATOR, now: clock.now(), limit: AT_ONCE });
			const own = due.filter(({ backend }) => backend === machine.name);
			for (const process of own) {
				await this.#tell(process);
				if (this.#rounds.isStopped) return;
			}
			if (due.length < AT_ONCE || own.length === 0) return;
		}
	}

	/** Silence is not reported: only new output is worth a message. */
	async #tell(process: Process): Promise<void> {
		const { store, clock, machine, render } = this.#options;
		const { id, checkedTo, destination } = process;
		const output = await newOutput(machine.read, id, {
			from: checkedTo,
			most: PROGRESS_LENGTH,
			ended: false,
			hide: (text) => store.secrets.hide(text),
			hideBytes: (bytes) => store.secrets.hideBytes(bytes),
		});
		const isNew = output.to > checkedTo;
		const now = clock.now();
		await store.processChecked({
			id,
			to: output.to,
			...(isNew && { printedAt: now }),
			deliveries: isNew
				? render(store.secrets.hide(progressText(process, { now, output })), {
						id: `process:${id}:${output.to}`,
						destination,
					})
				: [],
		});
	}

	/** Whether any runs. */
	async #notePrinting(): Promise<boolean> {
		const { store, clock, machine } = this.#options;
		const running = await store.unfinishedProcesses({ scope: OPERATOR });
		const now = clock.now();
		if (clock.monotonic() < this.#printedAt + PRINTED_EVERY_MS) return running.length > 0;
		this.#printedAt = clock.monotonic();
		const ids = new Set(running.map(({ id }) => id));
		for (const id of this.#printed.keys()) if (!ids.has(id)) this.#printed.delete(id);
		for (const { id, status, backend } of running) {
			if (status !== "running" || backend !== machine.name) continue;
			const { size } = await machine.read(id, { from: 0, limit: 1 });
			if (size > (this.#printed.get(id) ?? size)) await store.processPrinted({ id, at: now });
			this.#printed.set(id, size);
		}
		return running.length > 0;
	}

	async #sweep(): Promise<void> {
		const { store, clock, machine, keepDays, log } = this.#options;
		if (clock.monotonic() < this.#sweptAt + SWEEP_EVERY_MS) return;
		this.#sweptAt = clock.monotonic();
		const before = clock.now() - keepDays() * DAY_MS;
		for (;;) {
			const old = await store.oldProcesses({ scope: OPERATOR, before, limit: AT_ONCE });
			let removed = 0;
			for (const id of old) {
				try {
					await machine.remove(id);
					removed += (await store.forgetProcess({ id })) ? 1 : 0;
				} catch (error) {
					log(`files left by ${id} cannot be removed yet`, error);
				}
			}
			if (old.length < AT_ONCE || removed === 0 || this.#rounds.isStopped) return;
		}
	}
}
