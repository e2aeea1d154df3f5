// Which platforms this Keryx has a channel for. Entries of the configuration for any other platform do nothing, and say so.
import { OWN_PLATFORMS, type OwnPlatform } from "../domain/index.ts";
import type { Config } from "./schema.ts";

type ChannelPlatform = OwnPlatform | "webhook";

export function channelPlatforms({ webhooks }: Pick<Config, "webhooks">): readonly ChannelPlatform[] {
	const hooks = Object.keys(webhooks).length > 0 ? (["webhook"] as const) : [];
	return [...OWN_PLATFORMS, ...hooks];
}

/** One sentence for each entry that has no effect. */
export function unreached(
	config: Pick<Config, "auth" | "home_channels" | "confirmations" | "webhooks">,
): string[] {
	const there = new Set<string>(channelPlatforms(config));
	const { auth, home_channels, confirmations } = config;
	const missing = (section: object) => Object.keys(section).filter((platform) => !there.has(platform));
	const without = (platform: string) => `this Keryx has no channel for ${platform}`;
	return [
		...missing(auth).map(
			(platform) =>
				`auth.${platform}: ${without(platform)}; only programs that post messages from there are heard`,
		),
		...confirmations.notify.flatMap((to) =>
			"webhook" in to || (there.has(to.platform) && to.account === "")
				? []
				: [
						`confirmations.notify: ${to.platform} ${to.chat_id} is told nothing: ${without(to.platform)}${to.account && ` with the account ${to.account}`}`,
					],
		),
		...missing(home_channels).map(
			(platform) => `home_channels.${platform}: nothing is sent there: ${without(platform)}`,
		),
	];
}
