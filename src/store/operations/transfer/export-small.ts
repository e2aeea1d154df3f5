// Exports many small conversations in one read: most are small, and separate reads would cost more. The lines equal those of export.ts
// and export-rows.ts, in the same order.
import type { ConversationId } from "../../../domain/index.ts";
import type { Op } from "../../query.ts";
import { toLine } from "../../transfer-line.ts";
import type { Scope } from "../../types.ts";
import { exportHead, exportSessions } from "./export.ts";
import { exportRange } from "./export-range.ts";
import { exportMessages, exportTurns } from "./export-rows.ts";

/** Larger conversations are read page by page. */
const SMALL = 100;
const MOST_SESSIONS = 10;
/** A read ends after this many characters; the remaining conversations are requested again. */
const ENOUGH = 1024 * 1024;
/** How many are read as one range. */
const TOGETHER = 50;

export interface SmallConversations {
	/** For each, in order, as far as it came: its lines as one text; '' if it is gone; null if it is not small. */
	readonly conversations: readonly (string | null)[];
}

export function* exportSmall(args: {
	readonly scope: Scope;
	readonly ids: readonly ConversationId[];
}): Op<SmallConversations> {
	const conversations: (string | null)[] = [];
	let characters = 0;
	for (let at = 0; at < args.ids.length && characters <= ENOUGH; at = conversations.length) {
		const ids = args.ids.slice(at, at + TOGETHER);
		// Between visible ones may be others.
		const together =
			args.scope.kind === "operator" && ids.length > 1 ? yield* exportRange(ids, isSmall) : null;
		for (const [n, id] of ids.entries()) {
			const lines = together ? (together[n] ?? null) : yield* linesOf(args.scope, id);
			conversations.push(lines);
			characters += lines?.length ?? 0;
			if (!together && characters > ENOUGH) break;
		}
	}
	return { conversations };
}

function isSmall(sessions: readonly { readonly upTo: number }[]): boolean {
	return sessions.length <= MOST_SESSIONS && sessions.every(({ upTo }) => upTo <= SMALL);
}

function* linesOf(scope: Scope, conversation: ConversationId): Op<string | null> {
	const head = yield* exportHead({ scope, conversation });
	if (!head) return "";
	const { sessions, hidden, live } = head;
	if (!isSmall(sessions)) return null;
	const lines = [head.conversation, ...(yield* exportSessions({ scope, conversation, heads: sessions }))];
	let turns = 0;
	for (const session of sessions) {
		const page = yield* exportTurns({ scope, conversation, session, after: "", limit: SMALL });
		if (page.last !== null) return null;
		lines.push(...page.lines);
		turns += page.lines.length;
	}
	lines.push(...hidden);
	let messages = 0;
	for (const session of sessions) {
		if (session.upTo === 0) continue;
		const page = yield* exportMessages({ scope, conversation, session, after: 0, limit: SMALL });
		if (page.last !== session.upTo || page.messages.some(({ blobs }) => blobs.length > 0)) return null;
		for (const { line } of page.messages) lines.push(line);
		messages += page.messages.length;
	}
	const counts = { sessions: sessions.length, turns, hidden: hidden.length, messages, blobs: 0 };
	lines.push(toLine({ type: "conversation_end", conversation, live, ...counts }));
	return lines.join("");
}
