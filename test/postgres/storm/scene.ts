// What the tests of a cluster and its gateways agree on.
import type { Script } from "../../../src/testing/index.ts";
import { SCRIPT as TORTURE } from "../../torture/scene.ts";

/** Short, so that take-overs do not make a test long. */
interface Lease {
	readonly seconds: number;
	readonly heartbeat_seconds: number;
}

/** The account of the Telegram peer: the scripted platform of that name has none. */
export const PEER_ACCOUNT = "peer";

/** What the child is told: as JSON in its one argument. */
export interface Orders {
	/** Of the node. */
	readonly name: string;
	readonly home: string;
	readonly url: string;
	readonly lease: Lease;
	/** Where each scripted platform is served. */
	readonly addresses: Readonly<Record<string, string>>;
	/** Null: not on Telegram. */
	readonly telegram: { readonly apiRoot: string; readonly token: string } | null;
	/** One line for each time that the tool with an effect ran: the turn. */
	readonly effects: string;
	/** One line for each tool call and each request to a scripted platform, with the process that made it. Left out: none is kept. */
	readonly acts?: string;
	/** `lane.prefer_ms`; left out: the default. */
	readonly preferMs?: number;
}

const parts = (length: number) => Array.from({ length }, (_, n) => `part ${n}, `);

export const SCRIPT: Script = {
	...TORTURE,
	rules: [
		{
			when: "program",
			steps: [
				{ tools: [{ name: "terminal", input: { command: "echo printed; sleep 300", background: true } }] },
				{ text: "started" },
			],
		},
		{ when: "patient", steps: [{ tools: [{ name: "patience" }] }, { text: "told {{input}}" }] },
		{
			when: "danger",
			steps: [{ tools: [{ name: "terminal", input: { command: "rm -rf nothing" } }] }, { text: "asked" }],
		},
		{ when: "hang", steps: [{ chunks: parts(40), hang: true }] },
		{ when: "story", steps: [{ chunks: parts(600), chunk_delay_ms: 100 }] },
		// The tool is asked for while it stands still, or text comes while it does.
		{
			when: "late",
			steps: [
				{ delay_ms: 500, tools: [{ name: "effect" }] },
				{ chunks: parts(40), chunk_delay_ms: 50 },
			],
		},
		...(TORTURE.rules ?? []),
	],
};

/** Said once it answers. */
export const READY = "ready";
