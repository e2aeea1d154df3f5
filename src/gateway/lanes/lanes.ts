// One lane per active conversation: created on demand, removed when idle, one turn at a time. A lane knows only what waits; the store is
// the truth, and refuses a second turn whatever a lane believes (I5). Turns across lanes are limited, first come first served.
import type { ConversationId } from "../../domain/index.ts";
import type { BusyMode, ToolProgress } from "../../store/index.ts";
import { type Clock, within } from "../../time/index.ts";
import { type Batch, nextBatch, type Waiting } from "../inbox/batch.ts";
import type { StopReason } from "../turn/dependencies.ts";
import type { Turn } from "../turn/turn.ts";

/** What a lane calls on the gateway. Each returns a started turn, or what else to do. */
export interface LaneWork {
	begin(conversation: ConversationId, items: readonly Waiting[]): Promise<Begun>;
	resume(conversation: ConversationId, turn: string): Promise<Begun>;
	/** Adds waiting messages that another node accepted. Absent if there are no other nodes. */
	refresh?(conversation: ConversationId): Promise<void>;
	/** Asks the node that runs the conversation's turn to stop it. Returns that turn; null: no other node runs one. */
	stopElsewhere?(conversation: ConversationId, only: string | undefined): Promise<string | null>;
	/** Whether another node runs a turn there. */
	isBusyElsewhere?(conversation: ConversationId): Promise<boolean>;
	/** The conversation has nothing left to do here. */
	idle?(conversation: ConversationId): void;
	/** A turn was given up here, and its lane is free: it may still be open in the store. */
	lost?(): void;
	log(message: string, error: unknown): void;
}

export type Begun =
	| { readonly kind: "turn"; readonly turn: Turn }
	/** Taken by another node, expired, or gone: nothing to run. */
	| { readonly kind: "none" }
	/** Another turn is open: resume it first. */
	| { readonly kind: "resume"; readonly turn: string }
	/** Another node runs a turn here: it picks up waiting messages when that ends. */
	| { readonly kind: "elsewhere" }
	/** Another node may begin it first. If it has not by then, this one does. */
	| { readonly kind: "preferred"; readonly ms: number }
	/** Nothing may start until a person writes: the items stay. */
	| { readonly kind: "parked" };

type NotBegun =
	/** A command holds the lane, or a burst may not be over: nothing was asked. */
	| { readonly kind: "later" }
	/** The turn to resume is no longer open. */
	| { readonly kind: "gone" };

/** Pause between two failed attempts: the first, and the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** A lane's state. */
type Doing =
	/** Nothing waits, or a command holds the lane. */
	| { readonly kind: "idle" }
	/** Waits for the end of a burst, or to try again. */
	| { readonly kind: "waiting"; readonly cancel: () => void }
	/** Queued behind other lanes. */
	| { readonly kind: "ready" }
	| Beginning
	| { readonly kind: "running"; readonly turn: Turn; readonly ended: Promise<void> };

interface Beginning {
	readonly kind: "beginning";
	/** Stop the turn as soon as it has started. */
	interrupt: boolean;
	/** A turn that was ended in the store before it started here. */
	lost: string | null;
	/** The end of the turn that is starting. */
	readonly ended: Promise<void>;
}

const IDLE: Doing = { kind: "idle" };

/** A turn that runs before the waiting messages. */
type Ahead =
	/** Interrupted: to be resumed. */
	| { readonly kind: "resume"; readonly id: string }
	/** Started by a command. It is the one open turn (I5), so no other can be resumed. */
	| { readonly kind: "begun"; readonly turn: Turn };

interface Lane {
	readonly conversation: ConversationId;
	queue: Waiting[];
	doing: Doing;
	ahead: Ahead | null;
	busy: BusyMode;
	/** The session is suspended: only a person's message starts a turn. */
	parked: boolean;
	/** How many attempts in a row failed: the store failed, or says that another node has the work. */
	fruitless: number;
}

interface Attempt {
	/** A turn ended, or messages no longer wait. */
	readonly isFruitful: boolean;
	/** How long another node may begin the next turn first. */
	readonly yieldMs: number;
}

export interface LanesOptions {
	readonly clock: Clock;
	readonly maxTurns: number;
	readonly batchCapMs: number;
	readonly work: LaneWork;
}

