// How sessions open and end, from the configuration and the connected channels: the reset policy, and the context block and tools of a
// new session.
import { type Config, resolvePolicy } from "../config/index.ts";
import {
	type ChatType,
	contextPrompt,
	type Platforms,
	type ResetPolicy,
	type Source,
} from "../domain/index.ts";
import type { Conversation, HomeChannel } from "../store/index.ts";
import { instructionsFor, toolsFor } from "./inbox/profiles.ts";

export interface SessionSettings {
	/** The home channels set in chats. */
	takeHomes(homes: readonly HomeChannel[]): void;
	setHomes(): readonly HomeChannel[];
	policyFor(platform: string, chatType: ChatType): ResetPolicy;
	/** What a session opens with. The context is stored with it and stays byte-equal for the session's life. */
	openingOf(conversation: { readonly source: Source; readonly shared: boolean; readonly profile: string }): {
		readonly context: string;
		/** Names of the tools that everyone may use. */
		readonly tools: readonly string[];
	};
}

export interface SessionSettingsOptions {
	/** Read per call: it may change. */
	readonly config: () => Config;
	/** Read per call: channels come and go. */
	readonly connectedPlatforms: () => readonly string[];
	/** Read per call: servers add tools. */
	readonly tools: { readonly names: readonly string[] };
	/** Per installation; used to make pseudonyms of ids. */
	readonly pseudonymKey: Uint8Array;
	readonly platforms: Platforms;
}

export function createSessionSettings(options: SessionSettingsOptions): SessionSettings {
	const policies = new Map<string, ResetPolicy>();
	let of = options.config().session_reset;
	let homes: readonly HomeChannel[] = [];
	return {
		takeHomes: (set) => {
			homes = set;
		},
		setHomes: () => homes,
		policyFor: (platform, chatType) => {
			const { session_reset } = options.config();
			if (session_reset !== of) policies.clear();
			of = session_reset;
			const name = `${platform} ${chatType}`;
			const policy = policies.get(name) ?? resolvePolicy(session_reset, { platform, chatType });
			policies.set(name, policy);
			return policy;
		},
		openingOf: ({ source, shared, profile }) => {
			const { pseudonymKey, platforms } = options;
			const config = options.config();
			const connectedPlatforms = options.connectedPlatforms();
			const tools = toolsFor(options.tools.names, config, { profile, platform: source.platform, role: null });
			const context = [
				...instructionsFor(config, profile, source),
				contextPrompt({
					source,
					shared,
					connectedPlatforms: [...connectedPlatforms],
					homeChannels: homesOf(config, connectedPlatforms, homes),
					redactPii: config.privacy.redact_pii,
					pseudonymKey,
					platforms,
					tools,
				}),
			].join("\n\n");
			return { context, tools };
		},
	};
}

/**
 * A home channel on a disconnected platform is not shown to the agent: it leads nowhere. One set in a chat overrides the
 * configuration.
 */
export function homesOf(
	{ home_channels }: Pick<Config, "home_channels">,
	connectedPlatforms: readonly string[],
	set: readonly Pick<HomeChannel, "platform" | "chatId" | "threadId" | "name">[],
): Config["home_channels"] {
	const homes = { ...home_channels };
	for (const { platform, chatId, threadId, name } of set)
		homes[platform] = { chat_id: chatId, name, ...(threadId !== undefined && { thread_id: threadId }) };
	return Object.fromEntries(
		Object.entries(homes).filter(([platform]) => connectedPlatforms.includes(platform)),
	);
}

export function policyOf(
	sessionSettings: SessionSettings,
	{ platform, chatType }: Conversation,
): ResetPolicy {
	return sessionSettings.policyFor(platform, chatType);
}
