// The checkpoints of one turn: before the first of its calls that changes files, after all of them, and at a rotation. None of it fails
// or holds up the turn: each wait has an end, and gives way when the turn is stopped.
import type { TakeOutcome } from "../../checkpoints/index.ts";
import { type CheckpointOutcome, cleanTitle, contentText, type Message } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import { DeadlinePassed, within } from "../deadline.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { unagreedSentence } from "../sentences.ts";
import type { TurnStart } from "../turn/start.ts";
import type { ConversationFiles } from "./conversation-files.ts";

/** A snapshot that takes longer than this is gone without. */
const LONGEST_MS = 20_000;
/** For the end of a turn that is to end now. It must be less than what `/stop` waits. */
const STOPPED_MS = 1000;

export interface TurnCheckpointsOptions {
	/** Null: there are none. */
	readonly files: ConversationFiles | null;
	readonly store: Store;
	readonly clock: Clock;
	readonly outlet: Outlet;
	readonly start: TurnStart;
	readonly signal: AbortSignal;
	readonly rows: () => readonly Message[];
	readonly log: (message: string, error: unknown) => void;
}

export class TurnCheckpoints {
	readonly #options: TurnCheckpointsOptions;
	#begun = false;
	/** The stretch has a begin, so that it is to have an end. */
	#open = false;

	constructor(options: TurnCheckpointsOptions) {
		this.#options = options;
	}

	/** A turn that goes on may have changed files before it was cut off: its stretch is still open. */
	goOn(): void {
		this.#open = true;
	}

	/** The first time only. Throws Aborted where the turn is stopped meanwhile. */
	async before(): Promise<void> {
		const { files } = this.#options;
		if (!files || this.#begun) return;
		this.#begun = true;
		const taken = await this.#take(files, "before", this.#label());
		if (taken === null) return;
		if (taken.kind !== "failed") this.#open = true;
		else if (taken.code === "checkpoint.consent") await this.#tellOnce(files);
	}

	/** When all of its calls are done, however it ends. Never throws. */
	async after(): Promise<void> {
		const { files, clock, signal } = this.#options;
		if (!files || !this.#open) return;
		const { conversationInfo, session, turn } = this.#options.start;
		const taking = files.takeUnasked(conversationInfo, {
			kind: "after",
			label: this.#label(),
			session,
			turn,
		});
		// What is not waited for goes on by itself: one that comes later still ends the stretch.
		await within(taking, {
			clock,
			ms: signal.aborted ? STOPPED_MS : LONGEST_MS,
			signal: signal.aborted ? new AbortController().signal : signal,
		}).catch(() => undefined);
	}

	/** What the notice and the carry-over say of it. */
	async rotation(): Promise<CheckpointOutcome> {
		const { files, start, signal } = this.#options;
		if (!files) return { kind: "none" };
		if (signal.aborted) return { kind: "failed", why: "the turn was stopped" };
		const taking = this.#take(files, "rotation", `marathon-${start.session}`);
		const taken = await taking.catch(() => ({ kind: "failed", reason: "the turn was stopped" }) as const);
		if (!taken) return { kind: "failed", why: "it took too long" };
		return taken.kind === "failed" ? { kind: "failed", why: taken.reason } : { kind: "saved", id: taken.id };
	}

	/** Null: it took too long. One that is given up, for that or for the turn's end, is not kept: files change from then on. */
	async #take(
		files: ConversationFiles,
		kind: "before" | "rotation",
		label: string,
	): Promise<TakeOutcome | null> {
		const { clock, signal, start } = this.#options;
		const { conversationInfo, session, turn } = start;
		const late = new AbortController();
		const taking = files.takeUnasked(conversationInfo, { kind, label, session, turn, signal: late.signal });
		try {
			return await within(taking, { clock, ms: LONGEST_MS, signal });
		} catch (error) {
			late.abort();
			if (error instanceof DeadlinePassed) return null;
			throw error;
		}
	}

	/** What the person asked for, in short: it is what a list of checkpoints is read by. */
	#label(): string {
		const { start, rows } = this.#options;
		const asked = rows().find((row) => row.turn === start.turn && row.role === "user");
		return (asked && cleanTitle(contentText(asked.content))) || "turn";
	}

	/** Once in a conversation: by its id, the delivery is made no second time. */
	async #tellOnce(files: ConversationFiles): Promise<void> {
		const { store, log, outlet } = this.#options;
		const { conversation, turn, destination, conversationInfo } = this.#options.start;
		const deliveries = toDeliveries(
			unagreedSentence(files.folderOf(conversationInfo)),
			{ id: `${conversation}:checkpoints`, kind: "notice", class: "warning", destination },
			outlet,
		);
		await store
			.notify({ conversation, turn, deliveries })
			.catch((error: unknown) => log("the notice about missing checkpoints could not be sent", error));
	}
}
