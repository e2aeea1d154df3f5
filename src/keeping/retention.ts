// What `retention.days` does: conversations unused for that long are archived, the archive is read back, and only then they
// are deleted (I6). A watcher does it in the background; a live session is ended first and deleted in a later round.
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import { type ConversationId, counted } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { Duty, OPERATOR, pruneConversation, type Store } from "../store/index.ts";
import { type Clock, Rounds } from "../time/index.ts";

const DAY_MS = 86_400_000;
const LOOK_EVERY_MS = 3_600_000;
/** After a pass that has done something. */
const AGAIN_MS = 60_000;
const PAGE = 100;
/** How many archives are written at once: most of the time is spent waiting for the disk. */
const AT_ONCE = 4;
/** This many failures in a row are the disk's or the store's, and end the pass. */
const MOST_FAILURES = 8;

interface RetentionOptions {
	readonly store: Store;
	/** Where archives are kept, in a folder per month. */
	readonly folder: string;
	/** Read each time: it may change. */
	readonly config: () => Pick<Config, "retention">;
	readonly clock: Clock;
	readonly warn: (text: string) => void;
}

interface Pass {
	readonly archived: number;
	/** Their sessions were ended; they follow in a later round. */
	readonly ended: number;
	/** They were used in the meantime. */
	readonly kept: number;
	/** They could not be archived, and stay. */
	readonly failed: number;
	/** Why the first of those could not be. */
	readonly problem: string | null;
	/** There are more that were not checked. */
	readonly more: boolean;
}

export class Retention {
	readonly #options: RetentionOptions;
	readonly #rounds: Rounds;
	readonly #duty: Duty;
	#last: Promise<unknown> = Promise.resolve();
	#stopped = false;

	constructor(options: RetentionOptions) {
		this.#options = options;
		this.#duty = new Duty(options.store, options.clock, "retention");
		this.#rounds = new Rounds({
			clock: options.clock,
			round: () => this.#look(),
			failed: (error) => options.warn(`old conversations were not archived: ${(error as Error).message}`),
		});
	}

	start(): void {
		this.#rounds.start();
	}

	/** The configuration may have changed. */
	look(): void {
		this.#rounds.look();
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		await this.#rounds.stop();
		await this.#last;
	}

	/** A dry run: what a pass would take now. Changes nothing. Default for `days`: as configured. */
	async plan(days?: number): Promise<{
		readonly before: number;
		readonly count: number;
		/** The longest idle first. */
		readonly first: readonly ConversationId[];
	}> {
		const before = this.#before(days);
		const first: ConversationId[] = [];
		let count = 0;
		for await (const page of this.#due(before)) {
			count += page.length;
			first.push(...page.slice(0, Math.max(0, PAGE - first.length)));
		}
		return { before, count, first };
	}

	/** One pass over everything due, or up to a limit. Passes wait for each other. */
	run({ days, limit = Number.POSITIVE_INFINITY }: { readonly days?: number; readonly limit?: number } = {}) {
		const done = this.#last.then(() => this.#pass(this.#before(days), limit));
		this.#last = done.catch(() => undefined);
		return done;
	}

	async #look(): Promise<number | null> {
		const { config, clock, warn } = this.#options;
		if (config().retention.days === 0) return null;
		// Archives are files: those of one store are in one home.
		if (!(await this.#duty.isMine())) return clock.now() + LOOK_EVERY_MS;
		const { ended, archived, failed, problem } = await this.run();
		if (failed > 0) warn(`${counted(failed, "old conversation")} could not be archived: ${problem}`);
		// Sessions that ended lately may be finalised by then.
		return clock.now() + (ended + archived > 0 ? AGAIN_MS : LOOK_EVERY_MS);
	}

	#before(days = this.#options.config().retention.days): number {
		if (days <= 0)
			throw new KeryxError("argument.invalid", "retention.days is 0, so nothing is ever archived", {
				field: "retention.days",
				hint: "set retention.days, or give a number of days",
			});
		return this.#options.clock.now() - days * DAY_MS;
	}

	async #pass(before: number, limit: number): Promise<Pass> {
		const pass = { archived: 0, ended: 0, kept: 0, failed: 0, problem: null as string | null, more: false };
		let taken = 0;
		let failures = 0;
		const prune = async (conversation: ConversationId): Promise<void> => {
			try {
				pass[await this.#prune(conversation)]++;
				failures = 0;
			} catch (error) {
				if (++failures >= MOST_FAILURES) throw error;
				pass.failed++;
				pass.problem ??= (error as Error).message;
			}
		};
		for await (const page of this.#due(before)) {
			const waiting = page.slice(0, limit - taken);
			pass.more = waiting.length < page.length;
			taken += waiting.length;
			const worker = async () => {
				for (let next = waiting.shift(); next !== undefined && !this.#stopped; next = waiting.shift())
					await prune(next);
			};
			await Promise.all(Array.from({ length: AT_ONCE }, worker));
			if (pass.more || this.#stopped) break;
		}
		return pass;
	}

	async #prune(conversation: ConversationId): Promise<"archived" | "ended" | "kept"> {
		const { store, folder, clock } = this.#options;
		const month = new Date(clock.now()).toISOString().slice(0, 7);
		// Processes and confirmations are rows of the store, which checks them itself.
		const pruned = await pruneConversation(store, {
			conversation,
			directory: join(folder, month),
			held: false,
		});
		if (pruned.kind === "deleted") return "archived";
		return pruned.reason === "finalising" ? "ended" : "kept";
	}

	async *#due(before: number): AsyncGenerator<ConversationId[]> {
		const { store } = this.#options;
		let after: Parameters<Store["pruneCandidates"]>[0]["after"];
		for (;;) {
			const page = await store.pruneCandidates({
				scope: OPERATOR,
				before,
				limit: PAGE,
				...(after && { after }),
			});
			if (page.conversations.length > 0) yield [...page.conversations];
			if (page.next === null) return;
			after = page.next;
		}
	}
}
