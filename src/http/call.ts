// The context of an API call.

import type { z } from "@hono/zod-openapi";
import type { Checkpoints } from "../checkpoints/index.ts";
import type { ConfigView, EditableSetting, ModelProvider, Network } from "../config/index.ts";
import type { Confirmations } from "../confirmations/index.ts";
import type { Standing } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Gateway } from "../gateway/index.ts";
import type { Backups, Retention } from "../keeping/index.ts";
import type { Processes } from "../processes/index.ts";
import type { Schedules } from "../schedules/index.ts";
import type { AuditVia, ConfigChangeEntry, Process, Scope, Store } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { McpServers } from "../tools/index.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Access, Visitor } from "./entry/auth.ts";
import type { Feed } from "./events/feed.ts";
import type { StrangersHealth } from "./health.ts";

/** The services behind the API. Without a gateway everything is read-only. */
export interface ApiHost {
	readonly store: Store;
	/** What prevents the store from accepting anything; null or absent: nothing. */
	readonly storeTrouble?: () => KeryxError | null;
	readonly gateway: Gateway | null;
	readonly confirmations: Confirmations;
	/** Null or absent: no checkpoints. */
	readonly checkpoints?: Checkpoints | null;
	/** Where a conversation's files are, whether or not a gateway runs. */
	readonly workspaceOf?: Gateway["workspaceOf"];
	/** The agent's processes; absent: none. */
	readonly processes?: Processes;
	/** Whether a program runs behind a wider wall than usual for such a person, which was allowed for its start alone; absent: no walls. */
	readonly isBehindWider?: (process: Process, standing: Standing) => Promise<boolean>;
	/** Jobs; absent: none. */
	readonly schedules?: Schedules;
	/** The folder of the built page; may be missing. */
	readonly page?: string;
	/** The time zone for days if a caller names none; default: UTC. */
	readonly timeZone?: () => string;
	/** The profiles, in addition to Keryx's own agent. */
	readonly profiles?: readonly string[];
	/** The current configuration; absent: not available. */
	readonly config?: ConfigView;
	/** The agent's MCP servers; absent: none. */
	readonly mcpServers?: Pick<McpServers, "report" | "retry">;
	/** Adds and removes them in config.yaml; absent: not available. */
	readonly mcpSetup?: McpSetup;
	/** Connects chat platforms; absent: not available. */
	readonly channelSetup?: ChannelSetup;
	/** Connects a model; absent: not available. */
	readonly modelSetup?: ModelSetup;
	/** Changes config.yaml; absent: not available. */
	readonly settings?: SettingsEditor;
	/** What is set up so far; absent: no first run. */
	readonly setup?: () => { readonly model: boolean; readonly chat: boolean };
	/** Makes backups; absent: not available. */
	readonly backups?: Pick<Backups, "make">;
	/** Archives of old conversations; absent: none. */
	readonly archives?: { readonly folder: string; readonly retention: Pick<Retention, "plan" | "run"> };
	/** The agents, Keryx's own first; absent: unknown. */
	readonly answering?: () => readonly AnsweringAgent[];
	/** The models a conversation of a profile may choose. */
	readonly modelChoices?: (profile: string) => Promise<readonly ModelChoice[]>;
	/** The public address of a proxy, and the trusted proxies. */
	readonly publicUrl?: string | null;
	readonly trustedProxies?: readonly string[];
	/** Its network address, or null. */
	readonly url?: () => string | null;
	/** Bridge channels; default: the gateway's. */
	readonly bridge?: Gateway["bridge"];
	/** Webhook routes; absent: none. */
	readonly webhooks?: readonly WebhookRoute[];
	/** Answers /mcp for an admitted caller; absent: no /mcp. */
	readonly mcp?: {
		fetch(
			request: Request,
			caller: {
				/** Asks the API. */
				readonly ask: (request: Request) => Promise<Response>;
				/** The caller's credentials; absent on the socket, whose permission is enough. */
				readonly bearer?: string | undefined;
			},
		): Promise<Response>;
	};
	/** Its holder is the operator. */
	readonly operatorSecret: string;
	/** Signs login links and page keys; default: the operator secret. */
	readonly pageSecret?: string;
	/** Bytes of a body; default 1 MiB. An import over the socket may have any length. */
	readonly bodyLimit?: number;
	/** Bytes of one attachment; default 25 MiB. */
	readonly attachmentLimit?: number;
	/** Requests per caller on a port. */
	readonly ratePerMinute?: number;
	readonly version: string;
	/** The agent, by name. */
	readonly agent: string;
	/** The wall of the agent's commands, in a sentence. */
	readonly walls?: () => Promise<string>;
	readonly startedAt: number;
	readonly now: () => number;
	/** For durations; default: the machine's. */
	readonly monotonic?: () => number;
	/** For timers; default: the machine's. */
	readonly after?: Clock["after"];
}

