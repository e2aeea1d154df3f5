// One message and its answer: send, stream, wait. Waiting survives a broken connection; the message itself is sent once.
import { KeryxError } from "../../errors.ts";
import type { CallInput } from "../endpoints.ts";
import type { WireDelivery, WireInbound } from "../schemas.ts";
import type { CallingClient } from "./types.ts";

export interface AskInput {
	readonly text: string;
	/** Its chat. The same name is the same conversation. */
	readonly chat?: string;
	/** Write in this conversation instead. Operator only. */
	readonly conversation?: string;
	/** The sender; overrides `chat`. */
	readonly source?: CallInput<"send">["source"];
	/** Your own id for the message. The same id again sends nothing, and returns the same answer. */
	readonly id?: string;
	readonly attachments?: CallInput<"send">["attachments"];
	/** Ends waiting and streaming. The message is still answered. */
	readonly signal?: AbortSignal;
}

/** An accepted message. Iterate to read the answer while it is written; `answer()` waits for all of it. */
export interface Asking extends AsyncIterable<string> {
	/** `keryx why <id>` shows what happened to it. */
	readonly id: number;
	readonly conversation: string;
	/** Fails with `message.unanswered` if there is no answer, and says why. */
	answer(): Promise<AskAnswer>;
}

export interface AskAnswer {
	/** The agent's answer, or a command's. */
	readonly text: string;
	/** Notices from Keryx, such as a new session or a question that waits for a person. */
	readonly notices: readonly string[];
	readonly inbound: WireInbound;
	readonly deliveries: readonly WireDelivery[];
}

type AskClient = Pick<CallingClient, "send" | "inbound" | "turn" | "delivery" | "follow">;

/** Seconds per request; then it asks again. */
const WAIT = 30;

export async function ask(client: AskClient, input: AskInput): Promise<Asking> {
	const { text, attachments, signal, id: own = crypto.randomUUID() } = input;
	signal?.throwIfAborted();
	const { id, conversation, refused } = await client.send({
		text,
		client_message_id: own,
		source: input.source ?? { platform: "api_server", chat_id: input.chat ?? "client", chat_type: "dm" },
		...(input.conversation !== undefined && { conversation: input.conversation }),
		...(attachments && { attachments }),
	});
	if (refused !== null || conversation === null)
		throw new KeryxError("message.unanswered", `message ${id} was refused: ${refused ?? "no conversation"}`);
	return {
		id,
		conversation,
		answer: () => answerTo(client, id, signal),
		[Symbol.asyncIterator]: () => pieces(client, { id, conversation, signal }),
	};
}

async function answerTo(client: AskClient, id: number, signal?: AbortSignal): Promise<AskAnswer> {
	const inbound = await ended(client, id, signal);
	const deliveries = await answersTo(client, inbound);
	refuseUnanswered(inbound);
	const notices = deliveries.filter(({ kind }) => kind === "notice").map(({ plain }) => plain);
	const parts = deliveries.filter(({ kind }) => kind !== "notice").map((delivery) => delivery.text);
	return { text: parts.join(""), notices, inbound, deliveries };
}

/** Text as the model writes it, only of the turn that answers this message; ends with the answer. */
async function* pieces(
	client: AskClient,
	{ id, conversation, signal }: { id: number; conversation: string; signal: AbortSignal | undefined },
): AsyncGenerator<string> {
	const over = new AbortController();
	const finished = ended(client, id, signal).finally(() => over.abort());
	// A reader who stopped does not care about failures.
	finished.catch(() => {});
	const mine = new Set<string>();
	const others = new Set<string>();
	/** By index of the message within the turn. */
	const read = new Map<number, string>();
	const frames = client.follow({ conversation, signal: over.signal });
	try {
		for await (const frame of frames) {
			if (frame.kind !== "delta") continue;
			const { turn, index, offset, text } = frame.delta;
			if (!mine.has(turn) && !others.has(turn))
				((await client.inbound({ id })).turn === turn ? mine : others).add(turn);
			// Text that was already passed on comes again after a reconnect.
			const before = read.get(index) ?? "";
			const from = before.length;
			if (!mine.has(turn) || offset > from || offset + text.length <= from) continue;
			const more = text.slice(from - offset);
			read.set(index, before + more);
			yield more;
		}
		const inbound = await finished;
		const parts = (await answersTo(client, inbound)).filter(({ kind }) => kind !== "notice");
		// Pieces may be lost, the answer may be older than the stream, and a command's answer has no pieces.
		const missing = missingOf(parts.map(({ text }) => text).join(""), [...read.values()]);
		if (missing !== "") yield missing;
	} finally {
		over.abort();
	}
}

/** The unread rest of the stored answer. Blanks do not count: an answer is stored trimmed. */
function missingOf(whole: string, read: readonly string[]): string {
	const last = read.at(-1) ?? "";
	// Text before a tool call need not be part of the answer.
	const rest = restOf(whole, read.join("")) ?? restOf(whole, last);
	if (rest !== null) return rest;
	return withoutBlanks(whole).endsWith(withoutBlanks(last)) ? "" : `\n\n${whole}`;
}

/** Null: the answer starts differently. */
function restOf(whole: string, read: string): string | null {
	let at = 0;
	const skip = () => {
		while (at < whole.length && /\s/.test(whole.charAt(at))) at++;
	};
	for (const unit of withoutBlanks(read).split("")) {
		skip();
		if (at === whole.length) return "";
		if (whole.charAt(at) !== unit) return null;
		at++;
	}
	if (/\s$/.test(read)) skip();
	return whole.slice(at).trim() === "" ? "" : whole.slice(at);
}

function withoutBlanks(text: string): string {
	return text.replace(/\s+/g, "");
}

async function ended(client: AskClient, id: number, signal?: AbortSignal): Promise<WireInbound> {
	for (;;) {
		signal?.throwIfAborted();
		const inbound = await client.inbound({ id, wait: WAIT });
		if (inbound.disposition !== null) return inbound;
	}
}

/** A turn's deliveries; a command's are named after the message. */
async function answersTo(client: AskClient, { id, turn }: WireInbound): Promise<readonly WireDelivery[]> {
	if (turn !== null) return (await client.turn({ turn })).deliveries;
	const parts: WireDelivery[] = [];
	for (;;) {
		try {
			parts.push(await client.delivery({ delivery: `command:${id}:${parts.length + 1}` }));
		} catch (error) {
			if (error instanceof KeryxError && error.code === "store.not_found") return parts;
			throw error;
		}
	}
}

const ANSWERED: ReadonlySet<string> = new Set(["answered", "merged", "command", "observed"]);

function refuseUnanswered({ id, disposition }: WireInbound): void {
	if (disposition === null || ANSWERED.has(disposition.kind)) return;
	const why = disposition.reason === undefined ? "" : `: ${disposition.reason}`;
	throw new KeryxError(
		"message.unanswered",
		`message ${id} has no answer (${disposition.kind.replaceAll("_", " ")})${why}`,
	);
}
