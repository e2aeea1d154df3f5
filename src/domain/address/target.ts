// Targets of unprompted messages. A person or the agent writes one as text; it is resolved and checked when given, and stored resolved,
// so that a later change of the home channel does not move it. Pure.
import { isConversationId } from "../ids.ts";
import type { ConversationId } from "../types.ts";
import { isPlatformName } from "./platforms.ts";

/** As written. */
export type WrittenTarget =
	/** Where someone last wrote in the conversation. */
	| { readonly kind: "origin" }
	/** A file in Keryx's home. */
	| { readonly kind: "local" }
	/** The platform's home channel. An account names one of several connections. */
	| { readonly kind: "home"; readonly platform: string; readonly account?: string }
	| {
			readonly kind: "chat";
			readonly platform: string;
			readonly account?: string;
			readonly chatId: string;
			readonly threadId?: string;
	  }
	| { readonly kind: "conversation"; readonly conversation: ConversationId };

/** As stored: plain data, ids only. */
export type Target =
	| { readonly kind: "local" }
	| { readonly kind: "conversation"; readonly conversation: ConversationId }
	| {
			readonly kind: "chat";
			readonly platform: string;
			/** Which of several connections to the platform; "" for the only one. */
			readonly account: string;
			readonly chatId: string;
			readonly threadId?: string;
	  };

const TARGET_FORMS = "origin, local, a platform, platform:chat, platform:chat:thread or conversation:id";

/** As long as two ids of a source and a name. */
const LONGEST = 1100;

/** As in `channels.<name>.account`. */
const ACCOUNT = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * A colon or a percent sign in an id is written %3A or %25. The colon before the server in a Matrix id needs no escape. Of several
 * connections to a platform, `platform@account` names one.
 */
export function parseTarget(text: string): WrittenTarget | { readonly problem: string } {
	const given = text.trim();
	const wrong = { problem: `the target must be ${TARGET_FORMS}` };
	if (given === "origin" || given === "local") return { kind: given };
	if (given === "" || given.length > LONGEST || hasControls(given)) return wrong;
	const colon = given.indexOf(":");
	const head = colon < 0 ? given : given.slice(0, colon);
	const rest = colon < 0 ? null : given.slice(colon + 1);
	if (head === "conversation") {
		if (rest === null || !isConversationId(rest))
			return { problem: "conversation: must be followed by the id of a conversation" };
		return { kind: "conversation", conversation: rest };
	}
	const [platform = "", named, ...more] = head.split("@");
	if (!isPlatformName(platform) || more.length > 0) return wrong;
	if (named !== undefined && !ACCOUNT.test(named))
		return { problem: `after ${platform}@ there must be the account of a channel` };
	if (platform === "origin" || platform === "local") return { problem: `${platform} takes nothing after it` };
	const account = named === undefined ? {} : { account: named };
	if (rest === null) return { kind: "home", platform, ...account };
	const ids = splitIds(platform, rest).map(unescaped);
	const [chatId, threadId] = ids;
	if (ids.length > 2 || !chatId || threadId === "" || threadId === null)
		return { problem: `after ${head}: there must be the id of a chat, or of a chat and a thread` };
	return { kind: "chat", platform, ...account, chatId, ...(threadId !== undefined && { threadId }) };
}

/** In the form that `parseTarget` reads. */
export function targetText(target: Target | WrittenTarget): string {
	switch (target.kind) {
		case "origin":
		case "local":
			return target.kind;
		case "home":
			return connection(target);
		case "conversation":
			return `conversation:${target.conversation}`;
		case "chat":
			return [
				connection(target),
				escaped(target.platform, target.chatId),
				...(target.threadId === undefined ? [] : [escapedThread(target.platform, target.threadId)]),
			].join(":");
	}
}

function connection({ platform, account = "" }: { platform: string; account?: string }): string {
	return account === "" ? platform : `${platform}@${account}`;
}

/** A room, alias or person of Matrix: `!room:server`, with or without a port. */
const MATRIX_ID = /^[!#@][^:]*:[^:]+(?::\d{1,5})?(?=:|$)/;

function splitIds(platform: string, rest: string): string[] {
	const whole = platform === "matrix" ? MATRIX_ID.exec(rest)?.[0] : undefined;
	if (whole === undefined) return rest.split(":");
	return [whole, ...(whole.length === rest.length ? [] : rest.slice(whole.length + 1).split(":"))];
}

const UNREADABLE = /%(?![2-7][0-9A-Fa-f])/;

function unescaped(id: string): string | null {
	if (UNREADABLE.test(id)) return null;
	return id.replace(/%([2-7][0-9A-Fa-f])/g, (_, code: string) =>
		String.fromCharCode(Number.parseInt(code, 16)),
	);
}

function escaped(platform: string, id: string): string {
	const safe = id.replace(/%/g, "%25");
	if (platform !== "matrix") return safe.replace(/:/g, "%3A");
	if (MATRIX_ID.exec(safe)?.[0] === safe) return safe;
	// Begins like an id of Matrix, and would be read on to the next colon.
	return safe.replace(/:/g, "%3A").replace(/^[!#@]/, (first) => `%${first.charCodeAt(0).toString(16)}`);
}

/** Behind an id of Matrix a number would be read as the server's port. */
function escapedThread(platform: string, id: string): string {
	const safe = id.replace(/%/g, "%25").replace(/:/g, "%3A");
	return platform === "matrix" ? safe.replace(/^\d/, (digit) => `%3${digit}`) : safe;
}

function hasControls(text: string): boolean {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
	return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) || !text.isWellFormed();
}