export class Lanes {
	readonly #options: LanesOptions;
	readonly #lanes = new Map<ConversationId, Lane>();
	readonly #ready: Lane[] = [];
	readonly #idle: (() => void)[] = [];
	/** How many commands are running in a conversation. */
	readonly #holds = new Map<ConversationId, number>();
	#running = 0;
	#stopping = false;
	/** Also stops a turn that is just starting. */
	#aborted: StopReason | null = null;

	constructor(options: LanesOptions) {
		this.#options = options;
	}

	/** A message waits. During a running turn the busy mode decides; messages that no person wrote just queue. */
	add(conversation: ConversationId, item: Waiting, busy?: BusyMode): void {
		const lane = this.#lane(conversation);
		if (busy) lane.busy = busy;
		// In the order of acceptance, which is the arrival order except for messages found later.
		const after = lane.queue.findLastIndex(({ id }) => id < item.id);
		lane.queue.splice(after + 1, 0, item);
		if (item.kind === "person") {
			const { doing } = lane;
			if (busy === "interrupt" && doing.kind === "beginning") doing.interrupt = true;
			if (busy === "interrupt") turnOf(lane)?.stop("stopped");
			turnOf(lane)?.messageArrived();
		}
		this.#consider(lane);
	}

	resume(conversation: ConversationId, turn: string): void {
		const lane = this.#lane(conversation);
		goOnWith(lane, turn);
		this.#consider(lane);
	}

