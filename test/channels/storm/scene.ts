// What the storm and the gateway that it kills agree on.
import type { Script } from "../../../src/testing/index.ts";

/** What the child is told: as JSON in its one argument. */
export interface Orders {
	readonly platform: "telegram" | "slack";
	readonly path: string;
	readonly apiRoot: string;
	readonly token: string;
	/** Of the app, where the platform has one. */
	readonly appToken?: string;
}

/** What the child says, one line each. */
export type Report =
	| { readonly say: "started" | "duplicate" | "drained" }
	| { readonly say: "log"; readonly message: string };

/** Told to the child on its standard input: end when nothing is left to do. */
export const DRAIN = "drain";

export const SCRIPT: Script = {
	rules: [
		{ when: "slow ", steps: [{ chunks: ["answer ", "to ", "{{input}}"], delay_ms: 10, chunk_delay_ms: 15 }] },
	],
	otherwise: [{ text: "answer to {{input}}" }],
};
