// Stops a turn that runs on another gateway: that one is asked, so that it stores what it has. If it does not answer in time, the turn is
// ended in the store, and that gateway loses it.
import { z } from "zod";
import { type ConversationId, conversationId } from "../../domain/index.ts";
import { type Cluster, NodeCalls, OPERATOR, type Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Lanes } from "./lanes.ts";
import { STOP_MS } from "./stopping.ts";

const NAME = "stop turn";
/** After the answer, no turn starts there for this long, so that the caller can drop waiting messages. */
const HELD_MS = 500;

const question = z.object({ conversation: z.string(), turn: z.string() });

export function stoppingElsewhere(
	store: Pick<Store, "epoch" | "openTurnOf">,
	cluster: Cluster,
	{ clock, lanes }: { readonly clock: Clock; readonly lanes: Lanes },
): (conversation: ConversationId, only: string | undefined) => Promise<string | null> {
	const calls = new NodeCalls({ cluster, epoch: store.epoch, clock });
	calls.answer(NAME, async (given) => {
		const { turn, ...asked } = question.parse(given);
		const conversation = conversationId(asked.conversation);
		if (lanes.running(conversation) !== turn) return false;
		const letGo = lanes.hold(conversation);
		const isStopped = await lanes.stopAndWait(conversation, STOP_MS);
		clock.after(HELD_MS, letGo);
		return isStopped;
	});
	return async (conversation, only) => {
		const turn = await store.openTurnOf({ scope: OPERATOR, conversation });
		if (turn?.state !== "running" || turn.node === store.epoch) return null;
		if (only !== undefined && turn.id !== only) return null;
		// No answer: the caller ends the turn in the store.
		await calls.ask(turn.node, NAME, { conversation, turn: turn.id }, STOP_MS + HELD_MS).catch(() => {});
		return turn.id;
	};
}
