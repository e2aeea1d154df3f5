// Admission: authorise, commit, then wake the lane or run the command. Resolves only after the commit (I3), so a channel that waits for
// it never acknowledges a message that could be lost.
import { createHash } from "node:crypto";
import { authRules, type Config } from "../../config/index.ts";
import {
	type ConversationId,
	contentText,
	isOwnPlatform,
	type PersonRole,
	parseSource,
	personId,
	type Quote,
	type Source,
	toWireSource,
} from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import {
	type BusyMode,
	type Destination,
	destinationOf,
	type NewDelivery,
	OPERATOR,
	type Poster,
	type Store,
} from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { ChannelSettings, Inbound, Quoted, StoredAdmission } from "../channel.ts";
import { type Parsed, parseCommand } from "../commands/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { hopsSentence } from "../sentences.ts";
import { type AddressedAlbums, isAddressed } from "./addressed.ts";
import type { ArrivalOrder } from "./arrival-order.ts";
import { type Authorisation, authorise, NOT_ALLOWED } from "./authorise.ts";
import { isLate, type Waiting } from "./batch.ts";
import { pairingFor } from "./pairing-code.ts";
import { profileFor } from "./profiles.ts";

type AcceptArgs = Parameters<Store["accept"]>[0];

export interface AdmissionOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: Config;
	/** The channel's settings. */
	readonly settings: ChannelSettings;
	readonly albums: AddressedAlbums;
	readonly randomBytes: (length: number) => Uint8Array;
	readonly outlet: Outlet;
	/** Where the owner is asked about strangers. */
	readonly homes: () => readonly Destination[];
	/** Whether only an owner reads a chat. */
	readonly isOwners: (destination: Destination) => boolean;
	/** Messages that a channel passes in concurrently are committed in its order. */
	readonly arrivalOrder: ArrivalOrder;
	/** An owner writes from this chat. */
	readonly onOwner: (source: Source) => void;
	/** A message waits for its turn. */
	readonly onMessage: (conversation: ConversationId, item: Waiting, busy: BusyMode) => void;
	readonly onCommand: (command: {
		readonly inbox: number;
		readonly conversation: ConversationId;
		readonly principal: string | null;
		readonly source: Source;
		readonly parsed: Parsed;
		readonly authorisation: Authorisation;
		readonly poster: Poster | null;
	}) => void;
}

export async function admit(
	received: Inbound,
	account: string,
	options: AdmissionOptions,
): Promise<StoredAdmission> {
	const { store, clock, config } = options;
	// Already here: a command runs on the written text, not on the stored row.
	const { source: from, content } = received;
	const inbound = { ...received, ...store.secrets.hideIn({ source: from, content }) };
	const given = parseSource({ ...inbound.source, account: inbound.source.account ?? account });
	const { source, profile, authorisation } = await options.arrivalOrder.pass(
		decide(given, inbound.transport ?? {}, options),
	);
	if (roleOf(authorisation) === "owner") options.onOwner(source);
	const { settings, albums } = options;
	const addressed = isAddressed(inbound, source, settings) || albums.has(source, inbound.album);
	if (addressed) albums.add(source, inbound.album);
	const poster = inbound.transport?.poster ?? chatPoster(source, inbound.transport);
	const parsed = addressed ? parseCommand(contentText(inbound.content)) : null;
	// Not batched: a person at a terminal or page sends one message at a time.
	const batchMs = isOwnPlatform(source.platform) || parsed ? 0 : config.gateway.batch_ms;
	const args: AcceptArgs = {
		kind: "person",
		source: toWireSource(source),
		platformMessage: inbound.platformMessage,
		content: inbound.content,
		...(inbound.quoted && { quoted: quoteOf(inbound.quoted) }),
		routing: routingOf(config, profile),
		as:
			profile === null
				? UNKNOWN_PROFILE
				: mayAsk(authorisation, source, inbound, config)
					? { kind: "refuse", reason: NOT_ALLOWED, pairing: pairingFor(source, options) }
					: asOf(authorisation, addressed),
		...(authorisation.kind === "allowed" && {
			role: authorisation.role,
			...(authorisation.platformRole !== undefined && { platformRole: authorisation.platformRole }),
		}),
		...(poster && { poster }),
		...(parsed && { asCommand: true }),
		...(inbound.transport?.isBot && {
			bot: { limit: MOST_HOPS, notice: hopsNotice(source, inbound, options.outlet) },
		}),
		...(inbound.conversation !== undefined && { conversation: inbound.conversation }),
		...(inbound.blobs && { blobs: inbound.blobs }),
		...(inbound.sentAt !== undefined && { sentAt: inbound.sentAt }),
		...(inbound.cursor !== undefined && {
			cursor: { platform: source.platform, account: source.account, value: inbound.cursor },
		}),
		dueAt: clock.now() + batchMs,
	};
	const accepted = await store.accept(args).catch((error: unknown) => {
		// It has no address now and never will: refuse it, or it would block its channel forever.
		if (!(error instanceof KeryxError && error.code === "address.incomplete")) throw error;
		return store.accept({ ...args, as: { kind: "refuse", reason: error.message } });
	});
	const { id, conversation, principal, duplicate } = accepted;
	const refused = accepted.disposition?.kind === "refused" ? accepted.disposition.reason : null;
	if (!duplicate && conversation !== null && accepted.disposition === null) {
		const now = clock.now();
		const arrivedAt = clock.monotonic();
		const sentAt = inbound.sentAt ?? now;
		const late = isLate({ sentAt, acceptedAt: now });
		if (parsed)
			options.onCommand({ inbox: id, conversation, principal, source, parsed, authorisation, poster });
		else
			options.onMessage(
				conversation,
				{
					id,
					kind: "person",
					principal,
					role: roleOf(authorisation),
					arrivedAt,
					sentAt,
					batchMs,
					late,
					...(inbound.album !== undefined && { album: inbound.album }),
				},
				accepted.busy ?? config.gateway.busy,
			);
	}
	const { disposition, acceptedAt } = accepted;
	return { id, conversation, duplicate, refused, disposition, acceptedAt };
}

