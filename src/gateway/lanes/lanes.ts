// One lane per active conversation: created on demand, gone when idle, one turn at a time. What a lane knows is only what waits;
// the store is the truth, and refuses a second turn whatever a lane believes (I5). Turns across lanes are bounded, first come
// first served.
import type { BusyMode, ToolProgress } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import { within } from "../deadline.ts";
import { type Batch, nextBatch, type Waiting } from "../inbox/batch.ts";
import type { StopReason, Turn } from "../turn/turn.ts";

/** What a lane asks of the gateway. Each answers a turn that has begun, or what else to do. */
export interface LaneWork {
	begin(conversation: string, items: readonly Waiting[]): Promise<Begun>;
	resume(conversation: string, turn: string): Promise<Begun>;
	/** The conversation has nothing left to do. */
	idle?(conversation: string): void;
	log(message: string, error: unknown): void;
}

export type Begun =
	| { readonly kind: "turn"; readonly turn: Turn }
	/** Taken by somebody else, expired, or gone: nothing to run. */
	| { readonly kind: "none" }
	/** Another turn is open: resume it first. */
	| { readonly kind: "resume"; readonly turn: string }
	/** Nothing may begin until a person writes: the items stay. */
	| { readonly kind: "parked" };

type NotBegun =
	/** A command holds the lane, or a burst may not be over: nothing was asked. */
	| { readonly kind: "later" }
	/** The turn that was to be gone on with is not open any more. */
	| { readonly kind: "gone" };

/** Between two attempts that came to nothing: at first, and at the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

type State = "idle" | "waiting" | "ready" | "running";

interface Lane {
	readonly conversation: string;
	queue: Waiting[];
	state: State;
	turn: Turn | null;
	/** An interrupted turn to go on with, before anything else. */
	resume: string | null;
	/** A turn that a command has begun already. */
	begun: Turn | null;
	/** A turn that is just beginning is to be stopped as soon as it has. */
	interrupt: boolean;
	/** A turn that was ended in the store before it began here. */
	lost: string | null;
	busy: BusyMode;
	parked: boolean;
	/** How often in a row nothing came of the work: the store failed, or says that somebody else has what is to be run here. */
	fruitless: number;
	/** The end of what runs. */
	ended: Promise<void>;
	cancel: () => void;
}

export interface LanesOptions {
	readonly clock: Clock;
	readonly maxTurns: number;
	readonly batchCapMs: number;
	readonly work: LaneWork;
}

export class Lanes {
	readonly #options: LanesOptions;
	readonly #lanes = new Map<string, Lane>();
	readonly #ready: Lane[] = [];
	readonly #idle: (() => void)[] = [];
	/** How many commands are being carried out in a conversation. */
	readonly #holds = new Map<string, number>();
	#running = 0;
	#stopping = false;

	constructor(options: LanesOptions) {
		this.#options = options;
	}

	/** A message waits. Beside a running turn the busy mode decides; what no person wrote leaves that as it is, and queues. */
	add(conversation: string, item: Waiting, busy?: BusyMode): void {
		const lane = this.#lane(conversation);
		if (busy) lane.busy = busy;
		// In the order of acceptance, which is that of its coming but for what was found later.
		const after = lane.queue.findLastIndex(({ id }) => id < item.id);
		lane.queue.splice(after + 1, 0, item);
		if (item.kind === "person" && busy === "interrupt" && lane.state === "running") {
			lane.interrupt = lane.turn === null;
			lane.turn?.stop("stopped");
		}
		if (item.kind === "person") lane.turn?.messageArrived();
		this.#consider(lane);
	}

	resume(conversation: string, turn: string): void {
		const lane = this.#lane(conversation);
		lane.resume = turn;
		this.#consider(lane);
	}

