// What must hold after the storm, asked of the store and of what people see on the platform.
import type { Content, Part } from "../../../src/domain/index.ts";
import { KeryxError } from "../../../src/errors.ts";
import type { Delivery, InboxItem, Store } from "../../../src/store/index.ts";

/** What the outside of a gateway says of a storm. */
export interface Judged {
	readonly said: readonly Said[];
	/** Where the gateway has written. */
	readonly places: readonly {
		readonly name: string;
		/** Whether what was sent there is for this place. */
		readonly holds: (destination: Delivery["destination"]) => boolean;
		/** What people see there of Keryx, oldest first. */
		readonly seen: readonly { readonly id: string; readonly text: string }[];
	}[];
	/** What was done of what is dangerous. */
	readonly done: readonly string[];
	/** Which part of a conversation's key names the chat. */
	readonly chatPart: number;
	/** What people see of a delivery. */
	readonly shows: (body: Delivery["body"]) => string;
}

export interface Said {
	readonly chat: string;
	readonly id: string;
	readonly kind: "words" | "file" | "command";
	readonly text: string;
	/** Of its files. */
	readonly digests?: readonly string[];
}

const scope = { kind: "operator" } as const;

type Turn = Awaited<ReturnType<Store["turn"]>>;

interface Verdict {
	/** Empty when all is well. */
	readonly problems: readonly string[];
	/** Of messages, by disposition. */
	readonly dispositions: Readonly<Record<string, number>>;
	/** Of deliveries, by state. */
	readonly deliveries: Readonly<Record<string, number>>;
	/** Of deliveries of unknown outcome, by the reason. */
	readonly unknown: Readonly<Record<string, number>>;
	/** Of questions: how many people were asked, and how many say in their place how they ended. */
	readonly questions: { readonly asked: number; readonly ended: number };
}

export async function judge(store: Store, world: Judged): Promise<Verdict> {
	const problems: string[] = [];
	const items = new Map<string, InboxItem>();
	const turns = new Map<string, Turn>();
	const deliveries: Delivery[] = [];
	for await (const { type, subject, turn } of eventsOf(store)) {
		if (type === "turn.begun") turns.set(turn as string, await store.turn({ scope, id: turn as string }));
		if (type !== "inbound.accepted" && type !== "inbound.observed") continue;
		const item = await store.inboxItem({ scope, id: Number(subject) });
		const message = item.platformMessage.slice(item.platformMessage.indexOf("/") + 1);
		const name = `${await chatOf(store, item, world.chatPart)} ${message}`;
		if (items.has(name)) problems.push(`I4: message ${name} was accepted twice`);
		items.set(name, item);
		// A button is answered where it was pressed; a message of its own follows only where that took long.
		if (item.disposition?.kind === "command")
			deliveries.push(...(await maybe(store.delivery({ scope, id: `command:${item.id}:1` }))));
	}
	for (const turn of turns.values()) deliveries.push(...turn.deliveries);
	/** What a question says when it is over, by its delivery. */
	const ends = new Map<string, Delivery>();
	const questions = deliveries.filter(({ body }) => body.buttons);
	for (const { id, state } of questions) {
		for (const end of await maybe(store.delivery({ scope, id: `${id}:end` }))) ends.set(id, end);
		if (state === "sent" && !ends.has(id)) problems.push(`question ${id} was pressed, and is still open`);
	}
	const { done } = world;
	if (new Set(done).size !== done.length)
		problems.push(`I14: done more than once: ${done.toSorted().join(", ")}`);

	const dispositions: Record<string, number> = {};
	for (const said of world.said) {
		const name = `${said.chat} ${said.id}`;
		const item = items.get(name);
		const end = item?.disposition?.kind ?? "none";
		dispositions[end] = (dispositions[end] ?? 0) + 1;
		if (!item || end === "none")
			problems.push(`I3: message ${name} ${item ? "has no disposition" : "was lost"}`);
		else problems.push(...(await endOf(store, said, item)).map((problem) => `message ${name} ${problem}`));
	}
	problems.push(...shownOnce(world, deliveries, ends));
	const { problems: damage } = await store.checkIntegrity({ scope });
	return {
		problems: [...problems, ...damage],
		dispositions,
		questions: { asked: questions.length, ended: ends.size },
		deliveries: counted(deliveries.map(({ state }) => state)),
		unknown: counted(
			deliveries.filter(({ state }) => state === "unknown").map(({ reason }) => reason ?? "no reason"),
		),
	};
}

function counted(words: readonly string[]): Readonly<Record<string, number>> {
	const counts: Record<string, number> = {};
	for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
	return counts;
}

/** The source is kept as long as the content; the key names the chat for ever. */
async function chatOf(store: Store, { conversation }: InboxItem, part: number): Promise<string> {
	if (conversation === null) return "nowhere";
	const { key } = await store.conversation({ scope, ref: { id: conversation } });
	return key.split(":")[part] ?? "";
}