export function routingOf({ routing }: Pick<Config, "routing">, profile: string | null) {
	return {
		groupSessionsPerUser: routing.group_sessions_per_user,
		threadSessionsPerUser: routing.thread_sessions_per_user,
		profile,
	};
}

/** What the transcript keeps of the quoted message. */
function quoteOf({ text, author, own }: Quoted): Quote {
	return { text, own, ...(author !== undefined && { author }) };
}

/** How many bot messages are answered in a chat before a person must write. */
const MOST_HOPS = 5;

function hopsNotice(source: Source, { platformMessage }: Inbound, outlet: Outlet): NewDelivery[] {
	const { platform, account, chatId } = source;
	const id = `hops:${createHash("sha256")
		.update(JSON.stringify([platform, account, chatId, platformMessage]))
		.digest("hex")}`;
	const destination = destinationOf(source);
	return toDeliveries(hopsSentence(MOST_HOPS), { id, kind: "notice", class: "warning", destination }, outlet);
}

/**
 * Bots and people the platform does not vouch for decide nothing, whatever their role (I14). Stored on the row, so that it survives a
 * crash.
 */
function chatPoster({ platform, userId, chatId }: Source, transport: Inbound["transport"]): Poster | null {
	const poster = { who: `${platform}:${userId ?? chatId}`, via: "chat", decides: false } as const;
	if (transport?.isBot) return poster;
	return transport?.unproven ? { ...poster, unproven: true } : null;
}

const UNKNOWN_PROFILE = { kind: "refuse", reason: "unknown profile" } as const;

/** A source's profile counts only if it was honoured. */
function withProfile({ profile: _, ...source }: Source, profile: string | null): Source {
	return profile ? { ...source, profile } : source;
}

export function roleOf(authorisation: Authorisation): PersonRole {
	return authorisation.kind === "allowed" ? authorisation.role : "guest";
}

/** The profile of a message, and whether its sender may speak. */
export async function decide(
	given: Source,
	transport: NonNullable<Inbound["transport"]>,
	{ store, config }: Pick<AdmissionOptions, "store" | "config">,
): Promise<{
	readonly source: Source;
	readonly profile: string | null;
	readonly authorisation: Authorisation;
}> {
	const rules = authRules(config, given.platform);
	// The store's facts about the sender matter only if anyone may speak at all.
	const facts = rules
		? await store.callerFacts({
				scope: OPERATOR,
				platform: given.platform,
				account: given.account,
				chatId: given.chatId,
				ids: sendersIds(given),
			})
		: UNKNOWN;
	const from = withFirstId(given, facts.chats);
	const profile = profileFor(from, transport.mayChooseProfile ?? false, config);
	const source = withProfile(from, profile);
	return { source, profile, authorisation: authorise({ source, transport, ...facts }, rules) };
}

/** Whether Keryx joins a chat to which this person invites it. */
export async function isWelcome(
	invitation: Source,
	options: Pick<AdmissionOptions, "store" | "config">,
): Promise<boolean> {
	const { source, profile, authorisation } = await decide(invitation, {}, options);
	if (profile === null) return false;
	return authorisation.kind === "allowed" || mayAsk(authorisation, source, {}, options.config);
}

/** The configuration may name a moved chat by its old id. */
function withFirstId(source: Source, chats: readonly string[]): Source {
	const first = chats.at(-1);
	if (source.chatType === "dm" || source.chatIdAlt !== undefined) return source;
	return first === undefined || first === source.chatId ? source : { ...source, chatIdAlt: first };
}

const UNKNOWN = { ids: [], chats: [], paired: null } as const;

/** In a dm without a sender, the chat is the person. */
function sendersIds(source: Source): string[] {
	const ids = [source.userIdAlt, source.userId].filter((id) => id !== undefined);
	if (ids.length === 0 && source.chatType === "dm" && source.chatId !== "") ids.push(source.chatId);
	return ids.map((id) => personId(source.platform, id, []));
}

/** An unknown person who writes directly to the bot may ask for access. */
function mayAsk(
	authorisation: Authorisation,
	source: Source,
	{ transport }: Pick<Inbound, "transport">,
	config: Config,
): boolean {
	const rules = authRules(config, source.platform);
	return (
		authorisation.kind === "refused" &&
		authorisation.reason === NOT_ALLOWED &&
		rules?.pairing === true &&
		source.chatType === "dm" &&
		!transport?.isBot &&
		transport?.poster === undefined &&
		sendersIds(source).length > 0
	);
}

function asOf(authorisation: Authorisation, addressed: boolean) {
	if (authorisation.kind === "refused") return { kind: "refuse", reason: authorisation.reason } as const;
	return { kind: addressed ? "accept" : "observe" } as const;
}
