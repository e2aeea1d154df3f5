// What has to be known of a sender before it is decided whether they may speak.
import type { Op } from "../../query.ts";
import type { OperatorScope, PersonRole } from "../../types.ts";
import { chatIds } from "../chats/known.ts";
import { pairedRoleOf } from "./pairings.ts";
import { findPrincipal, idsOf } from "./principals.ts";

export interface CallerFacts {
	/** Every id that is known to be the same person on this platform. */
	readonly ids: readonly string[];
	/** The ids that the chat has had, its present one first. */
	readonly chats: readonly string[];
	/** The role that they were let in with by pairing. */
	readonly paired: PersonRole | null;
}

export function* callerFacts(args: {
	readonly scope: OperatorScope;
	readonly platform: string;
	readonly account: string;
	readonly chatId: string;
	readonly ids: readonly string[];
}): Op<CallerFacts> {
	const { platform, account, chatId } = args;
	const principal = yield* findPrincipal(platform, args.ids);
	return {
		ids: principal === undefined ? [] : yield* idsOf(platform, principal),
		chats: yield* chatIds({ platform, account, chatId }),
		paired: principal === undefined ? null : yield* pairedRoleOf(platform, principal),
	};
}