async function* eventsOf(store: Store) {
	for (let cursor = ""; ; ) {
		const page = await store.events({ scope, after: cursor, limit: 1000 });
		if (page.kind === "resync") throw new Error("events are missing");
		if (page.events.length === 0) return;
		yield* page.events;
		cursor = page.cursor;
	}
}

/** One end that fits what was said, and files byte for byte. */
async function endOf(store: Store, said: Said, item: InboxItem): Promise<string[]> {
	const { disposition } = item;
	const kind = disposition?.kind ?? "none";
	if (said.kind === "command") return kind === "command" ? [] : [`(${said.text}) ended as ${kind}`];
	// A file without words whose album was cut in two by a kill: nobody remembers that its other half named the bot.
	if (kind === "observed" && said.kind === "file" && said.text === "") return [];
	// A turn that was cut off too often is given up, and its session waits for a person.
	const isGivenUp = disposition?.kind === "failed" && disposition.reason === "interrupted";
	if (kind !== "answered" && kind !== "merged" && !isGivenUp)
		return [`(${said.text}) ended as ${JSON.stringify(disposition)}`];
	const { digests = [] } = said;
	if (digests.length === 0 || item.message === null) return [];
	const session = item.turn === null ? null : (await store.turn({ scope, id: item.turn })).session;
	const rows = session === null ? [] : await store.transcript({ scope, session });
	const content = rows.find(({ id }) => id === item.message)?.content;
	const kept = content === undefined ? [] : blobsOf(content);
	return digests.every((digest) => kept.includes(digest))
		? []
		: [`holds the files ${kept.join(", ")}, not ${digests.join(", ")}`];
}

/** None where there is no such delivery. */
async function maybe(asked: Promise<Delivery>): Promise<readonly Delivery[]> {
	try {
		return [await asked];
	} catch (error) {
		if (error instanceof KeryxError && error.code === "store.not_found") return [];
		throw error;
	}
}

function blobsOf(content: Content): string[] {
	const parts: readonly Part[] = typeof content === "string" ? [] : content;
	return parts.flatMap((part) => (part.type === "text" ? [] : [part.blob]));
}

/** What was sent is seen once, in the order in which it was made; what is seen was sent, or its outcome is unknown (I7, I19). */
function shownOnce(
	{ places, shows }: Judged,
	deliveries: readonly Delivery[],
	ends: ReadonlyMap<string, Delivery>,
): string[] {
	const problems: string[] = [];
	for (const place of places) {
		const seen = new Map(place.seen.map((shown) => [shown.id, shown]));
		const of = deliveries.filter(({ destination }) => place.holds(destination)).toSorted((a, b) => a.n - b.n);
		const receipts: bigint[] = [];
		for (const { id, state, receipt, reason, body } of of) {
			if (state === "unknown") continue;
			// A preview that was never sent ends with a turn that is given up.
			if (state === "dead" && receipt === null) continue;
			if (state !== "sent" || receipt === null) problems.push(`I7: delivery ${id} is ${state} (${reason})`);
			else {
				const message = receipt.slice(receipt.indexOf("/") + 1);
				const text = seen.get(message)?.text;
				const end = ends.get(id);
				// An edit may be repeated, so that its outcome is never unknown.
				if (end && end.state !== "sent") problems.push(`the end of ${id} is ${end.state} (${end.reason})`);
				const wanted = shows(end?.body ?? body);
				if (text !== wanted)
					problems.push(`I7: delivery ${id} shows ${JSON.stringify(text)}, not ${JSON.stringify(wanted)}`);
				else receipts.push(orderOf(message));
			}
		}
		if (new Set(receipts).size !== receipts.length)
			problems.push(`two deliveries of ${place.name} have one receipt`);
		if (receipts.some((receipt, n) => n > 0 && receipt < (receipts[n - 1] as bigint)))
			problems.push(`I19: ${place.name} shows its answers as ${receipts.join(", ")}`);
		const unknown = of.filter(({ state }) => state === "unknown").length;
		const extra = [...seen.keys()].filter((id) => !receipts.includes(orderOf(id)));
		if (extra.length > unknown)
			problems.push(
				`${place.name} shows ${extra.length} messages that nothing sent, and ${unknown} are unknown`,
			);
		const answers = [...seen.values()]
			.map(({ text }) => text)
			.filter((text) => /^answer to .*message \d/.test(text));
		for (const text of new Set(answers)) {
			const times = answers.filter((answer) => answer === text).length;
			if (times > 1) problems.push(`${place.name} shows ${JSON.stringify(text)} ${times} times`);
		}
	}
	return problems;
}

/** Ids of messages grow, as far as they have digits; Slack's are times with six digits behind the point. */
function orderOf(id: string): bigint {
	return BigInt(id.replaceAll(/\D/g, ""));
}
