// Finds work in the store that nobody here was told about. A write that met a fault may still have been made: a message was accepted, a
// turn started, a program's end recorded, but the answer was lost. So after a fault, unfinished work is read as at start, and anything
// unknown to lanes and commands is picked up. Without a fault nothing is read.
import type { Config } from "../../config/index.ts";
import type { ConversationId } from "../../domain/index.ts";
import { type BusyMode, type InboxItem, OPERATOR, type Store } from "../../store/index.ts";
import { type Clock, Rounds } from "../../time/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { allWaiting, isCommand } from "../lifecycle/recovery.ts";
import { isLate, type Waiting } from "./batch.ts";

/** A store that has just failed is left alone briefly; most operations have been retried by then. */
const AFTER_FAULT_MS = 1000;
const AT_ONCE = 500;
/** While it keeps failing, unfinished work is read at most this often. */
const EVERY_MS = 10_000;

export interface UnheardOptions {
	readonly store: Store;
	readonly clock: Clock;
	/** Read per call: it may change. */
	readonly config: () => Config;
	readonly lanes: Lanes;
	readonly commands: {
		isUnderWay(inbox: number): boolean;
	};
	/** Resolves when every message being accepted now has been processed or has failed. */
	readonly accepted: () => Promise<unknown>;
	readonly onCommand: (item: InboxItem) => void;
	/** Tells followers of commits that there may have been one. */
	readonly onCommit: () => void;
	readonly log: (message: string, error: unknown) => void;
}

export class Unheard {
	readonly #options: UnheardOptions;
	readonly #rounds: Rounds;
	#readAt = Number.NEGATIVE_INFINITY;
	#unlisten = () => {};

	constructor(options: UnheardOptions) {
		this.#options = options;
		this.#rounds = new Rounds({
			clock: options.clock,
			round: () => this.#round(),
			failed: (error) => options.log("unfinished messages cannot be read right now", error),
		});
	}

	start(): void {
		const { store, clock } = this.#options;
		this.#rounds.wait();
		this.#unlisten = store.onFault(() =>
			this.#rounds.expects(Math.max(clock.now() + AFTER_FAULT_MS, this.#readAt + EVERY_MS)),
		);
	}

	/** There may be work that nobody here was told about. */
	look(): void {
		this.#rounds.look();
	}

	/** Waiting messages of a conversation, whichever node accepted them. */
	async refresh(conversation: ConversationId): Promise<void> {
		const { store, accepted } = this.#options;
		const waiting = await store.waitingItems({ scope: OPERATOR, conversation, after: 0, limit: AT_ONCE });
		const unknown = this.#unknown(waiting).filter((item) => !isCommand(item));
		if (unknown.length === 0) return;
		// Accepted here just now: such a message must not be added twice.
		await accepted();
		for (const { id } of this.#unknown(unknown)) await this.#takeUp(id);
	}

	/** The same for a lane that has become idle: while the store is in trouble, a little later. */
	async lookAgain(conversation: ConversationId): Promise<void> {
		await this.refresh(conversation).catch((error: unknown) => {
			this.#options.log("what waits in a conversation cannot be read right now", error);
			this.look();
		});
	}

	async stop(): Promise<void> {
		this.#unlisten();
		await this.#rounds.stop();
	}

	async #round(): Promise<null> {
		const { store, clock, lanes, accepted, onCommit } = this.#options;
		this.#readAt = clock.now();
		onCommit();
		for (const { id, conversation } of await store.runningTurns({ scope: OPERATOR, node: store.epoch }))
			if (!lanes.isBusy(conversation)) lanes.resume(conversation, id);
		const waiting = await allWaiting(store);
		// Messages just being accepted are reported in their own way.
		await accepted();
		for (const { id } of this.#unknown(waiting)) await this.#takeUp(id);
		return null;
	}

	#unknown(items: readonly InboxItem[]): readonly InboxItem[] {
		const { lanes, commands } = this.#options;
		const known = new Map<string, ReadonlySet<number>>();
		return items.filter(({ id, conversation }) => {
			if (conversation === null || commands.isUnderWay(id)) return false;
			const here = known.get(conversation) ?? lanes.waitingIn(conversation);
			known.set(conversation, here);
			return !here.has(id);
		});
	}

	/** Read again: it may have started or ended since. */
	async #takeUp(id: number): Promise<void> {
		const { store, clock, config, lanes, onCommand } = this.#options;
		const item = await store.inboxItem({ scope: OPERATOR, id });
		const { conversation } = item;
		if (conversation === null) return;
		const { busy } = await store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		if (!isOpen(item) || this.#unknown([item]).length === 0 || this.#rounds.isStopped) return;
		if (isCommand(item)) onCommand(item);
		else
			lanes.add(
				conversation,
				waitingOf(item, clock.monotonic()),
				busyFor(item, busy ?? config().gateway.busy),
			);
	}
}

function isOpen({ turn, disposition, command }: InboxItem): boolean {
	return command !== null || (turn === null && disposition === null);
}

function busyFor({ kind }: InboxItem, busy: BusyMode): BusyMode | undefined {
	return kind === "person" ? busy : undefined;
}

/** No burst window: it has waited already. */
function waitingOf(item: InboxItem, arrivedAt: number): Waiting {
	const { id, kind, principal, role, sentAt } = item;
	const late = kind === "person" && isLate(item);
	return { id, kind, principal, role, arrivedAt, sentAt, batchMs: 0, late };
}
