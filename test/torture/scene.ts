// What the torture test and the gateway that it kills agree on: the platforms, what is said and how it is answered.
import type { ChannelAbilities, Script } from "../../src/testing/index.ts";

/** One that can be asked what became of a delivery, one that cannot, and one that can do neither that nor edit. */
export const PLATFORMS: Readonly<Record<string, ChannelAbilities>> = {
	telegram: { lookup: true, window: 8 },
	slack: { window: 4 },
	discord: { edit: false, readFrom: "cursor" },
};

/** What the child is told: as JSON in its one argument. */
export interface Orders {
	/** Of the store. */
	readonly url: string;
	/** Where each platform is served. */
	readonly addresses: Readonly<Record<string, string>>;
	/** One line for each time that the tool with an effect ran. */
	readonly effects: string;
	/** Ends itself the hard way at this write, counted from 1; 0: somebody else does. */
	readonly killAt: number;
	readonly killWhen: "before" | "after";
}

/** What the child says, one line each. */
export type Report =
	| { readonly say: "duplicate" | "drained" }
	| { readonly say: "log"; readonly message: string; readonly error: string };

/** Told to the child on its standard input: say so when nothing is left to do, and end. */
export const DRAIN = "drain";

export type Kind = "plain" | "slow" | "tool" | "fail" | "throw";

const ANSWER = "answer to {{input}}";
export const SCRIPT: Script = {
	rules: [
		{ when: "fail ", steps: [{ fail: { kind: "provider_down", detail: "as told" } }] },
		{ when: "throw ", steps: [{ throws: "as told" }] },
		{ when: "tool ", steps: [{ text: "one moment", tools: [{ name: "effect" }] }, { text: ANSWER }] },
		{ when: "slow ", steps: [{ chunks: ["answer ", "to ", "{{input}}"], delay_ms: 10, chunk_delay_ms: 15 }] },
	],
	otherwise: [{ text: ANSWER }],
};

/** How a turn that the agent failed ends in the store. */
export const SCRIPTED_FAILURES: Readonly<Partial<Record<Kind, string>>> = {
	fail: "provider_down: as told",
	throw: "malformed: as told",
};
