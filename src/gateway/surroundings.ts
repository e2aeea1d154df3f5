// What a conversation stands in, from configuration and connections: its policy, and the context block of a session that opens.
import type { Config } from "../config/index.ts";
import {
	type ChatType,
	contextPrompt,
	type ResetPolicy,
	resolvePolicy,
	type Source,
} from "../domain/index.ts";
import type { Conversation } from "../store/index.ts";
import { instructionsFor, toolsFor } from "./profiles.ts";

export interface Surroundings {
	policyFor(platform: string, chatType: ChatType): ResetPolicy;
	/** Rendered when a session opens and stored with it: byte-equal for the session's whole life. */
	contextOf(place: { readonly source: Source; readonly shared: boolean; readonly profile: string }): string;
}

export interface SurroundingsOptions {
	/** Asked each time: it may change. */
	readonly config: Config;
	readonly connectedPlatforms: readonly string[];
	readonly tools: readonly string[];
	/** Per installation; pseudonyms of ids are made with it. */
	readonly pseudonymKey: Uint8Array;
}

export function createSurroundings(options: SurroundingsOptions): Surroundings {
	const policies = new Map<string, ResetPolicy>();
	let of = options.config.session_reset;
	return {
		policyFor: (platform, chatType) => {
			const { session_reset } = options.config;
			if (session_reset !== of) policies.clear();
			of = session_reset;
			const name = `${platform} ${chatType}`;
			const policy = policies.get(name) ?? resolvePolicy(session_reset, { platform, chatType });
			policies.set(name, policy);
			return policy;
		},
		contextOf: ({ source, shared, profile }) => {
			const { config, connectedPlatforms, tools, pseudonymKey } = options;
			return [
				...instructionsFor(config, profile, source),
				contextPrompt({
					source,
					shared,
					connectedPlatforms: [...connectedPlatforms],
					homeChannels: config.home_channels,
					redactPii: config.privacy.redact_pii,
					pseudonymKey,
					tools: toolsFor(tools, config, { profile, platform: source.platform, role: null }),
				}),
			].join("\n\n");
		},
	};
}

export function policyOf(surroundings: Surroundings, { platform, chatType }: Conversation): ResetPolicy {
	return surroundings.policyFor(platform, chatType);
}
