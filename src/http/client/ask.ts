// One message and its answer: send, stream, wait. Waiting outlasts a cut connection; the message itself is sent once.
import { KeryxError } from "../../errors.ts";
import type { CallInput } from "../endpoints.ts";
import type { WireDelivery, WireInbound } from "../schemas.ts";
import type { CallingClient } from "./types.ts";

export interface AskInput {
	readonly text: string;
	/** The chat it is written in. The same name is the same conversation. */
	readonly chat?: string;
	/** Write in this conversation instead. Only the operator may. */
	readonly conversation?: string;
	/** Who writes, and from where; overrides `chat`. */
	readonly source?: CallInput<"send">["source"];
	/** Your own id for the message. Asking again with the same id sends nothing, and answers the same. */
	readonly id?: string;
	readonly attachments?: CallInput<"send">["attachments"];
	/** Ends the waiting and the stream. The message is answered all the same. */
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

/** Seconds that one request waits; then it is asked again. */
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
	const told = deliveries.filter(({ kind }) => kind === "notice").map(({ plain }) => plain);
	const parts = deliveries.filter(({ kind }) => kind !== "notice").map((delivery) => delivery.text);
	return { text: parts.join(""), notices: told, inbound, deliveries };
}

/** Text as the model writes it, of the turn that answers this message alone; ends with the answer. */
async function* pieces(
	client: AskClient,
	{ id, conversation, signal }: { id: number; conversation: string; signal: AbortSignal | undefined },
): AsyncGenerator<string> {
	const over = new AbortController();
	const finished = ended(client, id, signal).finally(() => over.abort());
	// Whoever stops reading has not asked for its failure.
	finished.catch(() => {});
	const mine = new Set<string>();
	const others = new Set<string>();
	const read = new Map<number, number>();
	const frames = client.follow({ conversation, signal: over.signal });
	try {
		for await (const frame of frames) {
			if (frame.kind !== "delta") continue;
			const { turn, index, offset, text } = frame.delta;
			if (!mine.has(turn) && !others.has(turn))
				((await client.inbound({ id })).turn === turn ? mine : others).add(turn);
			// Text that was already given comes again after a cut.
			const from = read.get(index) ?? 0;
			if (!mine.has(turn) || offset > from || offset + text.length <= from) continue;
			read.set(index, offset + text.length);
			yield text.slice(from - offset);
		}
		const inbound = await finished;
		// An answer that was written before the stream stood, and a command's, come as a whole.
		if (read.size > 0) return;
		const deliveries = await answersTo(client, inbound);
		for (const { kind, text } of deliveries) if (kind !== "notice") yield text;
	} finally {
		over.abort();
	}
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
