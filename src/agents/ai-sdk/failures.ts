// Classifies errors of a provider, its library or the network, and what may be done. Providers agree on little beyond status codes, so
// their messages are read too.
import { hideSecretLike } from "../../config/index.ts";
import { firstOf } from "../../domain/index.ts";
import { HIDDEN } from "../../secrets/index.ts";
import type { AgentFailure, FailureKind } from "../types.ts";
import { TOO_LONG } from "./bounded.ts";
import type { SentAttachment } from "./prompt.ts";
import { retryAfter } from "./retry.ts";

export interface Verdict {
	readonly failure: AgentFailure;
	/** It may pass: the same model is asked again. */
	readonly retry: boolean;
	/** Another model may answer: the next of the failover list is asked. */
	readonly failover: boolean;
}

export interface Circumstances {
	readonly attachments: readonly SentAttachment[];
	/** Must not appear in the failure's description (I12). */
	readonly key: string | null;
	/** Hides secrets in what the provider says, before it is cut (I12). */
	readonly hide: (text: string) => string;
	readonly now: number;
}

export function verdictOn(error: unknown, circumstances: Circumstances): Verdict {
	const facts = factsOf(error, circumstances.hide);
	const { attachments } = circumstances;
	const kind = kindOf(facts, attachments.length > 0);
	const retryAfterMs =
		kind === "rate_limited" ? retryAfter(facts.headers, facts.body, circumstances.now) : undefined;
	return verdict(kind, detailOf(facts, circumstances.key), {
		retryAfterMs,
		...(attachments.length > 0 && mayBeAboutThem(kind, facts) && blamed(facts, attachments)),
		failover: kind === "refused" && isNotThere(facts),
	});
}

/** `failover`: another model may answer although the kind does not imply it. */
export function verdict(
	kind: FailureKind,
	detail: string,
	{
		failover = false,
		retryAfterMs,
		...blame
	}: {
		readonly failover?: boolean;
		readonly retryAfterMs?: number | undefined;
	} & Blame = {},
): Verdict {
	return {
		failure: { kind, detail, ...(retryAfterMs !== undefined && { retryAfterMs }), ...blame },
		retry: PASSING.has(kind),
		failover: failover || PASSING.has(kind) || kind === "key_missing",
	};
}

type Blame = Pick<AgentFailure, "attachments" | "suspects">;

const PASSING: ReadonlySet<FailureKind> = new Set(["rate_limited", "provider_down", "malformed"]);

interface Facts {
	readonly name: string;
	readonly message: string;
	readonly status: number | undefined;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
	/** Message, codes and body together, for searching. */
	readonly words: string;
	readonly request: unknown;
}

/** An error of the library or network, or a plain object from the stream. */
function factsOf(error: unknown, hide: Circumstances["hide"]): Facts {
	const held = (typeof error === "object" && error !== null ? error : { message: String(error) }) as Record<
		string,
		unknown
	>;
	const text = (field: string): string =>
		typeof held[field] === "string" ? firstOf(hide(held[field]), LONGEST_READ) : "";
	const code = typeof held.code === "number" ? held.code : undefined;
	const status =
		typeof held.statusCode === "number"
			? held.statusCode
			: code && code >= 400 && code < 600
				? code
				: undefined;
	// An answer that started well and broke: the cause is inside.
	if (status !== undefined && status < 400 && held.cause instanceof Error) return factsOf(held.cause, hide);
	const body = text("responseBody");
	return {
		name: text("name"),
		message: text("message") || text("type") || "no reason given",
		status,
		headers: (held.responseHeaders ?? {}) as Record<string, string>,
		body,
		words: [text("message"), text("type"), text("code"), text("status"), body].join(" "),
		request: held.requestBodyValues,
	};
}

/** A proxy's long error page is not searched to its end. */
const LONGEST_READ = 4000;

const TOO_LARGE =
	/context[ _-]?(length|window|size|limit)|maximum context|prompt is too long|too many (input )?tokens|input (is )?too long|request (entity )?too large|token count .*exceeds|exceeds? .*(token limit|max(imum)? .*tokens)|reduce the length|larger than .*context/i;
const ATTACHMENT =
	/\b(image|images|image_url|input_image|invalid_image\w*|vision|audio|pdf|document|multimodal|attachment|input_file|media[ _]type)\b/i;
const KEY = /api[ _-]?key|authentication|unauthori[sz]ed|permission_error|invalid x-api-key/i;
const FILTERED = /content[ _-]?(policy|filter|management)|moderation|flagged|safety system|cyber_policy/i;
const LIMITED = /rate[ _-]?limit|too many requests|resource_exhausted/i;
const BROKE = /insufficient[ _]quota|credit balance|insufficient (credits|balance|funds)/i;
/** These servers will answer the same request later. */
const BUSY = /overloaded|unavailable|capacity|temporar|timeout|timed out|try again/i;
const DOWN = /overloaded|server_error|api_error|internal|unavailable|timeout|timed out|try again/i;
const UNREADABLE = new Set([
	TOO_LONG,
	"AI_JSONParseError",
	"AI_TypeValidationError",
	"AI_InvalidResponseDataError",
	"AI_NoContentGeneratedError",
]);
const UNASKED = new Set([
	"AI_UnsupportedFunctionalityError",
	"AI_InvalidPromptError",
	"AI_InvalidArgumentError",
]);

