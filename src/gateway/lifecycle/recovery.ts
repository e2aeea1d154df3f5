// Finds unfinished work at start, and nothing else: turns of dead nodes, deliveries they were sending, messages that wait. The cost is
// that of the unfinished work (I16); it creates no conversation, session or message.
import type { Config } from "../../config/index.ts";
import { type ConversationId, cleanTitle, contentText } from "../../domain/index.ts";
import { type BusyMode, destinationOf, type InboxItem, OPERATOR, type Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Channel } from "../channel.ts";
import { parseCommand } from "../commands/index.ts";
import { isTooOld, type Waiting } from "../inbox/batch.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { expiredSentence, SUSPENDED } from "../sentences.ts";

const AT_ONCE = 500;

export interface Unfinished {
	readonly turns: readonly { readonly conversation: ConversationId; readonly turn: string }[];
	readonly messages: readonly {
		readonly conversation: ConversationId;
		readonly item: Waiting;
		readonly busy: BusyMode;
	}[];
	readonly commands: readonly InboxItem[];
}

export interface RecoveryOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: Config;
	/** When Keryx last did anything, as far as the store knows. */
	readonly aliveAt: number | null;
	readonly channels: Iterable<Channel>;
	readonly outlet: Outlet;
}

export async function recover(options: RecoveryOptions): Promise<Unfinished> {
	const turns = await takeFromDead(options);
	const waiting = await allWaiting(options.store);
	const commands = waiting.filter(isCommand);
	const messages = await withoutExpired(
		waiting.filter((item) => !isCommand(item)),
		options,
	);
	return { turns, messages, commands };
}

/** Takes over what dead nodes were doing and had accepted. Returns the turns to resume. */
export async function takeFromDead({
	store,
	aliveAt,
	channels,
}: Pick<RecoveryOptions, "store" | "aliveAt" | "channels">): Promise<Unfinished["turns"]> {
	await store.interruptTurns({
		suspendedNotice: { text: SUSPENDED, plain: SUSPENDED },
		...(aliveAt !== null && { at: aliveAt }),
	});
	const canAsk = [...channels].filter(({ lookup }) => lookup !== undefined);
	await store.recoverDeliveries({ canAsk: canAsk.map(({ platform, account }) => ({ platform, account })) });
	// All of them, due or not: the clock may have been set back since they were interrupted.
	const turns = await store.dueTurns({
		scope: OPERATOR,
		now: Number.MAX_SAFE_INTEGER,
		limit: Number.MAX_SAFE_INTEGER,
	});
	if (store.cluster) await store.adoptItems();
	return turns.map(({ id, conversation }) => ({ turn: id, conversation }));
}

/** All waiting messages that were accepted here, in order of acceptance. */
export async function allWaiting(store: Store): Promise<InboxItem[]> {
	const items: InboxItem[] = [];
	for (;;) {
		const page = await store.waitingItems({
			scope: OPERATOR,
			...(store.cluster && { node: store.epoch }),
			after: items.at(-1)?.id ?? 0,
			limit: AT_ONCE,
		});
		items.push(...page);
		if (page.length < AT_ONCE) return items;
	}
}

export function isCommand(item: InboxItem): boolean {
	if (item.command !== null) return true;
	if (item.amended) return false;
	return item.kind === "person" && item.content !== null && parseCommand(contentText(item.content)) !== null;
}

/** Messages that are too old are given up and listed to their user once; the rest keep waiting. */
async function withoutExpired(
	items: readonly InboxItem[],
	{ store, clock, config, outlet }: RecoveryOptions,
): Promise<Unfinished["messages"]> {
	const messages: Unfinished["messages"][number][] = [];
	const expired = new Map<ConversationId, InboxItem[]>();
	const busy = new Map<ConversationId, BusyMode>();
	for (const item of items) {
		if (item.conversation === null) continue;
		const { id, kind, principal, role, conversation, sentAt } = item;
		if (isTooOld({ kind, sentAt, late: true }, clock.now(), config.inbox)) {
			expired.set(conversation, [...(expired.get(conversation) ?? []), item]);
			continue;
		}
		if (!busy.has(conversation)) {
			const here = await store.conversation({ scope: OPERATOR, ref: { id: conversation } });
			busy.set(conversation, here.busy ?? config.gateway.busy);
		}
		const arrivedAt = clock.monotonic();
		// Messages kept by the platform arrive now, and belong to the same turn.
		const batchMs = config.gateway.batch_ms;
		messages.push({
			conversation,
			item: { id, kind, principal, role, arrivedAt, sentAt, batchMs, late: true },
			busy: busy.get(conversation) as BusyMode,
		});
	}
	for (const [conversation, old] of expired) await expire(store, outlet, conversation, old);
	return messages;
}

/** Ends messages as too old, with one notice that lists them. */
export async function expire(
	store: Store,
	outlet: Outlet,
	conversation: ConversationId,
	items: readonly InboxItem[],
): Promise<void> {
	const last = items.at(-1);
	const texts = items.map((item) => cleanTitle(contentText(item.content ?? "")) || "(an attachment)");
	const deliveries = last?.source
		? toDeliveries(
				expiredSentence(texts),
				{
					id: `expired:${last.id}`,
					kind: "notice",
					class: "warning",
					destination: destinationOf(last.source),
				},
				outlet,
			)
		: [];
	await store.endItems({
		conversation,
		inbox: items.map((item) => item.id),
		as: { kind: "expired", reason: "too old by the time Keryx was back" },
		deliveries,
	});
}
