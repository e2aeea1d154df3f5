// What Keryx would do with one message, as data: for people and for --json.

import type { LoadedConfig } from "../../../config/index.ts";
import { describeOrigin, resolvePolicy } from "../../../config/index.ts";
import {
	type Address,
	type AliasPair,
	addressDigest,
	contextPrompt,
	describeSource,
	isShared,
	OWN_PLATFORMS,
	parseSource,
	type ResetPolicy,
	readableKey,
	resolveAddress,
	type Source,
	toWireSource,
	type WireSource,
} from "../../../domain/index.ts";
import { homesOf, profileFor, toolsFor } from "../../../gateway/index.ts";
import { OWN_TOOLS } from "../../../tools/index.ts";
import { type Decision, explainDecision, type Moment } from "./decision-text.ts";

export interface Explanation {
	readonly source: WireSource;
	readonly description: string;
	readonly key: string;
	readonly digest: string;
	readonly shared: boolean;
	readonly address: WireAddress;
	readonly policy: readonly PolicyField[];
	readonly decision: Decision;
	readonly prompt?: string;
}

type WireAddress = ReturnType<typeof toWireAddress>;

interface PolicyField {
	readonly field: string;
	readonly value: ResetPolicy[keyof ResetPolicy];
	/** The key that decided: of the platform, of the chat type, or of the section. */
	readonly key: string;
	readonly origin: string;
}

/** The home channels that were set in a chat. */
export type SetHomes = Parameters<typeof homesOf>[2];

export interface ExplainOptions {
	readonly config: LoadedConfig;
	readonly moment: Moment;
	readonly aliases?: readonly AliasPair[];
	/** Render the context block too; the key makes its pseudonyms. */
	readonly prompt?: { readonly pseudonymKey: Uint8Array; readonly homes: SetHomes } | undefined;
}

/** Throws a KeryxError that names the field when the source cannot be routed. */
export function explainSource(
	wire: unknown,
	{ config, moment, aliases = [], prompt }: ExplainOptions,
): Explanation {
	const { session_reset, routing, privacy, auto_continue_freshness } = config.values;
	const source = parseSource(wire);
	const profile = profileFor(source, true, config.values) ?? source.profile ?? "";
	const connected = [...new Set([...OWN_PLATFORMS, source.platform])];
	const address = resolveAddress(source, {
		groupSessionsPerUser: routing.group_sessions_per_user,
		threadSessionsPerUser: routing.thread_sessions_per_user,
		profile,
		aliases,
	});
	const policy = resolvePolicy(session_reset, source);
	const shared = isShared(address);
	return {
		source: toWireSource(source),
		description: describeSource(source),
		key: readableKey(address),
		digest: addressDigest(address),
		shared,
		address: toWireAddress(address),
		policy: policyFields(policy, source, config),
		decision: explainDecision({
			policy,
			autoContinueFreshness: auto_continue_freshness,
			platform: source.platform,
			...moment,
		}),
		...(prompt && {
			prompt: contextPrompt({
				source,
				shared,
				connectedPlatforms: connected,
				homeChannels: homesOf(config.values, connected, prompt.homes),
				redactPii: privacy.redact_pii,
				pseudonymKey: prompt.pseudonymKey,
				tools: toolsFor(OWN_TOOLS, config.values, { profile, platform: source.platform, role: null }),
			}),
		}),
	};
}

function toWireAddress({ profile, platform, account, scope, chatType, chat, thread, participant }: Address) {
	return { profile, platform, account, scope, chat_type: chatType, chat, thread, participant };
}

function policyFields(
	policy: ResetPolicy,
	{ platform, chatType }: Source,
	{ entries }: LoadedConfig,
): PolicyField[] {
	const levels = [
		`session_reset.by_platform.${platform}`,
		`session_reset.by_type.${chatType}`,
		"session_reset",
	];
	return Object.entries(policy).map(([name, value]) => {
		const field = name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
		const entry = levels.map((level) => entries.find(({ key }) => key === `${level}.${field}`)).find(Boolean);
		return {
			field,
			value,
			key: entry?.key ?? `session_reset.${field}`,
			origin: describeOrigin(entry?.origin ?? { kind: "default" }),
		};
	});
}
