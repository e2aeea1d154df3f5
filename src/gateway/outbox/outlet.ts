// Adapts outgoing messages to their chat: the platform's limits and markup, files, buttons, edits, and the classes of notices it gets.
// Channels declare what they can show; other platforms have the registry's traits.
import {
	builtInPlatforms,
	createPlatforms,
	type Platforms,
	type PlatformTraits,
} from "../../domain/index.ts";
import type { Destination } from "../../store/index.ts";
import {
	CHANNEL_DEFAULTS,
	type Channel,
	type ChannelSettings,
	type ChannelTraits,
	type NoticeClass,
} from "../channel.ts";

type Shows = Pick<ChannelTraits["shows"], "attachments" | "buttons" | "edit"> & {
	/** A reaction to a question answers it; only if no buttons are shown. */
	readonly answeredByReaction?: boolean;
};

export interface Outlet {
	readonly platforms: Platforms;
	shows(destination: Destination): Shows;
	/** The longest caption of a file there. */
	captionLimit(destination: Destination): PlatformTraits["messageLimit"];
	/** Whether an answer there is one message, with its files. */
	isOneMessage(destination: Destination): boolean;
	/** Whether a chat gets notices of this class. */
	takes(destination: Destination, notice: NoticeClass): boolean;
}

type Described = Pick<Channel, "name" | "platform" | "account" | "traits">;

export interface OutletOptions {
	/** Read per call: channels come and go. */
	readonly channels: () => Iterable<Described>;
	/** Default: the defaults of each. */
	readonly settingsOf?: (name: string) => ChannelSettings | undefined;
	/** The registry; default: the built-in one. */
	readonly platforms?: Platforms;
}

export function createOutlet({
	channels,
	settingsOf = () => undefined,
	platforms = builtInPlatforms,
}: OutletOptions): Outlet {
	const find = ({ platform, account }: Destination) =>
		[...channels()].find((one) => one.platform === platform && one.account === account);
	const registry = ({ platform }: Destination): PlatformTraits & { captionLimit?: number } =>
		platforms.traits(platform);
	return {
		platforms: platformsOf(channels, platforms),
		shows: (destination) => {
			const channel = find(destination);
			const shows = channel?.traits?.shows ?? NOTHING;
			const { confirmByReaction } = settingsOf(channel?.name ?? "") ?? CHANNEL_DEFAULTS;
			return { ...shows, answeredByReaction: confirmByReaction && !shows.buttons };
		},
		captionLimit: (destination) => {
			const { messageLimit, captionLimit } = find(destination)?.traits ?? registry(destination);
			return { ...messageLimit, max: Math.min(messageLimit.max, captionLimit ?? messageLimit.max) };
		},
		isOneMessage: (destination) => find(destination)?.traits?.oneMessage === true,
		takes: (destination, notice) => {
			const { notices } = settingsOf(find(destination)?.name ?? "") ?? CHANNEL_DEFAULTS;
			const isPrivate = !destination.group && destination.platform !== "email";
			return notices[isPrivate ? "dms" : "groups"].includes(notice);
		},
	};
}

/** The registry, overridden by the channels' traits. */
function platformsOf(channels: OutletOptions["channels"], registry: Platforms): Platforms {
	const given = (name: string) => [...channels()].find((one) => one.platform === name)?.traits;
	return {
		traits: (name) => given(name) ?? registry.traits(name),
		has: (name) => given(name) !== undefined || registry.has(name),
		names: () => [...new Set([...registry.names(), ...[...channels()].map(({ platform }) => platform)])],
	};
}

/** Throws argument.invalid for unusable traits. */
export function checkTraits({ platform, traits }: Described): void {
	if (!traits) return;
	const { messageLimit, captionLimit = messageLimit.max } = traits;
	createPlatforms([{ ...traits, name: platform }]);
	createPlatforms([{ ...traits, name: platform, messageLimit: { ...messageLimit, max: captionLimit } }]);
}

const NOTHING: Shows = { attachments: false, buttons: false, edit: false };