/** A named webhook, for holders of its secret. */
export interface WebhookRoute {
	readonly name: string;
	readonly secret: string;
	readonly profile: string | null;
	/** With {{body}}, or {{a.b}} for a field of a JSON body; null: the body unchanged. */
	readonly text: string | null;
}

/** Connects chat platforms by writing the configuration. */
export interface McpSetup {
	/** Throws config.invalid, or argument.invalid for a used name. */
	add(name: string, settings: Readonly<Record<string, unknown>>, by: Author): Promise<void>;
	/** Throws store.not_found. */
	remove(name: string, by: Author): Promise<void>;
}

export interface ChannelSetup {
	/** Platforms that need only a token. */
	readonly platforms: readonly string[];
	/** Those that also need an app token, or a signing secret instead. */
	readonly appTokenPlatforms: readonly string[];
	/** Those with their own server: the fields to ask for, and the packages still to install. */
	networks(): readonly (Network & {
		readonly platform: string;
		readonly packages: readonly string[];
		readonly megabytes: number;
	})[];
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
		/** The section of a network, as in the configuration. */
		readonly network?: Readonly<Record<string, string | number | boolean | readonly string[]>> | undefined;
		/** Consent to install the platform's packages. */
		readonly install?: boolean | undefined;
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
	/** Where its commands run, for people. */
	readonly runsOn: string;
}

interface ModelChoice {
	readonly provider: ModelProvider;
	readonly model: string;
}

/** Who makes a change, by their name in the audit. */
export interface Author {
	readonly who: string;
	readonly via: AuditVia;
}

/** New values by dotted key, null for the default; or a past change to undo. */
export type SettingsWanted =
	| { readonly changes: Readonly<Record<string, SettingValue>> }
	| { readonly undo: number };
export type SettingValue = string | number | boolean | null;

/** Changes a few safe keys of config.yaml, and knows who changed what. */
export interface SettingsEditor {
	read(): {
		/** The file's version when read: a write names it, and is refused if the file has changed. */
		readonly version: string;
		readonly settings: readonly (EditableSetting & {
			/** The current value; null: none. */
			readonly value: SettingValue;
			readonly default: SettingValue;
			readonly from: "default" | "file" | "environment";
			/** Why it cannot be changed here. */
			readonly fixed: string | null;
		})[];
		/** What is wrong with the file: nothing can be changed until it is fixed. */
		readonly problem: string | null;
	};
	/** Nothing is written. Secrets are hidden in both texts. */
	preview(wanted: SettingsWanted): Promise<{
		readonly version: string;
		readonly before: string;
		readonly after: string;
		readonly problems: readonly { readonly key: string; readonly message: string }[];
	}>;
	/** Returns the change's number. Throws config.stale if the file is no longer `version`. */
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
	/** Who the token belongs to, from the platform. */
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
	/** Before the path, as /p/<profile>/. */
	readonly profile: string | null;
	readonly signal: AbortSignal;
}

/** The handlers of a table's calls. */
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

/** Resolves after the next commit, or when the signal aborts. */
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
