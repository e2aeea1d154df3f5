// Builds the items to draw from rows, events and outgoing messages. Pure.
import type { Message, Session } from "../../../api/types.ts";
import type { Outgoing } from "../compose/outgoing.ts";
import { type Attached, attachedTo, textOf } from "./content.ts";
import type { Asked, Notice } from "./notices.ts";
import { waitedFor } from "./questions.ts";
import type { Segment } from "./segments.ts";
import type { TranscriptState } from "./store.ts";
import type { Fork } from "./versions.ts";

export interface Call {
	readonly id: string;
	readonly name: string;
	readonly input: unknown;
	/** Null while the call runs. */
	readonly result: { readonly text: string; readonly isError: boolean } | null;
	/** The confirmation that the call waits for, or waited for before it ran. */
	readonly asked: string | null;
}

export type Item =
	| { readonly kind: "start"; readonly key: string; readonly hasOlder: boolean }
	| { readonly kind: "day"; readonly key: string; readonly at: string }
	| {
			readonly kind: "boundary";
			readonly key: string;
			readonly ended: Session | null;
			readonly next: Session | null;
			/** The last boundary can be undone. */
			readonly isLast: boolean;
			readonly fork: Fork | null;
	  }
	| {
			readonly kind: "message";
			readonly key: string;
			readonly message: Message;
			readonly text: string;
			readonly calls: readonly Call[];
			/** The message's attachments, and those of its calls' results. */
			readonly files: readonly Attached[];
			/** Set if the message was written on this page. */
			readonly sent: Outgoing | null;
			/** The same author wrote the previous row shortly before. */
			readonly follows: boolean;
			/** Set if the message begins one of several versions. */
			readonly fork: Fork | null;
	  }
	| { readonly kind: "meta"; readonly key: string; readonly message: Message }
	| { readonly kind: "notice"; readonly key: string; readonly notice: Notice }
	/** A command that was answered. */
	| { readonly kind: "asked"; readonly key: string; readonly asked: Asked }
	| { readonly kind: "outgoing"; readonly key: string; readonly outgoing: Outgoing };

/** Rows of one author within this time are shown as a group. */
const BREATH_MS = 5 * 60_000;

export function itemsOf(state: TranscriptState, outgoing: readonly Outgoing[]): Item[] {
	const { segments, streamed, hasOlder, isAtEnd } = state;
	const claims = claimed(segments, outgoing);
	const items: Item[] = [{ kind: "start", key: "start", hasOlder }];
	const sideItems = sideItemsOf(state, outgoing, claims);
	let next = 0;
	let day = "";
	let before: Message | null = null;
	const putSideItems = (isBefore: (item: Item) => boolean): void => {
		for (let item = sideItems[next]; item && isBefore(item); item = sideItems[++next]) {
			items.push(item);
			before = null;
		}
	};
	for (const [index, segment] of segments.entries()) {
		const ended = segments[index - 1];
		const forks = forksAt(state, segment, ended);
		const isVersion = ended !== undefined && forks[0]?.session === ended.id;
		if (ended && (!isVersion || segment.messages.every(({ hidden }) => hidden))) {
			const isLast = isAtEnd && index === segments.length - 1;
			const endedAt = ended.session?.ended_at ?? "";
			// A command that ends a session comes before the boundary, even with the same time.
			putSideItems((item) => atOf(item) < endedAt || (item.kind !== "notice" && atOf(item) === endedAt));
			items.push({
				kind: "boundary",
				key: `boundary:${segment.id}`,
				ended: ended.session,
				next: segment.session,
				isLast,
				fork: isVersion ? (forks.shift() ?? null) : null,
			});
			before = null;
		}
		const results = resultsOf(segment.messages);
		const approved = approvedIn(segment.messages);
		for (const message of segment.messages) {
			putSideItems((item) => atOf(item) < message.created_at);
			const from = message.role === "user" && !message.hidden ? forks[0] : undefined;
			const fork = from && (from.session !== segment.id || from.seq < message.seq) ? from : null;
			const item = itemOf(message, results, { streamed, claims, before, approved, fork });
			if (!item) continue;
			if (fork)
				while (forks[0] && (forks[0].session !== segment.id || forks[0].seq < message.seq)) forks.shift();
			const today = new Date(message.created_at).toDateString();
			if (today !== day) items.push({ kind: "day", key: `day:${message.id}`, at: message.created_at });
			day = today;
			items.push(item);
			before = message;
		}
	}
	return [...items, ...sideItems.slice(next)];
}

interface Around {
	readonly streamed: ReadonlyMap<number, string>;
	readonly claims: ReadonlyMap<number, Outgoing>;
	readonly before: Message | null;
	/** Results of approved calls, by confirmation. */
	readonly approved: ReadonlyMap<string, string>;
	readonly fork: Fork | null;
}

/** The forks in a segment, in order: first those before its first row, then those among its rows. */
function forksAt({ forks, cuts }: TranscriptState, segment: Segment, ended: Segment | undefined): Fork[] {
	const before =
		ended && segment.session?.base?.kind === "branch"
			? forks.filter(({ session, seq }) => session === ended.id && seq === cuts.get(ended.id))
			: [];
	const cut = cuts.get(segment.id) ?? Number.POSITIVE_INFINITY;
	const within = forks.filter(({ session, seq }) => session === segment.id && seq < cut);
	return [...before, ...within.sort((a, b) => a.seq - b.seq)];
}

