// The platforms whose channels come with Keryx: how each is made, and how it says who the bot is. A file per platform.
// Adding a channel (src/app/setup) and running one (src/app/channels.ts) read this table.
// Never here: a platform's protocol, or its library, which is loaded when its first channel is made.

import type { CHANNEL_PLATFORMS } from "../../config/index.ts";
import { discord } from "./discord.ts";
import { email } from "./email.ts";
import { irc } from "./irc.ts";
import { matrix } from "./matrix.ts";
import { slack } from "./slack.ts";
import { telegram } from "./telegram.ts";
import type { PlatformWays } from "./types.ts";
import { xmpp } from "./xmpp.ts";

export type ChannelPlatform = (typeof CHANNEL_PLATFORMS)[number];

export const PLATFORMS: Readonly<Record<ChannelPlatform, PlatformWays>> = {
	telegram,
	discord,
	slack,
	irc,
	email,
	xmpp,
	matrix,
};
