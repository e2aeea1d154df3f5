// Facts about a sender, needed to decide whether they may speak.
import type { Op } from "../../query.ts";
import type { OperatorScope, PersonRole } from "../../types.ts";
import { chatIds } from "../chats/known.ts";
import { pairedRoleOf } from "./pairings.ts";
import { findPrincipal, idsOf } from "./principals.ts";

export interface CallerFacts {
	/** All known ids of this person on this platform. */
	readonly ids: readonly string[];
	/** The ids the chat has had, its current one first. */
	readonly chats: readonly string[];
	/** The role given by pairing. */
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
