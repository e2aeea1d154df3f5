// A press of a button. It is admitted as the button's stored command, written by the person who pressed: same authorisation, same
// admission, same runner (I14, I17). The presser is always told the outcome.

import type { Config } from "../../config/index.ts";
import type { Confirmations } from "../../confirmations/index.ts";
import { parseSource, toWireSource } from "../../domain/index.ts";
import { OPERATOR, type Pressed, type Store } from "../../store/index.ts";
import { type Clock, DeadlinePassed, within } from "../../time/index.ts";
import type { Press, Reaction } from "../channel.ts";
import { parseCommand } from "../commands/index.ts";
import type { ReceivedCommand } from "../commands/runner.ts";
import { texts } from "../texts.ts";
import { decide, roleOf, routingOf } from "./admission.ts";
import type { ArrivalOrder } from "./arrival-order.ts";

/** Platforms let the presser wait only a few seconds. */
const ANSWER_MS = 5000;

export interface PressOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: Config;
	readonly confirmations: Confirmations | null;
	readonly arrivalOrder: ArrivalOrder;
	readonly onCommand: (command: ReceivedCommand) => void;
}

/** Resolves after the commit, with the text to show. Rejects if nothing was committed: the platform must deliver the press again. */
export async function press(
	given: Press,
	account: string,
	options: PressOptions,
): Promise<{ readonly text: string }> {
	const taken = await take(given, account, options);
	given.onCommitted?.();
	return "text" in taken ? taken : answered(taken.command, taken.edited, options);
}

/**
 * A thumb up or down on an open question counts as a press of its button, if the platform cannot show buttons. The answer is a message.
 * Other reactions do nothing here.
 */
export async function pressByReaction(
	{ source: from, platformMessage, emoji, transport }: Reaction,
	account: string,
	options: PressOptions,
): Promise<void> {
	const decision = decisionOf(emoji);
	if (decision === null) return;
	const source = { account, ...from };
	const button = await options.store.buttonAt({ scope: OPERATOR, source, platformMessage, decision });
	if (button === null) return;
	const given = { source, button, platformMessage, ...(transport && { transport }) };
	const taken = await take(given, account, options);
	if ("command" in taken) options.onCommand(taken.command);
}

/** In any skin tone, and by the names some platforms use. */
function decisionOf(emoji: string): "approve" | "deny" | null {
	const plain = emoji.replace(/[\u{1F3FB}-\u{1F3FF}\uFE0F:]/gu, "").replace(/skin-tone-\d$/, "");
	if (plain === "👍" || plain === "+1" || plain === "thumbsup") return "approve";
	return plain === "👎" || plain === "-1" || plain === "thumbsdown" ? "deny" : null;
}

type Taken = { readonly text: string } | { readonly command: ReceivedCommand; readonly edited: boolean };

async function take(
	{ source: from, button, platformMessage, cursor, transport = {} }: Press,
	account: string,
	options: PressOptions,
): Promise<Taken> {
	const { store, config, confirmations, arrivalOrder } = options;
	const given = parseSource({ ...from, account: from.account ?? account });
	const { source, profile, authorisation } = await arrivalOrder.pass(decide(given, transport, options));
	const isKnown = authorisation.kind === "allowed" && profile !== null;
	// Programs, bots and people the platform does not vouch for cannot decide.
	const isAllowed = isKnown && !transport.poster && !transport.isBot && !transport.unproven;
	const pressed = await store.pressButton({
		button,
		shownIn: platformMessage,
		source: toWireSource(source),
		routing: routingOf(config, profile),
		...(isAllowed && {
			role: authorisation.role,
			...(authorisation.platformRole !== undefined && { platformRole: authorisation.platformRole }),
		}),
		...(cursor !== undefined && {
			cursor: { platform: source.platform, account: source.account, value: cursor },
		}),
	});
	if (pressed.kind === "not_theirs" && isKnown && pressed.confirmation !== null)
		await confirmations?.refused(
			{ who: `${source.platform}:${source.userId ?? source.chatId}`, via: "chat" },
			"resolve",
			`pressed someone else's button, as ${roleOf(authorisation)}`,
			pressed.confirmation,
		);
	if (pressed.kind !== "taken") return { text: REFUSALS[pressed.kind] };
	const parsed = parseCommand(pressed.command);
	const { id: inbox, conversation, principal } = pressed.accepted;
	if (!parsed || conversation === null || pressed.accepted.duplicate) return { text: REFUSALS.used };
	const command = { inbox, conversation, principal, source, parsed, authorisation, poster: null };
	return { command, edited: pressed.edited };
}

/** The command's answer. No separate message if the button's own message shows the outcome. */
async function answered(
	command: ReceivedCommand,
	edited: boolean,
	{ clock, onCommand }: PressOptions,
): Promise<{ readonly text: string }> {
	let isWaiting = true;
	const { signal } = new AbortController();
	const text = new Promise<string>((resolve) => {
		onCommand({
			...command,
			hearAnswer: (said) => {
				resolve(said);
				return isWaiting && edited;
			},
		});
	});
	try {
		return { text: await within(text, { clock, ms: ANSWER_MS, signal }) };
	} catch (error) {
		if (!(error instanceof DeadlinePassed)) throw error;
		return { text: UNDER_WAY };
	} finally {
		isWaiting = false;
	}
}

const REFUSALS: Readonly<Record<Exclude<Pressed["kind"], "taken">, string>> = {
	unknown: texts.press.unknown,
	over: texts.press.over,
	used: texts.press.used,
	not_theirs: texts.press.notTheirs,
};
const UNDER_WAY = texts.press.underWay;
