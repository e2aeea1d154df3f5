// The way in: authorise, commit, then wake the lane or carry out the command. Resolves only after the commit (I3), so a channel
// that waits for it never acknowledges what could be lost.
import type { Config } from "../../config/index.ts";
import {
	type ConversationId,
	contentText,
	isOwnPlatform,
	type PersonRole,
	parseSource,
	personId,
	type Source,
	toWireSource,
} from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { type BusyMode, OPERATOR, type Poster, type Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Admission, Inbound } from "../channel.ts";
import { type Parsed, parseCommand } from "../commands/index.ts";
import { type Authorisation, authorise } from "./authorise.ts";
import type { Waiting } from "./batch.ts";
import type { Door } from "./door.ts";
import { profileFor } from "./profiles.ts";

/** Sent this long before it arrived: nobody was listening. */
const LATE_MS = 60_000;

type AcceptArgs = Parameters<Store["accept"]>[0];

export interface AdmissionOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: Config;
	/** What a channel hands in at once is committed in its order. */
	readonly door: Door;
	/** An owner writes from here. */
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
): Promise<Admission> {
	const { store, clock, config } = options;
	// Here already: a command is carried out from what was written, not from the row.
	const { source: from, content } = received;
	const inbound = { ...received, ...store.secrets.hideIn({ source: from, content }) };
	const given = parseSource({ ...inbound.source, account: inbound.source.account ?? account });
	const profile = profileFor(given, inbound.transport?.mayChooseProfile ?? false, config);
	const source = withProfile(given, profile);
	const authorisation = await options.door.pass(authorisationOf(source, inbound.transport ?? {}, options));
	if (roleOf(authorisation) === "owner") options.onOwner(source);
	const addressed = inbound.addressed ?? true;
	const poster = inbound.transport?.poster ?? null;
	const parsed = addressed ? parseCommand(contentText(inbound.content)) : null;
	// Not held back for a burst: a person at a terminal or a page sends one message at a time.
	const batchMs = isOwnPlatform(source.platform) || parsed ? 0 : config.gateway.batch_ms;
	const args: AcceptArgs = {
		kind: "person",
		source: toWireSource(source),
		platformMessage: inbound.platformMessage,
		content: inbound.content,
		routing: {
			groupSessionsPerUser: config.routing.group_sessions_per_user,
			threadSessionsPerUser: config.routing.thread_sessions_per_user,
			profile,
		},
		as: profile === null ? UNKNOWN_PROFILE : asOf(authorisation, addressed),
		...(authorisation.kind === "allowed" && {
			role: authorisation.role,
			...(authorisation.platformRole !== undefined && { platformRole: authorisation.platformRole }),
		}),
		...(poster && { poster }),
		...(inbound.conversation !== undefined && { conversation: inbound.conversation }),
		...(inbound.blobs && { blobs: inbound.blobs }),
		...(inbound.sentAt !== undefined && { sentAt: inbound.sentAt }),
		...(inbound.cursor !== undefined && {
			cursor: { platform: source.platform, account: source.account, value: inbound.cursor },
		}),
		dueAt: clock.now() + batchMs,
	};
	const accepted = await store.accept(args).catch((error: unknown) => {
		// It belongs nowhere, today and whenever it is delivered again: refused, or it would block its channel for ever.
		if (!(error instanceof KeryxError && error.code === "address.incomplete")) throw error;
		return store.accept({ ...args, as: { kind: "refuse", reason: error.message } });
	});
	const { id, conversation, principal, duplicate } = accepted;
	const refused = accepted.disposition?.kind === "refused" ? accepted.disposition.reason : null;
	if (!duplicate && conversation !== null && accepted.disposition === null) {
		const now = clock.now();
		const arrivedAt = clock.monotonic();
		const sentAt = inbound.sentAt ?? now;
		const late = now - sentAt > LATE_MS;
		if (parsed)
			options.onCommand({ inbox: id, conversation, principal, source, parsed, authorisation, poster });
		else
			options.onMessage(
				conversation,
				{ id, kind: "person", principal, role: roleOf(authorisation), arrivedAt, sentAt, batchMs, late },
				accepted.busy ?? config.gateway.busy,
			);
	}
	return { id, conversation, duplicate, refused };
}

const UNKNOWN_PROFILE = { kind: "refuse", reason: "unknown profile" } as const;

/** What a source says of its profile counts only where it was honoured. */
function withProfile({ profile: _, ...source }: Source, profile: string | null): Source {
	return profile ? { ...source, profile } : source;
}

export function roleOf(authorisation: Authorisation): PersonRole {
	return authorisation.kind === "allowed" ? authorisation.role : "guest";
}

export async function authorisationOf(
	source: Source,
	transport: NonNullable<Inbound["transport"]>,
	{ store, config }: Pick<AdmissionOptions, "store" | "config">,
): Promise<Authorisation> {
	const rules = Object.hasOwn(config.auth, source.platform) ? config.auth[source.platform] : undefined;
	// Other ids of the same person matter only where a list of ids could name them.
	const ids = rules?.allow.length
		? await store.knownIds({
				scope: OPERATOR,
				platform: source.platform,
				ids: sendersIds(source),
			})
		: [];
	return authorise({ source, transport, ids }, config.auth);
}

function sendersIds(source: Source): string[] {
	return [source.userIdAlt, source.userId]
		.filter((id) => id !== undefined)
		.map((id) => personId(source.platform, id, []));
}

function asOf(authorisation: Authorisation, addressed: boolean) {
	if (authorisation.kind === "refused") return { kind: "refuse", reason: authorisation.reason } as const;
	return { kind: addressed ? "accept" : "observe" } as const;
}
