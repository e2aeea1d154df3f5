// What a call of the API has at hand.

import type { z } from "@hono/zod-openapi";
import type { Checkpoints } from "../checkpoints/index.ts";
import type { ConfigView, EditableSetting, ModelProvider } from "../config/index.ts";
import type { Confirmations } from "../confirmations/index.ts";
import { KeryxError } from "../errors.ts";
import type { Gateway } from "../gateway/index.ts";
import type { Backups, Retention } from "../keeping/index.ts";
import type { Processes } from "../processes/index.ts";
import type { Schedules } from "../schedules/index.ts";
import type { AuditVia, ConfigChangeEntry, Scope, Store } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { McpServers } from "../tools/index.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Access, Visitor } from "./entry/auth.ts";
import type { Feed } from "./events/feed.ts";
import type { StrangersHealth } from "./health.ts";

/** What stands behind the API. Without a gateway everything can be read and nothing be changed. */
export interface ApiHost {
	readonly store: Store;
	/** What keeps the store from taking anything; left out, or null, nothing does. */
	readonly storeTrouble?: () => KeryxError | null;
	readonly gateway: Gateway | null;
	readonly confirmations: Confirmations;
	/** Without them, or with null, there are no snapshots of files to look at or go back to. */
	readonly checkpoints?: Checkpoints | null;
	/** Where a conversation's files are, whether or not a gateway runs. */
	readonly workspaceOf?: Gateway["workspaceOf"];
	/** What the agent's commands run in; left out, there are none to see. */
	readonly processes?: Processes;
	/** Jobs; left out, there are none to see. */
	readonly schedules?: Schedules;
	/** The folder of the built page; it need not be there. */
	readonly page?: string;
	/** Whose days are counted where a caller names no zone; left out, UTC. */
	readonly timeZone?: () => string;
	/** The agents that can be named beside Keryx's own. */
	readonly profiles?: readonly string[];
	/** What it goes by; left out, that cannot be looked at. */
	readonly config?: ConfigView;
	/** The MCP servers that the agent uses; left out, there are none. */
	readonly mcpServers?: Pick<McpServers, "report" | "retry">;
	/** Adds and removes them in config.yaml; left out, that cannot be done from here. */
	readonly mcpSetup?: McpSetup;
	/** Connects chat platforms; left out, that cannot be done from here. */
	readonly channelSetup?: ChannelSetup;
	/** Connects a model; left out, that cannot be done from here. */
	readonly modelSetup?: ModelSetup;
	/** Changes config.yaml; left out, that cannot be done from here. */
	readonly settings?: SettingsEditor;
	/** What is set up by now; left out, nobody is led through a first run. */
	readonly setup?: () => { readonly model: boolean; readonly chat: boolean };
	/** Makes backups; left out, that cannot be done from here. */
	readonly backups?: Pick<Backups, "make">;
	/** Archives of old conversations; left out, there are none. */
	readonly archives?: { readonly folder: string; readonly retention: Pick<Retention, "plan" | "run"> };
	/** What answers, Keryx's own first; left out, nothing is known of it. */
	readonly answering?: () => readonly AnsweringAgent[];
	/** Which models a conversation of a profile may choose from. */
	readonly modelChoices?: (profile: string) => Promise<readonly ModelChoice[]>;
	/** Where a proxy in front of it is reached, and which proxies are believed. */
	readonly publicUrl?: string | null;
	readonly trustedProxies?: readonly string[];
	/** Where it is reached over the network, or null. */
	readonly url?: () => string | null;
	/** Channels that a program outside speaks for; left out: those of the gateway. */
	readonly bridge?: Gateway["bridge"];
	/** Routes by which messages come in; left out, there are none. */
	readonly webhooks?: readonly WebhookRoute[];
	/** Answers a request of /mcp for a caller who was let in; left out, there is no /mcp. */
	readonly mcp?: {
		fetch(
			request: Request,
			caller: {
				/** Asks the API. */
				readonly ask: (request: Request) => Promise<Response>;
				/** What the caller showed; left out on the socket, whose permission speaks for it. */
				readonly bearer?: string | undefined;
			},
		): Promise<Response>;
	};
	/** Who has it is the operator. */
	readonly operatorSecret: string;
	/** Bytes of a body, 1 MiB unless told otherwise. An import over the socket may be of any length. */
	readonly bodyLimit?: number;
	/** Bytes of one attachment, 25 MiB unless told otherwise. */
	readonly attachmentLimit?: number;
	/** Requests of one caller on a port. */
	readonly ratePerMinute?: number;
	readonly version: string;
	/** What answers, by its name. */
	readonly agent: string;
	/** What the agent's commands run behind, in a sentence. */
	readonly walls?: () => Promise<string>;
	readonly startedAt: number;
	readonly now: () => number;
	/** For durations; left out: the machine's. */
	readonly monotonic?: () => number;
	/** For timers; left out: the machine's. */
	readonly after?: Clock["after"];
}

/** A way in by its name, for whoever has its secret. */
export interface WebhookRoute {
	readonly name: string;
	readonly secret: string;
	readonly profile: string | null;
	/** With {{body}}, or {{a.b}} for what stands there in a body of JSON; null: the body as it is. */
	readonly text: string | null;
}

/** Connects chat platforms by writing the configuration. */
export interface McpSetup {
	/** Throws config.invalid, or argument.invalid for a name that is taken. */
	add(name: string, settings: Readonly<Record<string, unknown>>, by: Author): Promise<void>;
	/** Throws store.not_found. */
	remove(name: string, by: Author): Promise<void>;
}

