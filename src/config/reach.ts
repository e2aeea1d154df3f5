// Which chats this Keryx has a channel for. Entries for other chats have no effect, and a warning says so.
import { type BuiltInChannel, OWN_PLATFORMS } from "../domain/index.ts";
import type { Config } from "./schema.ts";

export interface Connection {
	readonly platform: string;
	/** Which of several connections to one platform; '' for the only one. */
	readonly account: string;
}

/** Built-in channels that are on. */
export function ownPlatforms({ webhooks }: Pick<Config, "webhooks">): readonly BuiltInChannel[] {
	const hooks = Object.keys(webhooks).length > 0 ? (["webhook"] as const) : [];
	return [...OWN_PLATFORMS, ...hooks];
}

export function connections(config: Pick<Config, "webhooks" | "channels">): readonly Connection[] {
	return [
		...ownPlatforms(config).map((platform) => ({ platform, account: "" })),
		...Object.values(config.channels).map(({ platform, account }) => ({ platform, account })),
	];
}

/** One sentence for each entry that has no effect. `given`: channels that the program brings. */
export function unreached(
	config: Pick<Config, "auth" | "home_channels" | "confirmations" | "webhooks" | "channels">,
	given: readonly Connection[] = [],
): string[] {
	const there = [...connections(config), ...given];
	const { auth, home_channels, confirmations } = config;
	const has = (platform: string) => there.some((one) => one.platform === platform);
	const missing = (section: object) => Object.keys(section).filter((platform) => !has(platform));
	const without = (platform: string) => `there is no channel for ${platform}`;
	return [
		...missing(auth).map(
			(platform) =>
				`auth.${platform}: ${without(platform)}; only messages posted by programs arrive from there`,
		),
		...confirmations.notify.flatMap((to) =>
			"webhook" in to || there.some((one) => one.platform === to.platform && one.account === to.account)
				? []
				: [
						`confirmations.notify: ${to.platform} ${to.chat_id} is not notified: ${without(to.platform)}${to.account && ` with the account ${to.account}`}`,
					],
		),
		...missing(home_channels).map(
			(platform) => `home_channels.${platform}: nothing is sent there: ${without(platform)}`,
		),
	];
}
