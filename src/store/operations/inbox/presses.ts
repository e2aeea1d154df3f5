// A press of a button: its stored command, accepted as the presser's message, in the transaction that uses the button up (I3, I4). Of the
// platform's data, only the button's id and the presser count. A press also proves that the button's message is shown (I7).
import { parseSource } from "../../../domain/index.ts";
import { all, type Context, type Op, sql } from "../../query.ts";
import type { OperatorScope } from "../../types.ts";
import { chatIds } from "../chats/known.ts";
import { findButton, markPressed } from "../deliveries/buttons.ts";
import { recordLookup } from "../deliveries/outcomes.ts";
import { findPrincipal, samePrincipals } from "../people/principals.ts";
import { moveCursor } from "./cursors.ts";
import { type AcceptArgs, type Accepted, accept } from "./inbox.ts";
import { personsIds } from "./routing.ts";

export interface PressArgs
	extends Omit<AcceptArgs, "kind" | "platformMessage" | "content" | "as" | "asCommand"> {
	readonly button: string;
	/** The platform's id of the message that shows the button. */
	readonly shownIn: string;
	/** Absent: they may not speak here. */
	readonly role?: AcceptArgs["role"];
}

export type Pressed =
	| {
			readonly kind: "taken";
			readonly command: string;
			/** Whether the button's message will show the outcome. */
			readonly edited: boolean;
			readonly accepted: Accepted;
	  }
	/** unknown: no such id here. over: its question was answered, or has expired. Nothing was done. */
	| { readonly kind: "unknown" | "over" | "used" }
	| { readonly kind: "not_theirs"; readonly confirmation: string | null };

export function* pressButton(context: Context, { button: id, shownIn, ...args }: PressArgs): Op<Pressed> {
	const found = yield* usable(context, id, shownIn, args);
	if ("kind" in found) {
		if (args.cursor) yield* moveCursor(context, args.cursor);
		return found;
	}
	const { command, edited } = found;
	yield* markPressed(context, id);
	const accepted = yield* accept(context, {
		...args,
		kind: "person",
		platformMessage: `button:${id}`,
		content: command,
		as: { kind: "accept" },
		asCommand: true,
	});
	return { kind: "taken", command, edited, accepted };
}

const openAt = sql<{ id: string; chat: string }>(
	`SELECT b.id, b.chat FROM buttons b JOIN deliveries d ON d.id = b.delivery
	WHERE b.confirmation IS NOT NULL AND b.ended_at IS NULL AND b.platform = ? AND b.account = ? AND d.receipt = ?`,
);

/** The button that a reaction stands for. The cost depends on the number of open questions. */
export function* buttonAt(args: {
	readonly scope: OperatorScope;
	/** On the wire. */
	readonly source: Readonly<Record<string, unknown>>;
	readonly platformMessage: string;
	readonly decision: "approve" | "deny";
}): Op<string | null> {
	const source = parseSource(args.source);
	const chats = yield* chatIds(source);
	for (const { id, chat } of yield* all(openAt, source.platform, source.account, args.platformMessage)) {
		const { command } = (yield* findButton(id)) ?? { command: "" };
		if (chats.includes(chat) && command.startsWith(`/${args.decision} `)) return id;
	}
	return null;
}

/** The button, if this person may press it now. */
function* usable(
	context: Context,
	id: string,
	shownIn: string,
	args: Omit<PressArgs, "button" | "shownIn">,
): Op<Exclude<Pressed, { kind: "taken" }> | { readonly command: string; readonly edited: boolean }> {
	const source = parseSource(args.source);
	const button = yield* findButton(id);
	const { platform, account } = source;
	const isHere =
		button?.platform === platform &&
		button.account === account &&
		(yield* chatIds(source)).includes(button.chat);
	if (!button || !isHere) return { kind: "unknown" };
	yield* recordLookup(context, { id: button.delivery, found: { kind: "sent", receipt: shownIn } });
	const isOwners = args.role === "owner" && button.owner;
	if (args.role === undefined || !(isOwners || (yield* isTheirs(button.principal, source))))
		return { kind: "not_theirs", confirmation: button.confirmation };
	if (button.pressed_at !== null) return { kind: "used" };
	if (button.ended_at !== null || button.until <= context.now) return { kind: "over" };
	const { command, edited } = button;
	return { command, edited };
}

function* isTheirs(principal: string | null, source: ReturnType<typeof parseSource>): Op<boolean> {
	if (principal === null) return false;
	const presser = yield* findPrincipal(source.platform, personsIds(source));
	return presser !== undefined && (yield* samePrincipals(principal)).includes(presser);
}
