// Converts the settings of an IRC channel for its client: the server, and the secrets, which are read at every connect.
import type { IrcOptions, IrcSecrets } from "../../channels/irc/index.ts";
import type { ChannelSettings } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { readAuthorities } from "../setup/authorities.ts";
import { readSecret, readServerPassword, readToken, type TokenContext } from "../setup/channel-token.ts";
import type { PlatformWays } from "./types.ts";

export const irc: PlatformWays = {
	make: async (options, context) => {
		const { createIrcChannel } = await import("../../channels/irc/index.ts");
		const { name, settings } = options;
		return createIrcChannel({
			...options,
			...ircConnection(settings, context.home),
			secrets: () => ircSecrets(name, settings, context),
			decides: settings.decides,
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	identify: async (name, settings, context) => {
		const { identifyIrc } = await import("../../channels/irc/index.ts");
		const secrets = () => ircSecrets(name, settings, context);
		return identifyIrc({ ...ircConnection(settings, context.home), secrets });
	},
};

/** Throws config.invalid if a certificate file cannot be read. */
function ircConnection(
	{ irc }: Pick<ChannelSettings, "irc">,
	home: string,
): Pick<IrcOptions, "server" | "nick" | "login" | "join" | "flood"> {
	if (!irc)
		throw new KeryxError("config.invalid", "an IRC channel needs irc.server and irc.nick", { field: "irc" });
	const { server: host, tls, port = tls ? 6697 : 6667, nick, login, join, flood_burst, flood_ms } = irc;
	return {
		server: {
			host,
			port,
			tls,
			...(irc.ca_file !== undefined && { ca: readAuthorities("irc.ca_file", irc.ca_file, home) }),
		},
		nick,
		...(login !== undefined && { login }),
		join: join.map((room) => (typeof room === "string" ? room : room.channel)),
		flood: { burst: flood_burst, everyMs: flood_ms },
	};
}

/** Throws channel.token_missing or channel.token_exposed. */
async function ircSecrets(
	name: string,
	settings: ChannelSettings,
	context: TokenContext,
): Promise<IrcSecrets> {
	const { irc, token_env, token_file, server_password_env, server_password_file } = settings;
	const hasToken = (token_env ?? token_file) !== undefined;
	const hasServer = (server_password_env ?? server_password_file) !== undefined;
	const keys = new Map<string, string>();
	for (const room of irc?.join ?? [])
		if (typeof room !== "string")
			keys.set(
				room.channel,
				readSecret(
					`the key of ${room.channel} of channels.${name}`,
					{ token_env: room.key_env, token_file: room.key_file },
					context,
				),
			);
	return {
		keys,
		...(hasToken && { password: await readToken(name, settings, context) }),
		...(hasServer && { serverPassword: await readServerPassword(name, settings, context) }),
		...(irc?.certificate_file !== undefined && {
			certificate: readSecret(
				`the certificate of channels.${name}`,
				{ token_env: undefined, token_file: irc.certificate_file },
				context,
			),
		}),
	};
}
