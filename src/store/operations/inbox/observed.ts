// Messages seen in a group but not addressed to the agent. The newest come before its next turn; older texts are dropped as new ones
// arrive, so that a chat where the agent is never asked costs no more.
import { type Op, run, sql } from "../../query.ts";

export const OBSERVED_KEPT = 50;

const forgetOlder = sql(
	`UPDATE inbox SET body = NULL WHERE id = (
		SELECT id FROM inbox WHERE conversation = ? AND disposition = 'observed' AND body IS NOT NULL
		ORDER BY id DESC LIMIT 1 OFFSET ${OBSERVED_KEPT})`,
);

/** Another one has come to a conversation. */
export function* keepNewest(conversation: string): Op<void> {
	yield* run(forgetOlder, conversation);
}
