// The first half of /stop: the running turn is asked to end itself, so that it stores what it has. Waiting messages are found in the
// store, not in the lane, because the gateway may not be running.
import { type ConversationId, contentText } from "../../domain/index.ts";
import { OPERATOR, type Store } from "../../store/index.ts";
import type { ChangeArgs } from "../commands/changes.ts";
import { parseCommand } from "../commands/parse.ts";
import type { Lanes } from "./lanes.ts";

/** A stopped turn must store its end within this time; otherwise it is ended for it. */
export const STOP_MS = 2000;
const AT_ONCE = 500;

/** With `all`, also drops messages accepted before this one. With `only`, touches no other turn. The caller must hold the lane. */
export async function planStop(
	conversation: ConversationId,
	{
		all,
		only,
		before = Number.MAX_SAFE_INTEGER,
	}: { readonly all: boolean; readonly only?: string | undefined; readonly before?: number },
	{ store, lanes }: { readonly store: Store; readonly lanes: Lanes },
): Promise<ChangeArgs<"stopTurn">> {
	const here = lanes.running(conversation);
	const alone = only !== undefined;
	if (alone && here !== null && here !== only) return { conversation, turn: only, alone };
	const turn = here ?? (await lanes.stopElsewhere(conversation, only)) ?? only;
	await lanes.stopAndWait(conversation, STOP_MS);
	return {
		conversation,
		...(turn !== undefined && { turn }),
		alone,
		...(all && { drop: await waiting(store, conversation, before) }),
	};
}

/** Waiting commands are not included: they run next to everything else. */
async function waiting(store: Store, conversation: ConversationId, before: number): Promise<number[]> {
	const ids: number[] = [];
	for (let after = 0; ; ) {
		const page = await store.waitingItems({ scope: OPERATOR, conversation, after, limit: AT_ONCE });
		for (const { id, kind, content, amended } of page) {
			const isCommand = kind === "person" && !amended && parseCommand(contentText(content ?? "")) !== null;
			if (id < before && !isCommand) ids.push(id);
		}
		const last = page.at(-1);
		if (!last || page.length < AT_ONCE) return ids;
		after = last.id;
	}
}
