// Formats session_search results for people: the tool writes for models, one line per hit.
import { quoteUntrusted } from "../domain/index.ts";
import { type Request, readRequest } from "./offline-requests.ts";

const SHOWN = 10;
const RAW_LENGTH = 2000;

const MESSAGE = /^session (\S+) seq (\d+) (user|assistant|tool) (\d{4}-\d\d-\d\dT\d\d:\d\d)\S*: (".*")$/;
const TITLE = /^session (\S+): title (".*")$/;

export function describeHits(
	result: string,
	{ request, isError }: { readonly request: Extract<Request, { kind: "search" }>; readonly isError: boolean },
): string {
	if (isError) return `The search failed: ${quoteUntrusted(result)}`;
	const about = quoteUntrusted(request.words);
	const lines = result.split("\n").filter((line) => line !== "");
	if (!lines.every((line) => MESSAGE.test(line) || TITLE.test(line))) return raw(result);
	const hits = lines.flatMap((line) => describeHit(line, request.own) ?? []);
	if (hits.length === 0) return `Nothing found for ${about}.`;
	const more = hits.length > SHOWN ? [`- and ${hits.length - SHOWN} more: add a word to narrow it down`] : [];
	return [`Found for ${about}:`, ...hits.slice(0, SHOWN), ...more].join("\n");
}

/** Undefined for hits that only repeat the search: its questions and answers. */
function describeHit(line: string, own: boolean): string | undefined {
	const title = TITLE.exec(line);
	if (title) return own ? undefined : `- session ${title[1]}, in its title: ${title[2]}`;
	const [, , , role, at = "", quoted = '""'] = MESSAGE.exec(line) ?? [];
	const text = unquoted(quoted);
	if (role === "tool" || (own && role !== "user")) return undefined;
	if (role === "user" && readRequest(text).kind === "search") return undefined;
	const who = role === "assistant" ? ", my reply" : "";
	return `- ${at.replace("T", " ")} UTC${who}: ${quoteUntrusted(text)}`;
}

function unquoted(json: string): string {
	try {
		return String(JSON.parse(json));
	} catch {
		return json;
	}
}

/** Other results, and empty ones, are shown unchanged. */
function raw(result: string): string {
	return result.length > RAW_LENGTH ? `${result.slice(0, RAW_LENGTH).toWellFormed()}…` : result;
}