	/**
	 * A command is being carried out: no turn begins in its conversation until that is done, so that what was said after it
	 * comes after it. Answers how to let go.
	 */
	hold(conversation: string): () => void {
		this.#holds.set(conversation, (this.#holds.get(conversation) ?? 0) + 1);
		return () => {
			const left = (this.#holds.get(conversation) ?? 1) - 1;
			if (left > 0) this.#holds.set(conversation, left);
			else this.#holds.delete(conversation);
			const lane = this.#lanes.get(conversation);
			if (!lane) return;
			// The command may have opened a session that what waits can go on in.
			lane.parked = false;
			this.#consider(lane);
		};
	}

	/** A turn that a command began in the store. */
	run(conversation: string, turn: Turn): void {
		const lane = this.#lane(conversation);
		lane.begun = turn;
		this.#consider(lane);
	}

	/** People's messages that wait and may join the running turn, in mode steer. They wait until they have joined. */
	joining(conversation: string, mayJoin: (item: Waiting) => boolean): readonly number[] {
		const lane = this.#lanes.get(conversation);
		if (lane?.busy !== "steer") return [];
		return lane.queue.filter((item) => item.kind === "person" && mayJoin(item)).map((item) => item.id);
	}

	/** They wait no longer: a turn has taken them, or their user has dropped them. */
	remove(conversation: string, inbox: readonly number[]): void {
		const lane = this.#lanes.get(conversation);
		if (lane) lane.queue = lane.queue.filter((item) => !inbox.includes(item.id));
	}

	/** This turn was ended in the store: it stops here too, also one that is only just beginning, or has not begun yet. */
	lose(conversation: string, turn: string): void {
		const lane = this.#lanes.get(conversation);
		if (!lane) return;
		if (lane.begun?.id === turn) lane.begun = null;
		else if (lane.turn?.id === turn) lane.turn.stop("lost");
		else if (lane.state === "running") lane.lost = turn;
	}

	/** What the running turn shows of its tools from now on. */
	showTools(conversation: string, show: ToolProgress): void {
		this.#lanes.get(conversation)?.turn?.showTools(show);
	}

	/** Ends the running turn and waits until it has written its end; false when it has not within the time given. */
	async stopAndWait(conversation: string, ms: number): Promise<boolean> {
		const lane = this.#lanes.get(conversation);
		if (!lane?.turn) return true;
		lane.turn.stop("stopped");
		const signal = new AbortController().signal;
		return within(
			lane.ended.then(() => true),
			{ clock: this.#options.clock, ms, signal },
		).catch(() => false);
	}

	/** Those that wait, also while a turn is just being begun for them. */
	waitingIn(conversation: string): ReadonlySet<number> {
		return new Set(this.#lanes.get(conversation)?.queue.map(({ id }) => id));
	}

	waiting(conversation: string): number {
		return this.#lanes.get(conversation)?.queue.length ?? 0;
	}

	running(conversation: string): string | null {
		return this.#lanes.get(conversation)?.turn?.id ?? null;
	}

	/** Whether a turn runs, or is just beginning. */
	isBusy(conversation: string): boolean {
		return this.#lanes.get(conversation)?.state === "running";
	}

	get active(): number {
		return this.#running;
	}

	/** No turn begins any more; resolves when those that run have ended. */
	async drain(): Promise<void> {
		this.#stopping = true;
		for (const lane of this.#lanes.values()) lane.cancel();
		if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
	}

	abortAll(reason: StopReason): void {
		for (const lane of this.#lanes.values()) lane.turn?.stop(reason);
	}

	#lane(conversation: string): Lane {
		const known = this.#lanes.get(conversation);
		if (known) return known;
		const lane: Lane = {
			conversation,
			queue: [],
			state: "idle",
			turn: null,
			resume: null,
			begun: null,
			interrupt: false,
			lost: null,
			busy: "queue",
			parked: false,
			fruitless: 0,
			ended: Promise.resolve(),
			cancel: () => {},
		};
		this.#lanes.set(conversation, lane);
		return lane;
	}

	/** Decides what a lane does next; called whenever something about it changed. */
	#consider(lane: Lane): void {
		if (this.#stopping || lane.state === "running" || lane.state === "ready") return;
		lane.cancel();
		lane.cancel = () => {};
		if (this.#holds.has(lane.conversation)) {
			lane.state = "idle";
			return;
		}
		const batch = this.#next(lane);
		if (batch.kind === "empty") {
			lane.state = "idle";
			if (lane.queue.length > 0) return;
			this.#lanes.delete(lane.conversation);
			this.#options.work.idle?.(lane.conversation);
			return;
		}
		if (batch.kind === "wait") {
			lane.state = "waiting";
			lane.cancel = this.#options.clock.after(batch.until - this.#options.clock.monotonic(), () => {
				lane.state = "idle";
				this.#consider(lane);
			});
			return;
		}
		lane.state = "ready";
		this.#ready.push(lane);
		this.#pump();
	}

	#next(lane: Lane): Batch {
		if (lane.resume !== null || lane.begun) return { kind: "take", items: [] };
		return this.#batch(lane);
	}

	/** While the session is suspended, only a person's message begins a turn; what came before it waits for the successor. */
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
			lane.state = "running";
			lane.ended = this.#work(lane);
		}
	}

	async #work(lane: Lane): Promise<void> {
		try {
			lane.fruitless = (await this.#one(lane)) ? 0 : lane.fruitless + 1;
		} catch (error) {
			this.#options.work.log(`the lane of conversation ${lane.conversation} failed`, error);
			lane.fruitless = Math.max(2, lane.fruitless + 1);
		}
		lane.turn = null;
		this.#running--;
		if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
		this.#after(lane);
		this.#pump();
	}

	/**
	 * Back to the end of the line; after work that came to nothing, a little later each time. Only the first time at once: a turn that
	 * is open in the store is gone on with.
	 */
	#after(lane: Lane): void {
		lane.state = "idle";
		if (lane.fruitless <= 1 || this.#stopping) {
			this.#consider(lane);
			return;
		}
		const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (lane.fruitless - 2));
		lane.state = "waiting";
		lane.cancel = this.#options.clock.after(pause, () => {
			lane.state = "idle";
			this.#consider(lane);
		});
	}

	/** Whether anything came of it: a turn that ended, or messages that wait no longer. */
	async #one(lane: Lane): Promise<boolean> {
		lane.interrupt = false;
		lane.lost = null;
		const begun = await this.#begin(lane);
		if (begun.kind === "resume") lane.resume = begun.turn;
		if (begun.kind === "parked") lane.parked = true;
		if (begun.kind !== "turn") return begun.kind !== "resume" && begun.kind !== "gone";
		lane.turn = begun.turn;
		if (lane.interrupt) begun.turn.stop("stopped");
		if (lane.queue.some(({ kind }) => kind === "person")) begun.turn.messageArrived();
		if (lane.lost === begun.turn.id) begun.turn.stop("lost");
		return (await begun.turn.run()) === "ended";
	}

	async #begin(lane: Lane): Promise<Begun | NotBegun> {
		const { work } = this.#options;
		if (this.#holds.has(lane.conversation)) return { kind: "later" };
		if (lane.begun) {
			const turn = lane.begun;
			lane.begun = null;
			if (lane.resume === turn.id) lane.resume = null;
			return { kind: "turn", turn };
		}
		if (lane.resume !== null) {
			const begun = await work.resume(lane.conversation, lane.resume);
			lane.resume = null;
			return begun.kind === "none" ? { kind: "gone" } : begun;
		}
		const batch = this.#batch(lane);
		if (batch.kind !== "take") return { kind: "later" };
		const begun = await work.begin(lane.conversation, batch.items);
		if (begun.kind === "turn") lane.parked = false;
		if (begun.kind === "turn" || begun.kind === "none") {
			const taken = new Set(batch.items.map((item) => item.id));
			lane.queue = lane.queue.filter((item) => !taken.has(item.id));
		}
		return begun;
	}
}
