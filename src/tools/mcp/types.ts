// What a server offers, and how its connection is.
import type { Client, Transport } from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../config/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { Clock } from "../../time/index.ts";
import type { CommandWall } from "../../walls/index.ts";

/** A server that does not answer for so long while it is being connected to, or asked what it has, is given up. */
export const START_MS = 30_000;

export interface McpTool {
	/** As the server calls it. */
	readonly tool: string;
	/** As the model calls it: `<server>__<tool>`. */
	readonly name: string;
	readonly description: string;
	readonly schema: Readonly<Record<string, unknown>>;
	/** By the server's own word, which is a hint and nothing more. */
	readonly isReadOnly: boolean;
}

export interface McpPrompt {
	readonly name: string;
	readonly description: string;
	readonly arguments: readonly { readonly name: string; readonly isRequired: boolean }[];
}

export interface McpResource {
	readonly uri: string;
	readonly name: string;
	readonly description: string;
}

export interface Offer {
	readonly tools: readonly McpTool[];
	readonly prompts: readonly McpPrompt[];
	readonly resources: readonly McpResource[];
	/** What was left out of it, and why, in a sentence each. */
	readonly remarks: readonly string[];
}

export const NOTHING: Offer = { tools: [], prompts: [], resources: [], remarks: [] };

export type ServerState =
	| { readonly kind: "starting" }
	| { readonly kind: "connected"; readonly since: number }
	/** It failed, and is tried again: soon, or once the breaker closes. */
	| { readonly kind: "waiting" | "broken"; readonly why: string; readonly until: number }
	/** A person has to log in first. */
	| { readonly kind: "login"; readonly why: string }
	| { readonly kind: "stopped" };

/** A way to a server that is open. */
export interface Line {
	readonly transport: Transport;
	/** Of its program; null over HTTP. */
	readonly pid: number | null;
	/** Resolves when it is over, with why. Never rejects. */
	readonly over: Promise<string>;
	/** Ends it for this reason. */
	end(why: string): void;
	/** Ends it, with a moment for the program to end by itself; resolves when nothing of it is left. */
	close(): Promise<void>;
}

export interface Connection {
	readonly client: Client;
	readonly line: Line;
}

/** What a server's connection is made with. */
export interface ServerParts {
	readonly clock: Clock;
	readonly version: string;
	readonly secrets: Pick<Secrets, "hide" | "learn">;
	/** A variable of Keryx's environment. */
	variable(name: string): string | undefined;
	/** The folder that the server's program works in; made where it is not there. */
	folderOf(server: string): string;
	/** What its program runs behind. Throws wall.path. */
	wallOf(server: string, settings: McpServerSettings): Promise<CommandWall>;
	/** What is kept for logging in at a server; null where nothing is. */
	readLogin(server: string): string | null;
	writeLogin(server: string, text: string): void;
	log(message: string, error: unknown): void;
}
