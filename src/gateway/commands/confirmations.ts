// A human's answer in a chat. The owner may answer anything; a member, questions of their own conversation; on our own channels, the
// authenticated caller. A guest never answers: the owner decides for a guest's turn.

import type { Caller } from "../../confirmations/index.ts";
import { soleSpeaker } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { type Confirmation, type GrantScope, OPERATOR } from "../../store/index.ts";
import { OWNER_ONLY, SEND_TO_OTHERS } from "../../tools/index.ts";
import { texts } from "../texts.ts";
import { wrongArgument } from "./parse.ts";
import type { Changing, CommandContext } from "./types.ts";
import { asCode } from "./words.ts";

/** At least this much of an id must be given. */
const ID = /^[0-9a-f]{4,12}$/;
const MOST_LISTED = 10;
const SCOPES: Readonly<Record<string, GrantScope | null>> = {
	once: null,
	session: "session",
	conversation: "conversation",
	always: "always",
};

export const approve: Changing<"resolveConfirmation"> = {
	name: "approve",
	usage: "/approve [id] [scope]",
	about: texts.approve.about,
	group: "Answers",
	asksForProof: true,
	change: "resolveConfirmation",
	plan: async (context) => {
		const words = context.args === "" ? [] : context.args.split(/\s+/);
		const last = words.at(-1) ?? "";
		const scope = Object.hasOwn(SCOPES, last) ? SCOPES[last] : undefined;
		if (scope !== undefined) words.pop();
		if (words.length > 1 || (words[0] !== undefined && !ID.test(words[0])))
			throw wrongArgument(texts.approve.takes, context.args, "/approve 1a2b3c once");
		const asked = await meant(words[0], context);
		return plan(asked, "approved", scope ? { grant: { scope } } : {}, context);
	},
	answer: (result, { args }) => {
		if (result.kind === "settled") return tooLate(result.status);
		const { action, waiter } = result.confirmation;
		const grant = SCOPES[args.split(/\s+/).at(-1) ?? ""];
		const follows = waiter === "program" ? texts.approve.programMay : texts.approve.doneNow;
		const lasts = grant ? texts.approve.lasts(asCode(action), LASTS[grant]) : "";
		return texts.approve.done(asCode(action), follows, lasts);
	},
};

const LASTS: Readonly<Record<GrantScope, string>> = {
	session: texts.approve.scope.session,
	conversation: texts.approve.scope.conversation,
	always: texts.approve.scope.always,
};

export const deny: Changing<"resolveConfirmation"> = {
	name: "deny",
	usage: "/deny [id] [reason]",
	about: texts.deny.about,
	group: "Answers",
	asksForProof: true,
	change: "resolveConfirmation",
	plan: async (context) => {
		const [first = "", ...rest] = context.args.split(/\s+/);
		const named = ID.test(first) ? await find(first, context) : [];
		// A reason may start with a word that looks like an id.
		const isId = named.length > 0 || (ID.test(first) && rest.length === 0);
		const reason = isId ? rest.join(" ") : context.args;
		const asked = await meant(isId ? first : undefined, context);
		return plan(asked, "denied", reason === "" ? {} : { reason }, context);
	},
	answer: (result) =>
		result.kind === "settled" ? tooLate(result.status) : texts.deny.done(asCode(result.confirmation.action)),
};

function tooLate(status: string): string {
	return status === "expired" ? texts.approve.expired : texts.approve.settled(status);
}

async function plan(
	asked: Confirmation,
	decision: "approved" | "denied",
	input: { readonly reason?: string; readonly grant?: { readonly scope: GrantScope } },
	context: CommandContext,
) {
	const caller = callerOf(context);
	const { confirmations } = context;
	await assertMayDecide(asked, input.grant?.scope ?? null, context);
	if (!confirmations) throw new KeryxError("confirmation.refused", texts.approve.off);
	return { args: await confirmations.resolution(asked.id, decision, input, caller) };
}

/** Limits for someone who is not the owner, in their own conversation. */
export async function assertMayDecide(
	asked: Confirmation,
	grant: GrantScope | null,
	context: Pick<CommandContext, "role" | "principal" | "store">,
): Promise<void> {
	if (context.role === "owner") return;
	if (context.role === "guest") throw new KeryxError("confirmation.refused", texts.approve.mayNot);
	if (grant !== null && grant !== "session")
		throw new KeryxError("confirmation.refused", texts.approve.ownerOnlyLonger, {
			hint: texts.approve.onceOrSession,
		});
	if (OWNER_ONLY.has(asked.action))
		throw new KeryxError(
			"confirmation.refused",
			asked.action === SEND_TO_OTHERS ? texts.approve.ownerOnlySend : texts.approve.ownerOnlyWall,
			{ hint: texts.approve.ownerOnlyWallHint },
		);
	if (grant !== null && !(await askedThemselves(asked, context)))
		throw new KeryxError("confirmation.refused", texts.approve.notYours, { hint: texts.approve.useOnce });
}

/** Someone else may have joined the conversation with a token bound to it. */
async function askedThemselves(
	{ turn }: Confirmation,
	{ store, principal }: Pick<CommandContext, "store" | "principal">,
): Promise<boolean> {
	if (turn === null || principal === null) return false;
	const { speakers } = await store.turn({ scope: OPERATOR, id: turn });
	return speakers.length === 0 || soleSpeaker(speakers) === principal;
}

/** The named one, or the only one. */
async function meant(id: string | undefined, context: CommandContext): Promise<Confirmation> {
	const found = await find(id, context);
	const [only] = found;
	if (only && found.length === 1) return only;
	if (!only)
		throw new KeryxError(
			"argument.invalid",
			id === undefined ? texts.approve.nothingWaits : texts.approve.notWaiting(id),
			{ hint: texts.approve.listHint },
		);
	const lines = found
		.slice(0, MOST_LISTED)
		.map((one) => `${one.id} ${asCode(one.action)}`)
		.join(", ");
	throw new KeryxError("argument.invalid", texts.approve.several(found.length, lines), {
		hint: texts.approve.pickOne(only.id),
	});
}

/** Waiting confirmations that this person may decide, all or by the start of their ids. */
async function find(id: string | undefined, context: CommandContext): Promise<readonly Confirmation[]> {
	const { store, conversationId, now, role, conversation, principal } = context;
	callerOf(context);
	const here = await store.openConfirmations({ scope: OPERATOR, conversation: conversationId, now });
	const own = role === "owner" || (!conversation.shared && conversation.principal === principal) ? here : [];
	const fits = (one: Confirmation) => id === undefined || one.id.startsWith(id);
	const found = own.filter(fits);
	if (found.length > 0 || id === undefined || role !== "owner") return found;
	// The owner's chat is also notified about requests from other conversations.
	const every = await store.confirmations({ scope: OPERATOR, now, limit: 1000, status: "pending" });
	return every.filter(fits);
}

/** Throws for someone who may not decide anything. A poster has proved who they are by now. */
function callerOf({ source, role, speaker, poster }: CommandContext): Caller {
	const { platform, userId, chatId } = source;
	const caller = { role: "approver", sessionKey: null, ...(role !== "owner" && { speaker }) } as const;
	if (poster) return { ...caller, who: poster.who, via: poster.via };
	if (role === "guest") throw new KeryxError("confirmation.refused", texts.approve.mayNot);
	return { ...caller, who: `${platform}:${userId ?? chatId}`, via: "chat" };
}
