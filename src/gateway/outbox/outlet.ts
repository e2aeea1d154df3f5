// What leaves Keryx goes by what its chat can show: limits and markup of its platform, files, buttons, edits, and the classes of notices
// that it is sent. Channels say what they can show; a platform that none of them describes has the registry's traits.
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
	/** A reaction to a question's message answers it: only where no buttons are shown. */
	readonly answeredByReaction?: boolean;
};

export interface Outlet {
	readonly platforms: Platforms;
	shows(destination: Destination): Shows;
	/** The longest text that a file can have with it there. */
	captionLimit(destination: Destination): PlatformTraits["messageLimit"];
	/** Whether a chat is sent notices of this class. */
	takes(destination: Destination, notice: NoticeClass): boolean;
}

type Described = Pick<Channel, "name" | "platform" | "account" | "traits">;

export interface OutletOptions {
	/** Asked each time: channels come and go. */
	readonly channels: () => Iterable<Described>;
	/** Left out: the defaults of each. */
	readonly settingsOf?: (name: string) => ChannelSettings | undefined;
	/** The registry; left out: the built-in one. */
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
		takes: (destination, notice) => {
			const { notices } = settingsOf(find(destination)?.name ?? "") ?? CHANNEL_DEFAULTS;
			const isPrivate = !destination.group && destination.platform !== "email";
			return notices[isPrivate ? "dms" : "groups"].includes(notice);
		},
	};
}

/** The registry, with the traits that channels bring in place of its own. */
function platformsOf(channels: OutletOptions["channels"], registry: Platforms): Platforms {
	const given = (name: string) => [...channels()].find((one) => one.platform === name)?.traits;
	return {
		traits: (name) => given(name) ?? registry.traits(name),
		has: (name) => given(name) !== undefined || registry.has(name),
		names: () => [...new Set([...registry.names(), ...[...channels()].map(({ platform }) => platform)])],
	};
}

/** Throws argument.invalid for traits that cannot be used. */
export function checkTraits({ platform, traits }: Described): void {
	if (!traits) return;
	const { messageLimit, captionLimit = messageLimit.max } = traits;
	createPlatforms([{ ...traits, name: platform }]);
	createPlatforms([{ ...traits, name: platform, messageLimit: { ...messageLimit, max: captionLimit } }]);
}

const NOTHING: Shows = { attachments: false, buttons: false, edit: false };
