import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isShared, resolveAddress } from "../src/domain/address/address.ts";
import type { AliasPair } from "../src/domain/address/aliases.ts";
import { readableKey } from "../src/domain/address/key.ts";
import { describeSource, parseSource } from "../src/domain/address/source.ts";
import { contextPrompt, type HomeChannel } from "../src/domain/prompt/context-prompt.ts";
import { KeryxError } from "../src/errors.ts";

interface KeyCase {
	readonly id: number;
	readonly source: unknown;
	readonly group_sessions_per_user?: boolean;
	readonly thread_sessions_per_user?: boolean;
	readonly profile: string | null;
	readonly aliases: readonly AliasPair[];
	readonly refused?: true;
	readonly key: string;
	readonly shared: boolean;
	readonly description: string;
}

interface PromptCase {
	readonly id: number;
	readonly tag: string;
	readonly source: unknown;
	readonly connected_platforms: readonly string[];
	readonly home_channels: Readonly<Record<string, HomeChannel>>;
	readonly redact_pii: boolean;
	readonly shared: boolean;
	readonly discord_tools_loaded: boolean;
	readonly must_contain: readonly string[];
	readonly must_not_contain: readonly string[];
	readonly pseudonym: boolean;
}

describe("session-keys.json: a recorded source leads to the recorded key", () => {
	const cases = readCases<KeyCase>("session-keys.json");

	it("holds cases of every kind", () => {
		expect(cases.length).toBeGreaterThan(600);
		expect(cases.some((each) => each.refused)).toBe(true);
		expect(cases.some((each) => each.shared)).toBe(true);
		expect(cases.some((each) => each.aliases.length > 0)).toBe(true);
	});

	it.each(cases)("case $id", (each) => {
		const route = () => {
			const source = parseSource(each.source);
			const address = resolveAddress(source, {
				groupSessionsPerUser: each.group_sessions_per_user,
				threadSessionsPerUser: each.thread_sessions_per_user,
				profile: each.profile,
				aliases: each.aliases,
			});
			return {
				key: readableKey(address),
				shared: isShared(address),
				description: describeSource(source),
			};
		};
		if (each.refused) expect(route).toThrow(KeryxError);
		else
			expect(route()).toEqual({
				key: each.key,
				shared: each.shared,
				description: each.description,
			});
	});
});

describe("context-prompts.json: the block states the facts and lets nothing else through", () => {
	const cases = readCases<PromptCase>("context-prompts.json");

	it("holds cases of every kind", () => {
		expect(cases.length).toBeGreaterThan(90);
		expect(cases.some((each) => each.pseudonym)).toBe(true);
		expect(cases.some((each) => each.must_not_contain.some((entry) => entry.startsWith("#")))).toBe(true);
	});

	it.each(cases)("case $id: $tag", (each) => {
		const prompt = contextPrompt({
			source: parseSource(each.source),
			shared: each.shared,
			connectedPlatforms: each.connected_platforms,
			homeChannels: each.home_channels,
			redactPii: each.redact_pii,
			pseudonymKey: new TextEncoder().encode("a key of one installation"),
			tools: each.discord_tools_loaded ? ["discord"] : [],
		});
		for (const fact of each.must_contain) expect(prompt.toLowerCase()).toContain(fact.toLowerCase());
		for (const entry of each.must_not_contain) {
			if (entry.startsWith("#")) {
				for (const line of prompt.split(/[\n\r\u0085\u2028\u2029]/)) {
					expect(line.trimStart().startsWith(entry)).toBe(false);
				}
			} else expect(prompt).not.toContain(entry);
		}
		expect(/user_[0-9a-f]{12}/.test(prompt)).toBe(each.pseudonym);
	});
});

function readCases<Case>(file: string): readonly Case[] {
	const text = readFileSync(new URL(`vectors/${file}`, import.meta.url), "utf8");
	return (JSON.parse(text) as { cases: readonly Case[] }).cases;
}
