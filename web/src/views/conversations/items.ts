// From what was read and what happened to what is drawn, one item each. Pure.
import type { Message, Session } from "../../api/types.ts";
import { textOf } from "./content.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Segment } from "./segments.ts";
import type { Notice, TranscriptState } from "./transcript-store.ts";

export interface Call {
	readonly id: string;
	readonly name: string;
	readonly input: unknown;
	/** Null while it runs. */
	readonly result: { readonly text: string; readonly isError: boolean } | null;
}

export type Item =
	| { readonly kind: "start"; readonly key: string; readonly hasOlder: boolean }
	| { readonly kind: "day"; readonly key: string; readonly at: string }
	| {
			readonly kind: "boundary";
			readonly key: string;
			readonly ended: Session | null;
			readonly next: Session | null;
			/** It is the last one, so one can go back over it. */
			readonly isLast: boolean;
	  }
	| {
			readonly kind: "message";
			readonly key: string;
			readonly message: Message;
			readonly text: string;
			readonly calls: readonly Call[];
			/** Written here. */
			readonly sent: Outgoing | null;
			/** The same hand wrote the one before, a moment ago. */
			readonly follows: boolean;
	  }
	| { readonly kind: "meta"; readonly key: string; readonly message: Message }
	| { readonly kind: "notice"; readonly key: string; readonly notice: Notice }
	| { readonly kind: "outgoing"; readonly key: string; readonly outgoing: Outgoing };

/** Rows that follow within this are of one breath. */
const BREATH_MS = 5 * 60_000;

export function itemsOf(
	{ segments, notices, streamed, hasOlder, isAtEnd }: TranscriptState,
	outgoing: readonly Outgoing[],
): Item[] {
	const claims = claimed(segments, outgoing);
	const items: Item[] = [{ kind: "start", key: "start", hasOlder }];
	const beside = besideRows(notices, outgoing, claims, isAtEnd);
	let next = 0;
	let day = "";
	let before: Message | null = null;
	for (const [place, segment] of segments.entries()) {
		const ended = segments[place - 1];
		if (ended) {
			const isLast = isAtEnd && place === segments.length - 1;
			items.push({
				kind: "boundary",
				key: `boundary:${segment.id}`,
				ended: ended.session,
				next: segment.session,
				isLast,
			});
			before = null;
		}
		const results = resultsOf(segment.messages);
		for (const message of segment.messages) {
			for (; next < beside.length && atOf(beside[next]) < message.created_at; next++) {
				items.push(beside[next] as Item);
				before = null;
			}
			const item = itemOf(message, results, { streamed, claims, before });
			if (!item) continue;
			const today = new Date(message.created_at).toDateString();
			if (today !== day) items.push({ kind: "day", key: `day:${message.id}`, at: message.created_at });
			day = today;
			items.push(item);
			before = message;
		}
	}
	return [...items, ...beside.slice(next)];
}

interface Around {
	readonly streamed: ReadonlyMap<number, string>;
	readonly claims: ReadonlyMap<number, Outgoing>;
	readonly before: Message | null;
}

function itemOf(message: Message, results: ReadonlyMap<string, Message>, around: Around): Item | null {
	const key = around.streamed.get(message.id) ?? String(message.id);
	if (message.hidden || message.role === "tool") return null;
	if (message.role === "meta" || message.role === "system") return { kind: "meta", key, message };
	const text = textOf(message.content);
	const calls = message.tool_calls.map(({ id, name, input }) => {
		const result = results.get(id);
		return {
			id,
			name,
			input,
			result: result ? { text: textOf(result.content), isError: result.is_error } : null,
		};
	});
	if (text === "" && calls.length === 0) return null;
	const sent = around.claims.get(message.id) ?? null;
	return { kind: "message", key, message, text, calls, sent, follows: isSameBreath(around.before, message) };
}

function isSameBreath(before: Message | null, message: Message): boolean {
	if (!before || before.role !== message.role || before.author?.principal !== message.author?.principal)
		return false;
	return Date.parse(message.created_at) - Date.parse(before.created_at) < BREATH_MS;
}

function resultsOf(messages: readonly Message[]): Map<string, Message> {
	return new Map(
		messages.flatMap((message) =>
			message.role === "tool" && message.tool_call_id !== null ? [[message.tool_call_id, message]] : [],
		),
	);
}

/** Which row each message that was written here became: by its number where that is known, otherwise by its words. */
function claimed(segments: readonly Segment[], outgoing: readonly Outgoing[]): Map<number, Outgoing> {
	const claims = new Map<number, Outgoing>();
	const open = [...outgoing];
	if (open.length === 0) return claims;
	const oldest = Math.min(...open.map(({ newerThan }) => newerThan));
	for (const { messages } of segments)
		for (const message of messages) {
			if (message.role !== "user" || message.id <= oldest) continue;
			const place = open.findIndex((one) =>
				one.message === null
					? message.id > one.newerThan && one.text.trim() === textOf(message.content).trim()
					: one.message === message.id,
			);
			const [found] = place === -1 ? [] : open.splice(place, 1);
			if (found) claims.set(message.id, found);
		}
	return claims;
}

/** What stands between the rows, by time; what is not taken yet comes last. */
function besideRows(
	notices: readonly Notice[],
	outgoing: readonly Outgoing[],
	claims: ReadonlyMap<number, Outgoing>,
	isAtEnd: boolean,
): Item[] {
	const rows = new Set(claims.values());
	const told: Item[] = notices.map((notice) => ({ kind: "notice", key: notice.id, notice }));
	const said: Item[] = outgoing
		// One that was a row and is none any more was taken back.
		.filter((one) => !rows.has(one) && one.message === null && (isAtEnd || one.state.kind === "failed"))
		.map((one) => ({ kind: "outgoing", key: one.id, outgoing: one }));
	return [...told, ...said].sort((a, b) => compare(atOf(a), atOf(b)));
}

/** Later than every row, until the server has said when it was. */
const LAST = "9999";

function atOf(item: Item | undefined): string {
	if (item?.kind === "notice") return item.notice.at;
	if (item?.kind !== "outgoing") return LAST;
	const { state, at } = item.outgoing;
	return state.kind === "sending" || state.kind === "failed" ? LAST : at;
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}
