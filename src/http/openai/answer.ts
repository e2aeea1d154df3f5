// One message through /v1: accepted as any other, then followed to its end. A client that disconnects does not stop the turn.
import { randomUUID } from "node:crypto";
import { type Content, type ConversationId, contentText, conversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { NameStream, withoutNames } from "../../secrets/index.ts";
import { type InboxItem, OPERATOR, type Spent, type Store } from "../../store/index.ts";
import { type ApiHost, running } from "../call.ts";
import { posterOf, type Visitor } from "../entry/auth.ts";
import type { Feed } from "../events/feed.ts";
import type { WireEvent } from "../schemas.ts";
import { ownConversation, sourceOf } from "./own-conversation.ts";
import { Said } from "./said.ts";

export interface Asked {
	readonly visitor: Visitor;
	readonly content: Content;
	readonly blobs: readonly string[];
	/** X-Keryx-Conversation, or its equivalent. */
	readonly conversation: string | undefined;
	readonly user: string | undefined;
	readonly profile: string | null;
	/** Absent: a repeated message cannot be recognised. */
	readonly messageId: string | undefined;
}

export interface Taken {
	readonly id: number;
	readonly conversation: ConversationId;
	/** The end of the log before. */
	readonly cursor: string;
	/** It has an id of its sender's: asked again, it is not said twice. */
	readonly isRepeatable: boolean;
}

export interface Answered {
	readonly text: string;
	readonly spent: Pick<Spent, "inputTokens" | "outputTokens" | "cachedInputTokens">;
}

/** Resolves when the message is stored. */
export async function take(asked: Asked, host: ApiHost, feed: Feed): Promise<Taken> {
	const { visitor, user, profile, blobs, content } = asked;
	const { store } = host;
	// A bound token opens no other conversation by naming none.
	const name = asked.conversation ?? visitor.sessionKey ?? undefined;
	const named = name === undefined ? null : await ownConversation(name, visitor, store);
	if (named && profile !== null && named.profile !== profile)
		throw new KeryxError("argument.invalid", "model: the conversation belongs to another profile", {
			field: "model",
		});
	const cursor = await feed.end();
	const { id, conversation, refused } = await running(host).accept({
		source: sourceOf(visitor, user, profile),
		platformMessage: asked.messageId ?? randomUUID(),
		content,
		blobs,
		transport: {
			mayChooseProfile: true,
			role: visitor.role === "operator" ? "owner" : "member",
			poster: posterOf(visitor),
		},
		...(named && { conversation: named.id }),
	});
	if (conversation === null) throw unanswered(id, `it was refused: ${refused}`);
	const isRepeatable = asked.messageId !== undefined;
	return { id, conversation: conversationId(conversation), cursor, isRepeatable };
}

export interface Following {
	readonly store: Store;
	readonly feed: Feed;
	readonly signal: AbortSignal;
	/** Hides names of secrets: only the operator may see them (I12). */
	readonly nameless: boolean;
}

/** The text as written, of each step, and the reply at the end. Throws if the message ends without an answer. */
export async function* answerTo(taken: Taken, following: Following): AsyncGenerator<string, Answered> {
	if (!following.nameless) return yield* writtenTo(taken, following);
	// Here, not in each piece of the answer: a name may come in two.
	const hiding = new NameStream();
	const pieces = writtenTo(taken, following);
	try {
		let next = await pieces.next();
		for (; !next.done; next = await pieces.next()) yield* some(hiding.push(next.value));
		yield* some(hiding.end());
		return { ...next.value, text: withoutNames(next.value.text) };
	} catch (error) {
		// Text that was written is shown, however the message ends.
		yield* some(hiding.end());
		throw error;
	}
}

function some(text: string): readonly string[] {
	return text === "" ? [] : [text];
}

async function* writtenTo(
	{ id, conversation, cursor, isRepeatable }: Taken,
	{ store, feed, signal }: Following,
): AsyncGenerator<string, Answered> {
	const said = new Said();
	let last = cursor;
	let isWhole = false;
	let item = await store.inboxItem({ scope: OPERATOR, id });
	if (!hasEnded(item))
		for await (const frames of feed.follow({ scope: OPERATOR, after: cursor, conversation, signal })) {
			// Once for all of them: what is read is at least as new.
			if (frames.some(({ kind }) => kind !== "delta")) item = await store.inboxItem({ scope: OPERATOR, id });
			for (const frame of frames) {
				if (frame.kind === "delta") {
					if (frame.delta.turn === item.turn) yield* said.delta(frame.delta);
					continue;
				}
				last = frame.kind === "event" ? frame.event.cursor : frame.cursor;
				if (frame.kind !== "event") continue;
				yield* rowOf(frame.event, item, said);
				isWhole ||= endsTurn(frame.event, item);
			}
			if (hasEnded(item)) break;
		}
	if (!hasEnded(item)) throw unfinished(id, isRepeatable);
	// The end is known before its events were seen.
	while (!isWhole) {
		const page = await feed.page({ scope: OPERATOR, after: last, limit: PAGE, conversation });
		if (page.kind === "resync") break;
		for (const event of page.events) yield* rowOf(event, item, said);
		last = page.cursor;
		isWhole = page.events.length < PAGE;
	}
	const answered = await outcomeOf(item, store);
	yield* said.rest(answered.text);
	return { ...answered, text: answered.text || said.all };
}

const PAGE = 200;

/** Nothing of the answer comes after this event. */
function endsTurn({ type, turn }: WireEvent, item: InboxItem): boolean {
	return type === "turn.ended" && turn !== null && turn === item.turn;
}

function* rowOf({ type, message, turn, facts }: WireEvent, item: InboxItem, said: Said): Generator<string> {
	if (type !== "message.appended" || turn === null || turn !== item.turn || message?.role !== "assistant")
		return;
	yield* said.row(Number(facts.index), contentText(message.content));
}

/** A command that has taken effect ends only when it is answered. */
function hasEnded({ disposition, command }: InboxItem): boolean {
	return disposition !== null && command === null;
}

async function outcomeOf(item: InboxItem, store: Store): Promise<Answered> {
	const { id, disposition, turn } = item;
	if (disposition?.kind === "command") {
		const { body } = await store.delivery({ scope: OPERATOR, id: `command:${id}:1` });
		return { text: body.text, spent: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 } };
	}
	const text = turn === null ? "" : await replyOf(turn, store);
	if (turn !== null && disposition && ANSWERED.has(disposition.kind))
		return { text, spent: await store.turnUsage({ scope: OPERATOR, turn }) };
	const reason = disposition && "reason" in disposition ? ` (${disposition.reason})` : "";
	throw unanswered(id, text || `it ended as ${disposition?.kind}${reason}`);
}

/** A stopped answer keeps its text. */
const ANSWERED: ReadonlySet<string> = new Set(["answered", "merged", "stopped"]);

/** As Markdown; if it went to another platform because the message joined a turn there, without that platform's markup. */
async function replyOf(id: string, store: Store): Promise<string> {
	const { deliveries } = await store.turn({ scope: OPERATOR, id });
	return deliveries
		.filter(({ kind }) => kind === "reply")
		.map(({ body, destination }) => (destination.platform === "api_server" ? body.text : body.plain))
		.join("\n\n");
}

/** Clients try again by themselves after the first, so only those that say nothing twice get it. */
function unfinished(id: number, isRepeatable: boolean): KeryxError {
	const why = "Keryx is stopping, or you no longer have access; the message is not lost";
	return isRepeatable
		? new KeryxError("message.unfinished", `message ${id} has no answer yet: ${why}`)
		: unanswered(id, why);
}

function unanswered(id: number, why: string): KeryxError {
	return new KeryxError("message.unanswered", `message ${id} has no answer: ${why}`);
}