function itemOf(message: Message, results: ReadonlyMap<string, Message>, around: Around): Item | null {
	const key = around.streamed.get(message.id) ?? String(message.id);
	if (message.hidden || message.role === "tool") return null;
	if (message.role === "meta" || message.role === "system") return { kind: "meta", key, message };
	const text = textOf(message.content);
	const calls = message.tool_calls.map(({ id, name, input }): Call => {
		const result = results.get(id);
		if (!result) return { id, name, input, result: null, asked: null };
		const text = textOf(result.content);
		const asked = waitedFor(text);
		const later = asked === null ? undefined : around.approved.get(asked);
		return { id, name, input, asked, result: { text: later ?? text, isError: result.is_error } };
	});
	const brought = message.tool_calls.flatMap(({ id }) => attachedTo(results.get(id)?.content ?? ""));
	const files = [...attachedTo(message.content), ...brought];
	if (text === "" && calls.length === 0 && files.length === 0) return null;
	const sent = around.claims.get(message.id) ?? null;
	const follows = isSameBreath(around.before, message);
	const { fork } = around;
	return { kind: "message", key, message, text, calls, files, sent, follows: follows && !fork, fork };
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

/** The result of a call that needed approval is in a later note, after a line that says so. */
function approvedIn(messages: readonly Message[]): Map<string, string> {
	return new Map(
		messages.flatMap(({ confirmation, content, hidden }) => {
			if (confirmation?.as !== "result" || hidden) return [];
			const text = textOf(content);
			return [[confirmation.id, text.slice(text.indexOf("\n") + 1)]];
		}),
	);
}

/** Which row each message written here became: by the row's id if it is known, otherwise by its text. */
function claimed(segments: readonly Segment[], outgoing: readonly Outgoing[]): Map<number, Outgoing> {
	const claims = new Map<number, Outgoing>();
	const open = [...outgoing];
	if (open.length === 0) return claims;
	const oldest = Math.min(...open.map(({ newerThan }) => newerThan));
	for (const { messages } of segments)
		for (const message of messages) {
			if (message.role !== "user" || message.id <= oldest) continue;
			const index = open.findIndex((one) =>
				one.message === null
					? message.id > one.newerThan && one.text.trim() === textOf(message.content).trim()
					: one.message === message.id,
			);
			const [found] = index === -1 ? [] : open.splice(index, 1);
			if (found) claims.set(message.id, found);
		}
	return claims;
}

/** Items between the rows (commands, notices, unsent messages), by time; unsent ones come last. */
function sideItemsOf(
	state: TranscriptState,
	outgoing: readonly Outgoing[],
	claims: ReadonlyMap<number, Outgoing>,
): Item[] {
	const rows = new Set(claims.values());
	const written = new Set(outgoing.map(({ id }) => id));
	const commands = state.notices.flatMap(({ asked }) => asked ?? []);
	const answered = new Set(commands.map(({ client_message_id }) => client_message_id));
	const asked: Item[] = commands.map((one) => ({
		kind: "asked",
		key: written.has(one.client_message_id) ? one.client_message_id : `asked:${String(one.inbound)}`,
		asked: one,
	}));
	const notices: Item[] = state.notices.map((notice) => ({ kind: "notice", key: notice.id, notice }));
	const said: Item[] = outgoing
		// A message that had a row, and has none now, was undone.
		.filter((one) => !rows.has(one) && one.message === null && !answered.has(one.id))
		.filter((one) => state.isAtEnd || one.state.kind === "failed")
		.map((one) => ({ kind: "outgoing", key: one.id, outgoing: one }));
	const [from, to] = windowOf(state);
	const gaps = gapsOf(state);
	const kept = [...asked, ...notices].filter(
		(item) =>
			atOf(item) >= from &&
			atOf(item) <= to &&
			!gaps.some(([after, before]) => atOf(item) > after && atOf(item) < before),
	);
	return [...kept, ...said].sort((a, b) => compare(atOf(a), atOf(b)));
}

/** Time ranges hidden by another version: side items in them belong to hidden rows. */
function gapsOf({ segments, cuts }: TranscriptState): (readonly [after: string, before: string])[] {
	return segments.flatMap((segment, index) => {
		const next = segments[index + 1]?.session;
		if (!cuts.has(segment.id) || !next) return [];
		const last = segment.messages.at(-1)?.created_at ?? segment.session?.started_at ?? "";
		return [[last, next.started_at] as const];
	});
}

/** The time range of the loaded rows: side items outside it belong to other rows. */
function windowOf({ segments, hasOlder, isAtEnd }: TranscriptState): readonly [from: string, to: string] {
	const first = segments.find(({ messages }) => messages.length > 0)?.messages[0];
	const last = segments.findLast(({ messages }) => messages.length > 0)?.messages.at(-1);
	return [hasOlder ? (first?.created_at ?? "") : "", isAtEnd ? LAST : (last?.created_at ?? LAST)];
}

/** Sorts after every row. Also stands for a time that the server has not reported yet. */
const LAST = "9999";

function atOf(item: Item): string {
	if (item.kind === "notice") return item.notice.at;
	if (item.kind === "asked") return item.asked.at;
	if (item.kind !== "outgoing") return LAST;
	const { state, at } = item.outgoing;
	return state.kind === "sending" || state.kind === "failed" ? LAST : at;
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}