function kindOf({ name, status, words, message }: Facts, hasAttachments: boolean): FailureKind {
	if (UNASKED.has(name)) return hasAttachments && ATTACHMENT.test(words) ? "attachment_refused" : "refused";
	if (UNREADABLE.has(name)) return /without a finish reason/i.test(message) ? "provider_down" : "malformed";
	if (status === undefined) return kindOfWords(name, words, hasAttachments);
	if (status < 400) return "malformed";
	if (status === 402 || BROKE.test(words)) return "refused";
	if (status === 413)
		return hasAttachments && ATTACHMENT.test(words) ? "attachment_refused" : "context_too_large";
	if ((status < 500 || OPAQUE.has(status)) && TOO_LARGE.test(words)) return "context_too_large";
	if (status === 429) return "rate_limited";
	if (status === 401) return "key_missing";
	if (status === 403) return FILTERED.test(words) ? "refused" : "key_missing";
	if (status === 408 || status === 409 || status === 425 || (status >= 500 && !OPAQUE.has(status)))
		return "provider_down";
	if (hasAttachments && ATTACHMENT.test(words)) return "attachment_refused";
	if (status >= 500) return "provider_down";
	// Google answers a wrong key with 400.
	return status === 400 && /api[ _]key[ _](not[ _]valid|invalid)/i.test(words) ? "key_missing" : "refused";
}

/** Some servers return these for a request they can never answer. */
const OPAQUE: ReadonlySet<number> = new Set([500, 501]);

/** Without a status: in the middle of a stream, or before the provider was reached. */
function kindOfWords(name: string, words: string, hasAttachments: boolean): FailureKind {
	if (name !== "" && name !== "Error") return "provider_down";
	if (TOO_LARGE.test(words)) return "context_too_large";
	if (LIMITED.test(words)) return "rate_limited";
	if (hasAttachments && ATTACHMENT.test(words)) return "attachment_refused";
	if (DOWN.test(words)) return "provider_down";
	if (FILTERED.test(words)) return "refused";
	return KEY.test(words) ? "key_missing" : "provider_down";
}

/** Whether leaving out attachments may help. Not if the key, the account, the model or temporary trouble is the cause. */
function mayBeAboutThem(kind: FailureKind, facts: Facts): boolean {
	switch (kind) {
		case "attachment_refused":
		case "context_too_large":
			return true;
		case "refused":
			return !isNotThere(facts);
		case "provider_down":
			return facts.status !== undefined && OPAQUE.has(facts.status) && !BUSY.test(facts.words);
		case "rate_limited":
		case "key_missing":
		case "program_failed":
		case "malformed":
		case "timeout":
			return false;
	}
}

/** The cause is the model or account, not the request. */
function isNotThere({ status, words }: Facts): boolean {
	return status === 404 || status === 402 || BROKE.test(words);
}

const LONGEST_DETAIL = 300;

/** One line for the record, without a key in it. */
function detailOf({ message, status }: Facts, key: string | null): string {
	const said = `${status === undefined ? "" : `${status} `}${message}`;
	const hidden = hideSecretLike(key ? said.replaceAll(key, HIDDEN) : said);
	const line = hidden.replace(/\s+/g, " ").trim();
	return line.length > LONGEST_DETAIL ? `${firstOf(line, LONGEST_DETAIL - 3).toWellFormed()}...` : line;
}

function blamed(facts: Facts, attachments: readonly SentAttachment[]): Blame {
	const named = [...new Set(namedOf(facts, attachments).map(({ digest }) => digest))];
	return {
		...(named.length > 0 && { attachments: named }),
		suspects: attachments.map(({ digest, bytes }) => ({ digest, bytes })),
	};
}

/** Attachments the provider names: one by its place in the request, or all of a refused kind. */
function namedOf({ words, request }: Facts, attachments: readonly SentAttachment[]): SentAttachment[] {
	const named = namedPart(words, request);
	const found = named === undefined ? [] : attachments.filter(({ part }) => holds(named, part));
	if (found.length > 0) return found;
	// An unsupported format, size or type concerns only one attachment.
	if (!/\bsupport/i.test(words) || !NOT.test(words) || OF_ONE.test(words)) return [];
	const kinds = KINDS.filter(([word]) => word.test(words)).map(([, mediaType]) => mediaType);
	return attachments.filter(({ mediaType }) => kinds.some((kind) => kind.test(mediaType)));
}

const NOT = /\b(no|not|cannot|without)\b|n't\b/i;
const OF_ONE = /\b(format|type|mime|size|dimension|resolution|encoding|extension|codec)/i;
const KINDS: readonly (readonly [RegExp, RegExp])[] = [
	[/\b(images?|image_url|input_image|vision)\b/i, /^image\//i],
	[/\baudio\b/i, /^audio\//i],
	[/\bvideos?\b/i, /^video\//i],
	[/\b(pdfs?|documents?|files?|input_file)\b/i, /^application\//i],
	[/\b(multimodal|attachments?)\b/i, /./],
];

/** The request part at a path such as messages[2].content[1], in any provider's notation. */
function namedPart(words: string, request: unknown): string | undefined {
	const path = /\b(messages|input|contents)\W{1,3}(\d+)\W{1,3}(content|parts)\W{1,3}(\d+)/.exec(words);
	if (!path) return undefined;
	const part = path
		.slice(1)
		.reduce((held, step) => (held as Record<string, unknown> | null | undefined)?.[step], request as unknown);
	return part === undefined ? undefined : JSON.stringify(part);
}

function holds(named: string, part: SentAttachment["part"]): boolean {
	if (part.type === "text") return false;
	const { data } = part;
	return (
		data.type === "data" &&
		typeof data.data !== "string" &&
		named.includes(Buffer.from(data.data).toString("base64"))
	);
}
