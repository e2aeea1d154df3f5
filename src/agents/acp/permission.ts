// A program's permission request as a question to a human, and the human's answer for the protocol and the transcript.
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { Secrets } from "../../secrets/index.ts";
import type { Permission } from "../types.ts";

/** Limits for the text that a human decides about. */
const LONGEST_ASKED = 1024 * 1024;
const LONGEST_TITLE = 1000;

const KINDS: readonly string[] = [
	"read",
	"edit",
	"delete",
	"move",
	"search",
	"execute",
	"think",
	"fetch",
	"switch_mode",
];

/** Stable, so that a grant can name it. */
export function actionOf(kind: string): string {
	return `acp:${KINDS.includes(kind) ? kind : "other"}`;
}

export function descriptionOf(text: string): string {
	return text.length <= LONGEST_TITLE ? text : `${text.slice(0, LONGEST_TITLE).toWellFormed()}...`;
}

/** Whether a human can be shown all of it: not if it is too long or contains a secret. */
export function isAskable(input: unknown, secrets: Secrets): boolean {
	return JSON.stringify(input).length <= LONGEST_ASKED && !secrets.isIn(input);
}

type Options = RequestPermissionRequest["options"];

/** "This once" if there is a choice: Keryx keeps standing approvals, where they can be listed and revoked. */
export function outcomeOf(permission: Permission, options: Options): RequestPermissionResponse["outcome"] {
	const option = KINDS_OF[permission]
		.map((wanted) => options.find(({ kind }) => kind === wanted))
		.find((found) => found !== undefined);
	return option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" };
}

const REJECT = ["reject_once", "reject_always"] as const;
const KINDS_OF: Readonly<Record<Permission, readonly Options[number]["kind"][]>> = {
	approved: ["allow_once", "allow_always"],
	denied: REJECT,
	expired: REJECT,
	impossible: REJECT,
	limited: REJECT,
	cancelled: [],
};

export function refusalText(what: string, permission: Exclude<Permission, "approved">): string {
	return `The program asked for permission: ${what || "it did not say what for"}. ${REFUSALS[permission]}`;
}

const LEAVE = "Do not try to do the same in another way.";
const REFUSALS: Readonly<Record<Exclude<Permission, "approved">, string>> = {
	denied: `A person denied it. ${LEAVE}`,
	expired: `Nobody answered in time, so it was refused. ${LEAVE}`,
	impossible: `Nobody could be asked, so it was refused. ${LEAVE}`,
	limited: `Too many questions like this were asked within an hour (setting: confirmations.rate_limit), so it was refused without asking. ${LEAVE}`,
	cancelled: "It was cancelled before anyone approved it.",
};
