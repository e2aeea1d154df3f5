// A bridge channel behind the API, without a gateway: for checking a bridge program over HTTP with the conformance suite.
import { randomBytes } from "node:crypto";
import { createBridgeChannel } from "../../channels/bridge/index.ts";
import { createConfirmations } from "../../confirmations/index.ts";
import type { Channel, ChannelTraits } from "../../gateway/index.ts";
import { NO_SECRETS, openStore, systemIds } from "../../store/index.ts";
import { systemClock } from "../../time/index.ts";
import { createApi } from "../app.ts";
import { Access } from "../entry/auth.ts";
import { serveOnPort } from "../serve.ts";

export interface ServedBridge {
	/** For `testChannel` of keryx/testing. */
	readonly channel: Channel;
	/** For the program: Keryx's address and its token. */
	readonly url: string;
	readonly token: string;
	close(): Promise<void>;
}

export async function serveBridge({
	name,
	platform = name,
	traits,
}: {
	readonly name: string;
	readonly platform?: string;
	readonly traits: ChannelTraits;
}): Promise<ServedBridge> {
	const channel = createBridgeChannel({
		name,
		platform,
		account: "",
		traits,
		decides: false,
		clock: systemClock,
	});
	const store = await openStore({
		url: "sqlite::memory:",
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
		auditKey: randomBytes(32),
	});
	const operatorSecret = randomBytes(32).toString("hex");
	const { now } = systemClock;
	const api = createApi({
		store,
		gateway: null,
		bridge: (of) => (of === name ? (channel.bridge ?? null) : null),
		confirmations: createConfirmations({
			store,
			clock: systemClock,
			settings: () => ({
				alwaysConfirm: [],
				rateLimit: 0,
				globalLimit: 0,
				useWithinMinutes: 1,
				defaultTimeout: 30,
				chats: [],
				webhooks: [],
			}),
		}),
		operatorSecret,
		version: "conformance",
		agent: "none",
		startedAt: now(),
		now,
	});
	const { secret: token } = await new Access({ store, operatorSecret, now }).createToken(
		{ name, role: "channel", channel: name },
		{ who: "operator", via: "api" },
	);
	const served = await serveOnPort(api, { host: "127.0.0.1", port: 0 });
	return {
		channel,
		url: `http://127.0.0.1:${served.port}`,
		token,
		close: async () => {
			await served.close();
			api.close();
			await store.close();
		},
	};
}
