// The form of a request that is bound, stored and shown, and who is notified. What is hashed is what people see.
import { randomBytes } from "node:crypto";
import { foldedAction } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import {
	type Confirmation,
	type ConfirmationRequest,
	type Destination,
	noticeId,
	type Store,
} from "../store/index.ts";
import type { Caller } from "./callers.ts";
import { canonicalDetails, confirmationDigest, type Details } from "./digest.ts";
import { questionOf } from "./notices.ts";
import type { RequestInput } from "./read.ts";
import type { CallQuestion, ConfirmationSettings, ConfirmationsOptions } from "./types.ts";

const HOUR_MS = 3_600_000;

type Asking = RequestInput &
	Pick<ConfirmationRequest, "askedBy" | "via" | "from"> & {
		readonly once?: boolean;
		readonly answerer?: string | null;
	};
type Bound = Asking & { readonly id: string; readonly digest: string };

/**
 * Hides secrets before hashing, so that the stored, shown and hashed bytes are equal. Only the operator's requests keep names of secrets.
 */
export function hiddenInput(secrets: Store["secrets"], input: RequestInput, { role }: Caller): RequestInput {
	const { action, description, requester, sessionKey } = input;
	const details = JSON.parse(canonicalDetails(input.details)) as Details;
	const hider = role === "operator" ? secrets : secrets.forOthers;
	return {
		...input,
		...hider.hideIn({ action, description, requester, details }),
		...secrets.hideIn({ sessionKey }),
	};
}

/** For Keryx's own agent. */
export function ownRequest(question: CallQuestion, timeoutSeconds: number): Asking {
	const { action, description, once, details, sessionKey, askedBy, from, answerer } = question;
	return {
		answerer,
		action,
		description,
		details: JSON.parse(canonicalDetails(details)) as Details,
		requester: "agent",
		sessionKey,
		timeoutSeconds,
		askedBy,
		via: "agent",
		from,
		...(once && { once }),
	};
}

/** The form that is bound, stored and shown. */
export function requestForm(options: ConfirmationsOptions, asked: Asking): ConfirmationRequest {
	const settings = options.settings();
	const id = randomBytes(6).toString("hex");
	const bound = { ...asked, id, digest: confirmationDigest(asked) };
	const { answerer: _, ...kept } = bound;
	return {
		...kept,
		limits: { perAction: settings.rateLimit, inAll: settings.globalLimit, windowMs: HOUR_MS },
		once: asked.once ?? false,
		grantable: !asked.once && !isAlwaysAsked(settings, asked.action),
		useWithinMs: settings.useWithinMinutes * 60_000,
		notices: {
			deliveries: deliveriesOf(options, bound),
			webhooks: settings.webhooks.map(({ url }) => url),
			unreachable: [
				...settings.chats
					.filter((chat) => !reaches(options, chat))
					.map(({ platform, chatId }) => `${platform}:${chatId}`),
				...(settings.unreachable ?? []),
			],
		},
	};
}

/** If a turn asks and ends, its reply is the question. A waiting program has no reply, so its chat is notified. */
function deliveriesOf(
	options: ConfirmationsOptions,
	asked: Bound,
): ConfirmationRequest["notices"]["deliveries"] {
	const { render, clock, settings } = options;
	if (!render) return [];
	const now = clock.now();
	const bound = { ...asked, expiresAt: now + asked.timeoutSeconds * 1000 };
	const own = asked.from?.destination;
	const others = settings().chats.filter(
		(chat) => reaches(options, chat) && (!own || !isSameChat(chat, own)),
	);
	const receivers = own && asked.from?.waiter === "live" ? [own, ...others] : others;
	return receivers.flatMap((destination, n) => {
		const answerer = destination === own ? (asked.answerer ?? null) : null;
		return render(questionOf(bound, { now, answerer }), { id: noticeId(asked.id, n), destination });
	});
}

function reaches(
	{ render, reaches: isThere = () => true }: ConfirmationsOptions,
	chat: Destination,
): boolean {
	return render !== undefined && isThere(chat);
}

/** The arguments, formatted for approvers. */
export function editedForm(
	secrets: Store["secrets"],
	before: Confirmation,
	details: Details,
): { details: Details; digest: string } {
	const canonical = canonicalDetails(details, "edited_details");
	if (secrets.isIn(details)) throw secretNamed("edited_details");
	const { action, requester, sessionKey } = before;
	const kept = JSON.parse(canonical) as Details;
	return { details: kept, digest: confirmationDigest({ action, details: kept, requester, sessionKey }) };
}

export function isAlwaysAsked({ alwaysConfirm }: ConfirmationSettings, action: string): boolean {
	const name = foldedAction(action);
	return alwaysConfirm.some((one) => foldedAction(one) === name);
}

function isSameChat(a: Destination, b: Destination): boolean {
	return a.platform === b.platform && a.account === b.account && a.chatId === b.chatId;
}

const PLACEHOLDER = "\u0024{secret:NAME}";

function secretNamed(field: string): KeryxError {
	return new KeryxError("argument.invalid", `${field} contains a known secret`, {
		field,
		hint: `write ${PLACEHOLDER} instead`,
	});
}
