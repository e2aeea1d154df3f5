// Converts the settings of an XMPP channel for its client: the account and its server, and the secrets, which are read at every connect.
import type { XmppOptions, XmppSecrets } from "../../channels/xmpp/index.ts";
import type { ChannelSettings } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { readAuthorities } from "../setup/authorities.ts";
import { readSecret, readToken, type TokenContext } from "../setup/channel-token.ts";
import type { PlatformWays } from "./types.ts";

export const xmpp: PlatformWays = {
	make: async (options, context) => {
		const { createXmppChannel } = await import("../../channels/xmpp/index.ts");
		const { name, settings } = options;
		return createXmppChannel({
			...options,
			...xmppConnection(settings, context.home),
			secrets: () => xmppSecrets(name, settings, context),
			decides: settings.decides,
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	identify: async (name, settings, context) => {
		const { identifyXmpp } = await import("../../channels/xmpp/index.ts");
		const secrets = () => xmppSecrets(name, settings, context);
		return identifyXmpp({ ...xmppConnection(settings, context.home), secrets });
	},
};

/** Throws config.invalid if a certificate file cannot be read. */
function xmppConnection(
	{ xmpp }: Pick<ChannelSettings, "xmpp">,
	home: string,
): Pick<XmppOptions, "jid" | "server" | "nick" | "join" | "flood"> {
	if (!xmpp) throw new KeryxError("config.invalid", "an XMPP channel needs xmpp.jid", { field: "xmpp" });
	const {
		jid,
		server: host,
		port,
		tls,
		direct_tls: direct = port === 5223,
		ca_file,
		flood_burst,
		flood_ms,
	} = xmpp;
	return {
		jid,
		server: {
			tls: tls ? (direct ? "direct" : "starttls") : "none",
			...(host !== undefined && { host }),
			...(port !== undefined && { port }),
			...(ca_file !== undefined && { ca: readAuthorities("xmpp.ca_file", ca_file, home) }),
		},
		nick: xmpp.nick ?? (jid.split("@", 1)[0] as string),
		join: xmpp.join.map((room) => (typeof room === "string" ? room : room.room)),
		flood: { burst: flood_burst, everyMs: flood_ms },
	};
}

/** Throws channel.token_missing or channel.token_exposed. */
async function xmppSecrets(
	name: string,
	settings: ChannelSettings,
	context: TokenContext,
): Promise<XmppSecrets> {
	const roomPasswords = new Map<string, string>();
	for (const room of settings.xmpp?.join ?? [])
		if (typeof room !== "string")
			roomPasswords.set(
				room.room,
				readSecret(
					`the password of ${room.room} of channels.${name}`,
					{ token_env: room.password_env, token_file: room.password_file },
					context,
				),
			);
	return { roomPasswords, password: await readToken(name, settings, context) };
}