	/**
	 * A command is running: no turn starts in its conversation until it is done, so that later messages come after it. Returns the
	 * release function.
	 */
	hold(conversation: ConversationId): () => void {
		this.#holds.set(conversation, (this.#holds.get(conversation) ?? 0) + 1);
		return () => {
			const left = (this.#holds.get(conversation) ?? 1) - 1;
			if (left > 0) this.#holds.set(conversation, left);
			else this.#holds.delete(conversation);
			const lane = this.#lanes.get(conversation);
			if (!lane) return;
			// The command may have opened a session that waiting messages can continue.
			lane.parked = false;
			this.#consider(lane);
		};
	}

	/** A turn that a command started in the store. */
	run(conversation: ConversationId, turn: Turn): void {
		const lane = this.#lane(conversation);
		lane.ahead = { kind: "begun", turn };
		this.#consider(lane);
	}

	/** People's waiting messages that may join the running turn, in mode steer. They wait until they have joined. */
	joining(conversation: ConversationId, mayJoin: (item: Waiting) => boolean): readonly number[] {
		const lane = this.#lanes.get(conversation);
		if (lane?.busy !== "steer") return [];
		return lane.queue.filter((item) => item.kind === "person" && mayJoin(item)).map((item) => item.id);
	}

	/** They no longer wait: a turn has taken them, or their user has dropped them. */
	remove(conversation: ConversationId, inbox: readonly number[]): void {
		const lane = this.#lanes.get(conversation);
		if (lane) lane.queue = lane.queue.filter((item) => !inbox.includes(item.id));
	}

	/** Whether anything waits or runs there. */
	has(conversation: ConversationId): boolean {
		return this.#lanes.has(conversation);
	}

	/** It was ended in the store, unless it is just writing its own end. */
	loseUnlessEnding(conversation: ConversationId, turn: string): void {
		const running = turnOf(this.#lanes.get(conversation));
		if (running?.id === turn && !running.isEnding) running.stop("lost");
	}

	/** Something outside has changed: whatever waits is decided again. */
	reconsider(): void {
		for (const lane of this.#lanes.values()) this.#consider(lane);
	}

	/** Stops every running turn here; each stays open in the store. */
	loseAll(): void {
		for (const lane of this.#lanes.values()) turnOf(lane)?.stop("lost");
	}

	/** This turn was ended in the store: stop it here too, even if it is just starting or has not started yet. */
	lose(conversation: ConversationId, turn: string): void {
		const lane = this.#lanes.get(conversation);
		if (!lane) return;
		const { ahead, doing } = lane;
		if (ahead?.kind === "begun" && ahead.turn.id === turn) lane.ahead = null;
		else if (doing.kind === "running" && doing.turn.id === turn) doing.turn.stop("lost");
		else if (doing.kind === "beginning") doing.lost = turn;
	}

	/** What the running turn shows of its tools from now on. */
	showTools(conversation: ConversationId, show: ToolProgress): void {
		turnOf(this.#lanes.get(conversation))?.showTools(show);
	}

	/** Stops the running turn and waits until it has stored its end; false if it has not within the time given. */
	async stopAndWait(conversation: ConversationId, ms: number): Promise<boolean> {
		const doing = this.#lanes.get(conversation)?.doing;
		if (doing?.kind !== "running") return true;
		doing.turn.stop("stopped");
		const signal = new AbortController().signal;
		return within(
			doing.ended.then(() => true),
			{ clock: this.#options.clock, ms, signal },
		).catch(() => false);
	}

	/** The same for a turn that runs on another node. Returns it; null: there is none. */
	async stopElsewhere(conversation: ConversationId, only?: string): Promise<string | null> {
		if (this.isBusy(conversation)) return null;
		return (await this.#options.work.stopElsewhere?.(conversation, only)) ?? null;
	}

	/** Waiting messages, including those a turn is just starting for. */
	waitingIn(conversation: ConversationId): ReadonlySet<number> {
		return new Set(this.#lanes.get(conversation)?.queue.map(({ id }) => id));
	}

	waiting(conversation: ConversationId): number {
		return this.#lanes.get(conversation)?.queue.length ?? 0;
	}

	running(conversation: ConversationId): string | null {
		return turnOf(this.#lanes.get(conversation))?.id ?? null;
	}

	/** Whether a turn runs, or is just starting. */
	isBusy(conversation: ConversationId): boolean {
		const kind = this.#lanes.get(conversation)?.doing.kind;
		return kind === "beginning" || kind === "running";
	}

	/** The same on every node. */
	async isBusyAnywhere(conversation: ConversationId): Promise<boolean> {
		return this.isBusy(conversation) || ((await this.#options.work.isBusyElsewhere?.(conversation)) ?? false);
	}

	get active(): number {
		return this.#running;
	}

	/** Starts no more turns; resolves when the running ones have ended. */
	async drain(): Promise<void> {
		this.#stopping = true;
		for (const { doing } of this.#lanes.values()) if (doing.kind === "waiting") doing.cancel();
		if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
	}

	abortAll(reason: StopReason): void {
		this.#aborted = reason;
		for (const lane of this.#lanes.values()) turnOf(lane)?.stop(reason);
	}

	#lane(conversation: ConversationId): Lane {
		const known = this.#lanes.get(conversation);
		if (known) return known;
		const lane: Lane = {
			conversation,
			queue: [],
			doing: IDLE,
			ahead: null,
			busy: "queue",
			parked: false,
			fruitless: 0,
		};
		this.#lanes.set(conversation, lane);
		return lane;
	}

	/** Decides the lane's next step; called whenever something about it changed. */
	#consider(lane: Lane): void {
		const { doing } = lane;
		if (this.#stopping || (doing.kind !== "idle" && doing.kind !== "waiting")) return;
		if (doing.kind === "waiting") doing.cancel();
		lane.doing = IDLE;
		if (this.#holds.has(lane.conversation)) return;
		const batch = this.#next(lane);
		if (batch.kind === "empty") {
			if (lane.queue.length > 0) return;
			this.#lanes.delete(lane.conversation);
			this.#options.work.idle?.(lane.conversation);
			return;
		}
		if (batch.kind === "wait") {
			this.#wait(lane, batch.until - this.#options.clock.monotonic());
			return;
		}
		lane.doing = { kind: "ready" };
		this.#ready.push(lane);
		this.#pump();
	}

	#wait(lane: Lane, ms: number): void {
		const cancel = this.#options.clock.after(ms, () => {
			lane.doing = IDLE;
			this.#consider(lane);
		});
		lane.doing = { kind: "waiting", cancel };
	}

	#next(lane: Lane): Batch {
		return lane.ahead ? { kind: "take", items: [] } : this.#batch(lane);
	}

	/** While the session is suspended, only a person's message starts a turn; earlier messages wait for the next session. */
	#batch({ parked, queue }: Lane): Batch {
		const { clock, batchCapMs } = this.#options;
		const may = parked ? queue.filter(({ kind }) => kind === "person") : queue;
		return nextBatch(may, clock.monotonic(), batchCapMs);
	}

	#pump(): void {
		while (this.#running < this.#options.maxTurns && !this.#stopping) {
			const lane = this.#ready.shift();
			if (!lane) return;
			this.#running++;
			const { promise: ended, resolve } = Promise.withResolvers<void>();
			const beginning: Beginning = { kind: "beginning", interrupt: false, lost: null, ended };
			lane.doing = beginning;
			void this.#work(lane, beginning).then(resolve);
		}
	}

	async #work(lane: Lane, beginning: Beginning): Promise<void> {
		let yieldMs = 0;
		try {
			const attempt = await this.#one(lane, beginning);
			lane.fruitless = attempt.isFruitful ? 0 : lane.fruitless + 1;
			yieldMs = attempt.yieldMs;
		} catch (error) {
			this.#options.work.log(`the lane of conversation ${lane.conversation} failed`, error);
			lane.fruitless = Math.max(2, lane.fruitless + 1);
		}
		lane.doing = IDLE;
		this.#running--;
		if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
		if (yieldMs > 0 && !this.#stopping) this.#wait(lane, yieldMs);
		else this.#after(lane);
		this.#pump();
	}

	/**
	 * Back to the end of the queue; after failures, a little later each time. The first retry is immediate: a turn that is open in the
	 * store is resumed.
	 */
	#after(lane: Lane): void {
		if (lane.fruitless <= 1 || this.#stopping) this.#consider(lane);
		else this.#wait(lane, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (lane.fruitless - 2)));
	}

	async #one(lane: Lane, beginning: Beginning): Promise<Attempt> {
		const begun = await this.#begin(lane);
		if (begun.kind === "resume") goOnWith(lane, begun.turn);
		if (begun.kind === "parked") lane.parked = true;
		if (begun.kind !== "turn")
			return {
				isFruitful: begun.kind !== "resume" && begun.kind !== "gone",
				yieldMs: begun.kind === "preferred" ? begun.ms : 0,
			};
		const { turn } = begun;
		lane.doing = { kind: "running", turn, ended: beginning.ended };
		if (beginning.interrupt) turn.stop("stopped");
		if (lane.queue.some(({ kind }) => kind === "person")) turn.messageArrived();
		if (beginning.lost === turn.id) turn.stop("lost");
		if (this.#aborted) turn.stop(this.#aborted);
		const isEnded = (await turn.run()) === "ended";
		if (!isEnded) void beginning.ended.then(() => this.#options.work.lost?.());
		return { isFruitful: isEnded, yieldMs: 0 };
	}

	async #begin(lane: Lane): Promise<Begun | NotBegun> {
		const { work } = this.#options;
		if (this.#holds.has(lane.conversation)) return { kind: "later" };
		const { ahead } = lane;
		if (ahead?.kind === "begun") {
			lane.ahead = null;
			return { kind: "turn", turn: ahead.turn };
		}
		if (ahead) {
			const begun = await work.resume(lane.conversation, ahead.id);
			if (lane.ahead?.kind === "resume") lane.ahead = null;
			return begun.kind === "none" ? { kind: "gone" } : begun;
		}
		if (work.refresh) await work.refresh(lane.conversation);
		const batch = this.#batch(lane);
		if (batch.kind !== "take") return { kind: "later" };
		const begun = await work.begin(lane.conversation, batch.items);
		if (begun.kind === "turn") lane.parked = false;
		if (begun.kind === "elsewhere") lane.queue = [];
		if (begun.kind === "turn" || begun.kind === "none") {
			const taken = new Set(batch.items.map((item) => item.id));
			lane.queue = lane.queue.filter((item) => !taken.has(item.id));
		}
		return begun;
	}
}

/** The running turn; also null while one is just starting. */
function turnOf(lane: Lane | undefined): Turn | null {
	return lane?.doing.kind === "running" ? lane.doing.turn : null;
}

function goOnWith(lane: Lane, id: string): void {
	if (lane.ahead?.kind !== "begun") lane.ahead = { kind: "resume", id };
}
