// What a server offers, and the state of its connection.
import type { Client, Transport } from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../config/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { Clock } from "../../time/index.ts";
import type { CommandWall } from "../../walls/index.ts";

/** A server silent for this long while connecting or listing is given up. */
export const START_MS = 30_000;

export interface McpTool {
	/** The server's own name for it. */
	readonly tool: string;
	/** The model's name for it: `<server>__<tool>`. */
	readonly name: string;
	readonly description: string;
	readonly schema: Readonly<Record<string, unknown>>;
	/** The server's own claim, which is only a hint. */
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
	/** What was left out, and why, one sentence each. */
	readonly remarks: readonly string[];
}

export const NOTHING: Offer = { tools: [], prompts: [], resources: [], remarks: [] };

export type ServerState =
	| { readonly kind: "starting" }
	| { readonly kind: "connected"; readonly since: number }
	/** It failed, and is retried: soon, or once the breaker closes. */
	| { readonly kind: "waiting" | "broken"; readonly why: string; readonly until: number }
	/** A person has to log in first. */
	| { readonly kind: "login"; readonly why: string }
	| { readonly kind: "stopped" };

/** An open connection to a server. */
export interface Line {
	readonly transport: Transport;
	/** Its program's pid; null over HTTP. */
	readonly pid: number | null;
	/** Resolves when it is over, with the reason. Never rejects. */
	readonly over: Promise<string>;
	/** Ends it for this reason. */
	end(why: string): void;
	/** Stops it, with a moment for the program to exit by itself; resolves when nothing of it is left. */
	close(): Promise<void>;
}

export interface Connection {
	readonly client: Client;
	readonly line: Line;
}

/** The inputs of a server's connection. */
export interface ServerParts {
	readonly clock: Clock;
	readonly version: string;
	readonly secrets: Pick<Secrets, "hide" | "forOthers" | "isIn" | "changes" | "learn" | "stream">;
	/** A variable of Keryx's environment. */
	variable(name: string): string | undefined;
	/** The folder of the server's program; created if missing. */
	folderOf(server: string): string;
	/** Its program's wall. Throws wall.path. */
	wallOf(server: string, settings: McpServerSettings): Promise<CommandWall>;
	/** The stored login of a server; null if none. */
	readLogin(server: string): string | null;
	writeLogin(server: string, text: string): void;
	log(message: string, error: unknown): void;
}
