// The checkpoints of one turn: before its first call that changes files, after all of them, and at a rotation. They never fail or delay
// the turn: each wait has a limit, and ends when the turn is stopped.
import type { TakeOutcome } from "../../checkpoints/index.ts";
import { type CheckpointOutcome, cleanTitle, contentText, type Message } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { type Clock, DeadlinePassed, within } from "../../time/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { unagreedSentence } from "../sentences.ts";
import type { TurnStart } from "../turn/start.ts";
import type { ConversationFiles } from "./conversation-files.ts";

/** A snapshot that takes longer is skipped. */
const LONGEST_MS = 20_000;
/** For a turn that must end now. Must be below the time `/stop` waits. */
const STOPPED_MS = 1000;

export interface TurnCheckpointsOptions {
	/** Null: checkpoints are off. */
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
	/** A "before" snapshot exists; take "after". */
	#open = false;

	constructor(options: TurnCheckpointsOptions) {
		this.#options = options;
	}

	/** A resumed turn may have changed files before it was interrupted: its range is still open. */
	goOn(): void {
		this.#open = true;
	}

	/** Only the first time. Throws Aborted if the turn is stopped meanwhile. */
	async before(): Promise<void> {
		const { files } = this.#options;
		if (!files || this.#begun) return;
		this.#begun = true;
		const taken = await this.#take(files, "before", this.#label());
		if (taken === null) return;
		if (taken.kind !== "failed") this.#open = true;
		else if (taken.code === "checkpoint.consent") await this.#tellOnce(files);
	}

	/** After all of its calls, however the turn ends. Never throws. */
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
		// A snapshot that is not waited for continues by itself; if it finishes later, it still closes the range.
		await within(taking, {
			clock,
			ms: signal.aborted ? STOPPED_MS : LONGEST_MS,
			signal: signal.aborted ? new AbortController().signal : signal,
		}).catch(() => undefined);
	}

	/** What the notice and the carry-over say about it. */
	async rotation(): Promise<CheckpointOutcome> {
		const { files, start, signal } = this.#options;
		if (!files) return { kind: "none" };
		if (signal.aborted) return { kind: "failed", why: "the turn was stopped" };
		const taking = this.#take(files, "rotation", `marathon-${start.session}`);
		const taken = await taking.catch(() => ({ kind: "failed", reason: "the turn was stopped" }) as const);
		if (!taken) return { kind: "failed", why: "it took too long" };
		return taken.kind === "failed" ? { kind: "failed", why: taken.reason } : { kind: "saved", id: taken.id };
	}

	/** Null: it took too long. An abandoned snapshot is discarded, because files may change from then on. */
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

	/** The person's request, shortened: the label in a list of checkpoints. */
	#label(): string {
		const { start, rows } = this.#options;
		const asked = rows().find((row) => row.turn === start.turn && row.role === "user");
		return (asked && cleanTitle(contentText(asked.content))) || "turn";
	}

	/** Once per conversation: the delivery's id makes it unique. */
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
