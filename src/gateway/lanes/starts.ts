// How a turn starts other than by a message that is next in its lane: an event wakes the conversation, a command has begun one, or another
// gateway may begin it first.
import type { Config } from "../../config/index.ts";
import type { ConversationId } from "../../domain/index.ts";
import { type Conversation, isPassing, type Woken } from "../../store/index.ts";
import { type Clock, untilWritten } from "../../time/index.ts";
import type { CommandTurn } from "../commands/changes.ts";
import type { Waiting } from "../inbox/batch.ts";
import type { Turn } from "../turn/turn.ts";
import type { Begun, Lanes } from "./lanes.ts";
import type { LastAnswered } from "./last-answered.ts";

export interface StartsOptions {
	readonly clock: Clock;
	/** Read per call: it may change. */
	readonly config: () => Config;
	readonly lanes: Lanes;
	readonly lastAnswered: LastAnswered;
	readonly ofCommand: (conversation: Conversation, turn: CommandTurn) => Promise<Turn>;
	readonly stopping: () => AbortSignal;
	readonly log: (message: string, error: unknown) => void;
}

export class Starts {
	readonly #options: StartsOptions;

	constructor(options: StartsOptions) {
		this.#options = options;
	}

	/** An answer of a human, the clock or the end of a program begins a turn. */
	wake({ conversation, inbox: id }: Woken, kind: "confirmation" | "process" | "schedule"): void {
		const { lanes, clock } = this.#options;
		lanes.add(conversation, {
			id,
			kind,
			principal: null,
			role: null,
			arrivedAt: clock.monotonic(),
			sentAt: clock.now(),
			batchMs: 0,
			late: false,
		});
	}

	/** A turn that a command began. It waits in its lane until nothing else runs there. */
	runBegun(conversation: Conversation, turn: CommandTurn): Promise<void> {
		const { lanes, clock, ofCommand, stopping, log } = this.#options;
		return untilWritten(() => ofCommand(conversation, turn), {
			clock,
			signal: stopping(),
			isPassing,
			log: (error) => log(`turn ${turn.turn} cannot start yet`, error),
		}).then(
			(begun) => lanes.run(conversation.id, begun),
			(error: unknown) => log(`turn ${turn.turn} is left for the next start`, error),
		);
	}

	/** Another gateway answered last, and its files are there: it may begin first. Null: this one does now. */
	preferred(conversation: ConversationId, [first]: readonly Waiting[]): Begun | null {
		const { clock, config, lastAnswered } = this.#options;
		if (!first || !lastAnswered.isElsewhere(conversation)) return null;
		const ms = first.arrivedAt + config().lane.prefer_ms - clock.monotonic();
		return ms > 0 ? { kind: "preferred", ms } : null;
	}
}
