// The host that a channel calls. Everything with a cursor is committed together with it (I3).
import type { Config } from "../../config/index.ts";
import { contentText, parseSource } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { OPERATOR, type Store } from "../../store/index.ts";
import type {
	Admission,
	Channel,
	ChannelHost,
	ChannelSettings,
	Deletion,
	Inbound,
	Reaction,
} from "../channel.ts";
import { COMMANDS } from "../commands/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { isWelcome, routingOf } from "./admission.ts";
import { putBlobStream } from "./blobs.ts";
import { profileFor } from "./profiles.ts";

const MIB = 1024 * 1024;

export interface HostOptions {
	readonly store: Store;
	/** Read per call: it may change. */
	readonly config: () => Config;
	readonly settings: () => ChannelSettings;
	readonly lanes: Pick<Lanes, "remove">;
	readonly accept: (inbound: Inbound) => Promise<Admission>;
	readonly pressed: ChannelHost["pressed"];
	/** Acts on a reaction. Repeating it has no effect. */
	readonly pressedByReaction: (reaction: Reaction) => Promise<void>;
	/** Events about messages are committed in the channel's order, together with the messages. */
	readonly inOrder: <Value>(write: () => Promise<Value>) => Promise<Value>;
	/** The same for a cursor alone, until the channels have stopped. */
	readonly passed: (write: () => Promise<void>) => Promise<void>;
}

export function createHost(
	{ platform, account, traits }: Pick<Channel, "platform" | "account" | "traits">,
	{ store, config, settings, lanes, accept, inOrder, passed, pressed, pressedByReaction }: HostOptions,
): ChannelHost {
	const cursorAt = (value: string | undefined) =>
		value === undefined ? {} : { cursor: { platform, account, value } };
	/** A channel need not name its account. */
	const from = (source: Inbound["source"]) => ({ account, ...source });
	const amend = async ({ source, platformMessage, cursor }: Deletion, text: string | null): Promise<void> => {
		const done = await inOrder(() =>
			store.amend({
				source: from(source),
				platformMessage,
				text,
				note: settings().edits === "note",
				...cursorAt(cursor),
			}),
		);
		if (done.kind === "dropped") lanes.remove(done.conversation, [done.inbox]);
	};
	return {
		accept,
		cursor: () => store.channelCursor({ scope: OPERATOR, platform, account }),
		known: (chat, platformMessages) =>
			store.knownMessages({ scope: OPERATOR, platform, account, chat, platformMessages }),
		putBlob: async (pieces, { name, mediaType, size = 0 }) => {
			const megabytes = config().http.attachment_limit_mb;
			const bytes = megabytes * MIB;
			const error = () =>
				new KeryxError("attachment.too_large", `${name} is larger than ${megabytes} MB`, { field: "size" });
			if (size > bytes) throw error();
			return (await putBlobStream(store, pieces, { mediaType, limit: { bytes, error } })).id;
		},
		welcomes: ({ source }) => isWelcome(parseSource(from(source)), { store, config: config() }),
		edited: (edit) => amend(edit, contentText(edit.content)),
		deleted: (deletion) => amend(deletion, null),
		reacted: async (reaction) => {
			const { source, platformMessage, emoji, on, cursor } = reaction;
			// Before the cursor moves: an update interrupted here is delivered again.
			if (settings().confirmByReaction && !traits?.shows.buttons) await pressedByReaction(reaction);
			await inOrder(() =>
				store.react({
					source: from(source),
					platformMessage,
					emoji,
					on,
					routing: routingOf(config(), profileFor(parseSource(from(source)), false, config())),
					...cursorAt(cursor),
				}),
			);
		},
		pressed,
		gone: async ({ source, reason, cursor }) => {
			await inOrder(() => store.chatGone({ source: from(source), reason, ...cursorAt(cursor) }));
		},
		moved: ({ source, toChatId, cursor }) =>
			inOrder(() => store.chatMoved({ source: from(source), to: toChatId, ...cursorAt(cursor) })),
		passed: (value) => passed(() => store.moveCursor({ platform, account, value })),
		commands: () => COMMANDS.map(({ name, about }) => ({ name, description: about })),
		maySend: () => store.cluster?.holdsLease ?? true,
	};
}
