// What src/app knows of a platform whose channel comes with Keryx.
import type { ChannelSettings } from "../../config/index.ts";
import type { Channel, Clock } from "../../gateway/index.ts";
import type { TokenContext } from "../setup/channel-token.ts";

export interface PlatformWays {
	make(options: ChannelOptions, context: ChannelContext): Promise<Channel>;
	/** Asks the platform who the bot is. Throws channel.refused if it does not accept what it is given. */
	identify(name: string, settings: ChannelSettings, context: TokenContext): Promise<ChannelIdentity>;
	/** What is kept in place of the given secret. `network` is the platform's own section. */
	exchange?(given: string, network: NetworkSection | undefined): Promise<string>;
	/** Whether an entry needs the platform's packages. Default: each does. */
	needsPackages?(network: NetworkSection | undefined): boolean;
}

export type NetworkSection = Readonly<Record<string, unknown>>;

/** Who the token belongs to, from the platform. */
export interface ChannelIdentity {
	readonly who: string;
	/** What it cannot do as configured on the platform, each with the remedy. */
	readonly remarks: readonly string[];
}

/** What a channel is made with. A `module` exports `createChannel`, which takes these. */
export interface ChannelOptions {
	/** Of its entry in the configuration. */
	readonly name: string;
	readonly account: string;
	readonly settings: ChannelSettings;
	/** Read at every connect: it may have changed. */
	readonly token: () => Promise<string>;
	readonly clock: Clock;
	readonly log: (message: string, error: unknown) => void;
}

export interface ChannelContext extends TokenContext {
	readonly clock: Clock;
	readonly log: (message: string, error: unknown) => void;
}