export interface ChannelSetup {
	/** Platforms that can be added by a token alone. */
	readonly platforms: readonly string[];
	/** Those of them that need a token of the app beside the bot's, or a signing secret in its place. */
	readonly appTokenPlatforms: readonly string[];
	add(wanted: {
		readonly platform: string;
		readonly name?: string | undefined;
		readonly account?: string | undefined;
		readonly token?: string | undefined;
		readonly appToken?: string | undefined;
		readonly signingSecret?: string | undefined;
		readonly webhookUrl?: string | undefined;
		readonly apiRoot?: string | undefined;
		readonly serverPassword?: string | undefined;
		/** The network, for IRC; as in the configuration. */
		readonly irc?:
			| {
					readonly server: string;
					readonly port?: number;
					readonly tls?: boolean;
					readonly nick: string;
					readonly login?: string;
					readonly join?: readonly string[];
			  }
			| undefined;
		readonly by: Author;
	}): Promise<ChannelFound>;
	test(name: string): Promise<ChannelFound>;
	remove(name: string, by: Author): Promise<void>;
}

export interface AnsweringAgent {
	/** "": Keryx's own. */
	readonly profile: string;
	readonly agent: string;
	readonly provider: ModelProvider | null;
	readonly model: string | null;
	/** Where its commands run, as people read it. */
	readonly runsOn: string;
}

interface ModelChoice {
	readonly provider: ModelProvider;
	readonly model: string;
}

/** Who changes something, as the audit calls them. */
export interface Author {
	readonly who: string;
	readonly via: AuditVia;
}

/** New values by dotted key, null for the default; or a change of the history that is taken back. */
export type SettingsWanted =
	| { readonly changes: Readonly<Record<string, SettingValue>> }
	| { readonly undo: number };
export type SettingValue = string | number | boolean | null;

/** Changes config.yaml by a few keys that are safe to change, and knows who changed what. */
export interface SettingsEditor {
	read(): {
		/** Of the file, as it was read: a write names it, and is refused where the file is another by then. */
		readonly version: string;
		readonly settings: readonly (EditableSetting & {
			/** In force; null: none. */
			readonly value: SettingValue;
			readonly default: SettingValue;
			readonly from: "default" | "file" | "environment";
			/** Why it cannot be changed here. */
			readonly fixed: string | null;
		})[];
		/** What is wrong with the file: nothing can be changed until it is right. */
		readonly problem: string | null;
	};
	/** Nothing is written. Secrets are hidden in both texts. */
	preview(wanted: SettingsWanted): Promise<{
		readonly version: string;
		readonly before: string;
		readonly after: string;
		readonly problems: readonly { readonly key: string; readonly message: string }[];
	}>;
	/** Answers the number of the change. Throws config.stale where the file is not `version` any more. */
	write(wanted: SettingsWanted, version: string, by: Author): Promise<number>;
	/** The newest first. */
	history(): Promise<readonly (ConfigChangeEntry & { readonly fixed: string | null })[]>;
}

/** Connects a model by writing the configuration. */
export interface ModelSetup {
	current(): {
		readonly kind: string;
		readonly provider: ModelProvider | null;
		readonly model: string | null;
		readonly base_url: string | null;
		readonly providers: readonly {
			readonly provider: ModelProvider;
			readonly needs_key: boolean;
			readonly needs_address: boolean;
			readonly has_key: boolean;
			readonly suggested: string;
		}[];
	};
	list(from: Omit<ModelWanted, "model">, signal: AbortSignal): Promise<readonly string[]>;
	take(
		wanted: ModelWanted & { readonly by: Author },
		signal: AbortSignal,
	): Promise<{ readonly provider: ModelProvider; readonly model: string; readonly ms: number }>;
}

interface ModelWanted {
	readonly provider: ModelProvider;
	readonly model: string;
	readonly baseUrl?: string | undefined;
	readonly key?: string | undefined;
}

export interface ChannelFound {
	readonly name: string;
	/** Who the platform says the token is. */
	readonly who: string;
	readonly remarks: readonly string[];
}

export interface Call {
	readonly host: ApiHost;
	readonly feed: Feed;
	readonly health: StrangersHealth;
	readonly access: Access;
	readonly visitor: Visitor;
	readonly scope: Scope;
	/** Stands before the path, as /p/<profile>/. */
	readonly profile: string | null;
	readonly signal: AbortSignal;
}

/** What answers the calls of a table. */
export type HandlersOf<Table extends Readonly<Record<string, Endpoint>>> = {
	readonly [Name in keyof Table]: (
		input: z.output<Table[Name]["input"]>,
		call: Call,
	) => Promise<z.output<Table[Name]["answer"]>> | z.output<Table[Name]["answer"]>;
};

export function running({ gateway }: ApiHost): Gateway {
	if (gateway) return gateway;
	throw new KeryxError("gateway.stopped", "Keryx is not running, so nothing can be changed", {
		hint: "start Keryx, then try again",
	});
}

export function operator(scope: Scope): Extract<Scope, { kind: "operator" }> {
	if (scope.kind === "operator") return scope;
	throw new KeryxError("store.not_found", "there is nothing here for you");
}

/** Resolves after the next commit, or when the signal says to wait no longer. */
export function nextCommit(store: Store, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			unlisten();
			signal.removeEventListener("abort", done);
			resolve();
		};
		const unlisten = store.onCommit(done);
		signal.addEventListener("abort", done);
		if (signal.aborted) done();
	});
}
