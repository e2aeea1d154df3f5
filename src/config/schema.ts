// Every key of config.yaml with its type and default. One line here is enough for the file, the environment, `keryx config` and the check
// for unknown keys. Keys marked `.meta(RESTART)` are read once, at the start; all others take effect as soon as the file changes.

import { isIP } from "node:net";
import { z } from "zod";
import { ACTION_ALPHABET, actionName, isPlatformName, parseTarget, readHostRule } from "../domain/index.ts";
import { channelNameSchema, channelProblems, channelSchema } from "./channels/channels.ts";
import { keyTree } from "./keys.ts";
import {
	type McpServerSettings,
	mcpProblems,
	mcpServerNameSchema,
	mcpServerSchema,
	mcpVariables,
} from "./mcp.ts";
import { modelKeys, priceSchema, USUAL_KEY_VARIABLES, variableSchema } from "./models.ts";
import { sessionResetSchema } from "./session-reset.ts";

const RESTART = { restart: true } as const;
/** Map entries that take effect as soon as they are written, and stay until a restart once removed. */
const COMES = { comes: true } as const;

/** Who answers: for Keryx itself, and for each profile. */
const agentKeys = z.strictObject({
	/** Default: ai-sdk if a provider or a model is named, otherwise offline. */
	kind: z.enum(["offline", "ai-sdk", "acp", "scripted"]).optional(),
	provider: modelKeys.provider.optional(),
	model: modelKeys.model.optional(),
	base_url: modelKeys.base_url,
	/** Its value is read at every step and not kept. */
	api_key_env: modelKeys.api_key_env,
	api_key_file: modelKeys.api_key_file,
	/** Tried in this order, once each, if the model above does not answer. */
	failover: z.array(z.strictObject(modelKeys)).default([]),
	retries: whole(0, 10).default(2),
	temperature: z.number().min(0).max(2).optional(),
	max_output_tokens: whole(1, 10_000_000).optional(),
	/** The model's context window, in tokens. */
	context_window: whole(1000, 100_000_000).default(128_000),
	/** How much the model thinks; default: the provider decides. */
	reasoning: z.enum(["none", "low", "medium", "high", "max"]).optional(),
	/** By model, per million tokens; overrides Keryx's table. */
	prices: z.record(z.string(), priceSchema).default({}),
	/** The program of an acp agent, and its arguments. */
	command: z.string().min(1).optional(),
	args: z.array(z.string()).default([]),
	/** Secret variables that the program may see anyway. */
	env_pass: z.array(variableSchema).default([]),
	/** A program that does not listen within this time is ended. */
	start_seconds: whole(5, 600).default(60),
	/** A program without a prompt for this long is stopped. */
	idle_minutes: whole(1, 10_080).default(15),
	/** Programs that may run at once. */
	max_programs: whole(1, 1000).default(8),
	/** The file of a scripted agent. */
	script: z.string().optional(),
	/** The wall for an acp agent's program. */
	wall: z.enum(["view", "mask", "box"]).default("mask"),
	instructions: z.string().optional(),
	max_steps: whole(1, 10_000).default(60),
});

/** Whether a named model should answer. Missing settings are reported when the agent is created. */
const agentSchema = agentKeys.transform((agent) => {
	const namesModel = agent.provider !== undefined || agent.model !== undefined;
	return { ...agent, kind: agent.kind ?? (namesModel ? ("ai-sdk" as const) : ("offline" as const)) };
});

const boxHostSchema = z
	.string()
	.refine(
		(host) => readHostRule(host) !== null,
		"must be a host such as example.org, *.example.org or example.org:8443",
	);
const wallPathSchema = z
	.string()
	.regex(/^(\/|~\/|~$)/, "must be absolute, or start with ~/")
	.refine((path) => !path.includes("\0"), "must not contain a NUL character");

const privateHostSchema = z
	.string()
	.refine(
		isHostOrRange,
		"must be the name of a host, an address, or a range of addresses such as 10.1.0.0/16",
	);

function isHostOrRange(text: string): boolean {
	const [address = "", bits, ...rest] = text.split("/");
	const version = isIP(address);
	if (version === 0) return /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text);
	const most = version === 4 ? 32 : 128;
	return rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most));
}

/** Where the agent's programs work. */
const workspaceSchema = z.strictObject({
	mode: z.enum(["per_conversation", "shared", "fixed"]).default("per_conversation").meta(RESTART),
	path: z.string().min(1).optional().meta(RESTART),
});

const remotePathSchema = z
	.string()
	.regex(/^\/[^\0\n]*$/, "must be an absolute path on the other machine, such as /home/deploy/work");

/** Where the agent's commands run. */
const terminalSchema = z
	.strictObject({
		backend: z.enum(["local", "ssh", "docker", "podman"]).default("local").meta(RESTART),
		/** The account on the other machine is the wall. */
		ssh: z
			.strictObject({
				host: z
					.string()
					.regex(/^[^\s@-][^\s@]*$/, "must be the name or address of a host")
					.meta(RESTART),
				user: z
					.string()
					.regex(/^[^\s@-][^\s@]*$/, "must be the name of a user")
					.optional()
					.meta(RESTART),
				port: whole(1, 65_535).default(22).meta(RESTART),
				/** Default: the keys and ssh agent of the user who runs Keryx. */
				key_file: wallPathSchema.optional().meta(RESTART),
				known_hosts_file: wallPathSchema.optional().meta(RESTART),
				/** Where commands start. */
				folder: remotePathSchema.meta(RESTART),
			})
			.optional(),
		/** Each command gets its own container, which sees only the workspace of this machine. */
		container: z
			.strictObject({
				/** It needs /bin/sh, and Keryx never pulls it. */
				image: z
					.string()
					.regex(/^[A-Za-z0-9][\w./:@-]{0,254}$/, "must be the name of an image, such as debian:12")
					.meta(RESTART),
				/** none: only the container's loopback. on: the engine's usual network. */
				network: z.enum(["none", "on"]).default("none").meta(RESTART),
				memory_mb: whole(16, 1_048_576).default(2048).meta(RESTART),
				cpus: z.number().min(0.1).max(1024).default(2).meta(RESTART),
				max_processes: whole(4, 100_000).default(256).meta(RESTART),
			})
			.optional(),
	})
	.refine(({ backend, ssh }) => backend !== "ssh" || ssh !== undefined, {
		path: ["ssh"],
		error: "must be given when the backend is ssh: host and folder",
	})
	.refine(
		({ backend, container }) => (backend !== "docker" && backend !== "podman") || container !== undefined,
		{ path: ["container"], error: "must be given when the backend is docker or podman: image" },
	);

const profileNameSchema = z
	.string()
	.regex(
		/^[a-z0-9][a-z0-9_-]{0,63}$/,
		"must be 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit",
	)
	.refine((name) => name !== "default", "must be another name: default means no profile");

/** Who may speak on one platform. */
const authSchema = z.strictObject({
	allow: z
		.array(
			z.union([z.string(), z.strictObject({ id: z.string(), role: z.enum(["owner", "member", "guest"]) })]),
		)
		.default([]),
	allow_all: z.boolean().default(false),
	groups: z.array(z.string()).default([]),
	roles: z.record(z.string(), z.enum(["owner", "member", "guest"])).default({}),
	allow_bots: z.boolean().default(false),
	/** An unknown person who writes directly gets a code; the owner uses it to let them in. */
	pairing: z.boolean().default(true),
});
const USUAL_RULES = authSchema.parse({});

/** The defaults apply if a platform is connected and `auth` does not mention it. Undefined: nobody may speak there. */
export function authRules(
	{ auth, channels }: Pick<Config, "auth" | "channels">,
	platform: string,
): z.output<typeof authSchema> | undefined {
	if (Object.hasOwn(auth, platform)) return auth[platform];
	return Object.values(channels).some((one) => one.platform === platform) ? USUAL_RULES : undefined;
}

const wallSchema = z.enum(["view", "mask", "box"]);
const wallsByRoleSchema = z.partialRecord(z.enum(["owner", "member", "guest"]), wallSchema);
/** Grants never cover actions in the name of these. */
const actionToConfirm = z
	.string()
	.refine((name) => actionName(name) !== null, { error: `an action may contain only ${ACTION_ALPHABET}` });
/** `origin` needs no permission. */
const targetToAllow = z.string().refine(
	(text) => {
		// Every chat of a platform, or of one connection to it.
		if (text.endsWith(":*")) return isPlatformName(text.slice(0, -2).replace(/@[A-Za-z0-9_.-]{1,64}$/, ""));
		const target = parseTarget(text);
		return !("problem" in target) && target.kind !== "origin";
	},
	{ error: "must be local, a platform, platform:*, platform:chat, platform:chat:thread or conversation:id" },
);
const ALWAYS_CONFIRM = [
	"deploy_production",
	"delete_data",
	"transfer_funds",
	"modify_permissions",
	"shutdown_service",
	"wipe_database",
	"exec_remote",
	"publish_package",
	"rotate_keys",
	"migrate_database",
];

/** Everything has a default, whole sections too. */
export const configSchema = z
	.strictObject({
		session_reset: sessionResetSchema
			.prefault({})
			.transform((section) => ({ ...section, timezone: section.timezone ?? hostTimeZone() ?? "UTC" })),
		/** Seconds within which an interrupted turn is continued; 0 or less: always. */
		auto_continue_freshness: z.number().default(3600),
		routing: z
			.strictObject({
				group_sessions_per_user: z.boolean().default(true),
				thread_sessions_per_user: z.boolean().default(false),
				/** Whose sessions /resume finds: this conversation's, or the person's. */
				resume_scope: z.enum(["conversation", "principal"]).default("principal"),
			})
			.prefault({}),
		agent: agentSchema.prefault({}),
		workspace: workspaceSchema
			.extend({
				/** Where Keryx creates its folders, for every profile. Not in its home, which commands cannot see. */
				root: wallPathSchema.optional().meta(RESTART),
			})
			.prefault({}),
		/** Several agents in one Keryx, by name: each with its own settings, tools and instructions; nothing of one reaches another. */
		profiles: z
			.record(
				profileNameSchema,
				z.strictObject({
					agent: agentSchema.prefault({}),
					/** Names of tools; default: tools.enabled. */
					tools: z.array(z.string()).optional(),
					/** Default: as in terminal. */
					terminal: terminalSchema.optional(),
					workspace: workspaceSchema
						.prefault({})
						.refine(
							({ mode, path }) => mode !== "shared" || path !== undefined,
							"must have a path when its mode is shared, so that it does not see other profiles' files",
						),
				}),
			)
			.default({})
			.meta(COMES),
		/** Where commands run: on this machine, or on another over ssh. */
		terminal: terminalSchema.prefault({}),
		/** Which profile a message goes to: the first rule that matches. A missing field matches everything. */
		profile_rules: z
			.array(
				z.strictObject({
					profile: profileNameSchema,
					platform: z.string().optional(),
					account: z.string().optional(),
					scope: z.string().optional(),
					chat: z.string().optional(),
					thread: z.string().optional(),
					user: z.string().optional(),
				}),
			)
			.default([]),
		/** Text for the agent by platform, chat and thread, as `platform`, `platform/chat` or `platform/chat/thread`. */
		instructions: z.record(z.string(), z.string()).default({}),
		tools: z
			.strictObject({
				/** Left out: all. */
				enabled: z.array(z.string()).optional(),
				by_platform: z.record(z.string(), z.array(z.string())).default({}),
				by_role: z.partialRecord(z.enum(["owner", "member", "guest"]), z.array(z.string())).default({}),
			})
			.prefault({}),
		/** Servers of the Model Context Protocol, by a name of the operator's choice. */
		mcp: z.strictObject({ servers: z.record(mcpServerNameSchema, mcpServerSchema).default({}) }).prefault({}),
		turn: z
			.strictObject({
				max_minutes: whole(1, 10_080).default(30),
				first_token_seconds: whole(1, 86_400).default(120),
				model_seconds: whole(1, 86_400).default(600),
				tool_seconds: whole(1, 86_400).default(300),
				max_answer_mb: whole(1, 64).default(2),
			})
			.prefault({}),
		gateway: z
			.strictObject({
				max_turns: whole(1, 10_000).default(32),
				/** Messages of one sender within this time become one turn; not on built-in channels. */
				batch_ms: whole(0, 60_000).default(350),
				batch_cap_ms: whole(0, 60_000).default(1000),
				busy: z.enum(["queue", "interrupt", "steer"]).default("queue"),
			})
			.prefault({}),
		inbox: z.strictObject({ max_age_minutes: whole(1, 525_600).default(720) }).prefault({}),
		outbox: z
			.strictObject({
				max_attempts: whole(1, 1000).default(8),
				max_age_minutes: whole(1, 525_600).default(1440),
			})
			.prefault({}),
		loop: z.strictObject({ max_repeats: whole(1, 1000).default(5) }).prefault({}),
		/** Older messages are replaced by a summary when the prompt exceeds this share of the model's window. */
		compaction: z
			.strictObject({
				enabled: z.boolean().default(true),
				threshold: z.number().min(0.1).max(1).default(0.8),
				/** This many messages at the end are never summarised. */
				keep_last: whole(1, 10_000).default(20),
			})
			.prefault({}),
		/** How the page's chats get their titles. */
		titles: z
			.strictObject({
				/** The model names a chat on the page after its first exchange. */
				by_model: z.boolean().default(true),
				/** A cheaper model of the same provider for this; default: the model that answers. */
				model: z.string().min(1).optional(),
			})
			.prefault({}),
		/** Chat platforms, by a name of the operator's choice. */
		channels: z.record(channelNameSchema, channelSchema).default({}),
		/** Who may speak, by platform. */
		auth: z.record(z.string(), authSchema).default({}),
		/** How dangerous calls are handled: ask about each, run only non-mutating ones, or never ask. */
		approvals: z.strictObject({ mode: z.enum(["manual", "readonly", "off"]).default("manual") }).prefault({}),
		confirmations: z
			.strictObject({
				/** Seconds to answer, unless the request says otherwise. */
				default_timeout: whole(30, 3600).default(300),
				/** Never covered by a grant. */
				always_confirm: z.array(actionToConfirm).default(ALWAYS_CONFIRM),
				/** Requests within an hour: of one caller for one action, and in total. */
				rate_limit: whole(1, 100_000).default(10),
				global_limit: whole(1, 1_000_000).default(1000),
				/** An unused approval expires after this. */
				use_within_minutes: whole(1, 10_080).default(15),
				/** Who is told about a request: chats of approvers, webhooks. */
				notify: z
					.array(
						z.union([
							z.strictObject({
								platform: z.string().min(1),
								chat_id: z.string().min(1),
								account: z.string().default(""),
								thread_id: z.string().optional(),
							}),
							z.strictObject({ webhook: z.url({ protocol: /^https?$/ }), secret_env: variableSchema }),
						]),
					)
					.default([]),
				/** A second listener on loopback that takes requests and reports their status without a token; null: none. */
				compat_port: whole(1, 65_535).nullable().default(null).meta(RESTART),
			})
			.prefault({}),
		/** Programs that the agent starts. */
		processes: z
			.strictObject({
				max_running: whole(1, 10_000).default(64),
				max_per_conversation: whole(1, 10_000).default(16),
				/** Per process; beyond it the middle of its output is cut. */
				max_log_mb: whole(1, 10_000).default(64),
				/** Ended ones are kept this long, with their logs. */
				keep_days: whole(0, 36_500).default(7),
				/** What happens to running ones when Keryx stops. */
				on_shutdown: z.enum(["keep", "kill"]).default("keep"),
				/** The longest the agent waits for one at a time. */
				wait_limit_seconds: whole(1, 86_400).default(180),
			})
			.prefault({}),
		/** Jobs that run when nobody is writing. */
		schedule: z
			.strictObject({
				/** Per person, without ended ones. */
				max_jobs: whole(0, 1_000_000).default(100),
				/** No job runs more often. */
				min_interval_seconds: whole(1, 86_400).default(60),
				/** Runs at once, for all jobs together. */
				max_running: whole(1, 1000).default(4),
				/** A job is paused after this many failures in a row. */
				disable_after: whole(1, 1000).default(5),
				/** The history of runs is kept this long. */
				keep_days: whole(1, 36_500).default(90),
			})
			.prefault({}),
		/** Pages that the agent reads with web_fetch. */
		web: z
			.strictObject({
				/** Private names, addresses and ranges that may be fetched anyway. */
				allow_private: z.array(privateHostSchema).default([]),
				/** A longer page is cut. */
				max_mb: whole(1, 50).default(5),
				/** Per page, redirects included. */
				timeout_seconds: whole(1, 300).default(30),
			})
			.prefault({}),
		/** The walls between the agent's commands and Keryx. */
		walls: z
			.strictObject({
				/** auto: where no wall can be made, only the owner has a terminal, and it asks. required: no wall, no command. */
				mode: z.enum(["auto", "required", "off"]).default("auto"),
				/** By role of the person a turn acts for; default: owner view, member and guest box. */
				by_role: wallsByRoleSchema.default({}),
				/** The same for one profile; overrides by_role. */
				by_profile: z.record(profileNameSchema, wallsByRoleSchema).default({}),
				/** Also visible in a box. */
				read: z.array(wallPathSchema).default([]),
				/** Writable in every wall. */
				write: z.array(wallPathSchema).default([]),
				/** Hidden in every wall, like Keryx's home: backups, for example. */
				hide: z.array(wallPathSchema).default([]),
				/** For view and mask. A guest has none. */
				network: z.enum(["on", "off"]).default("on"),
				/** For a box, except for guests: none, a separate one if pasta can make it, or the hosts that a proxy allows. */
				box_network: z.union([z.enum(["off", "on"]), z.array(boxHostSchema).min(1)]).default("off"),
				/** Variables of Keryx's environment that commands see, such as a proxy or JAVA_HOME. */
				env_pass: z.array(variableSchema).default([]),
				/** Makes docker, tmux and agents available again; each is a way around the wall. */
				unix_sockets: z.enum(["on", "off"]).default("off"),
				/** admin: a Keryx that runs as root lets its owner administer: chown, apt install, su. */
				root: z.enum(["plain", "admin"]).default("plain"),
				limits: z
					.strictObject({
						/** Per process; null: the system's limit. */
						open_files: whole(16, 10_000_000).nullable().default(null),
						memory_mb: whole(16, 100_000_000).nullable().default(null),
						/** For a program and everything it starts, if a cgroup can be made; null: none. Entering one takes about 15 ms. */
						processes: whole(16, 4_000_000).nullable().default(null),
						total_memory_mb: whole(16, 100_000_000).nullable().default(null),
					})
					.prefault({}),
			})
			.prefault({}),
		/** Snapshots of the folder that the agent works in. */
		checkpoints: z
			.strictObject({
				enabled: z.boolean().default(true).meta(RESTART),
				/** Per workspace; beyond these the oldest are deleted. */
				max_snapshots: whole(2, 10_000).default(20),
				max_total_mb: whole(1, 1_000_000).default(500),
				/** A larger file is not saved. */
				max_file_mb: whole(1, 10_000).default(10),
				/** A workspace with more files has no checkpoints. */
				max_files: whole(1, 10_000_000).default(50_000),
			})
			.prefault({}),
		/** Where the API listens. A token is needed on every address, loopback or not. */
		http: z
			.strictObject({
				host: z.string().min(1).default("127.0.0.1").meta(RESTART),
				/** 0: any free port, printed at the start. */
				port: whole(0, 65_535).default(7717).meta(RESTART),
				body_limit_mb: whole(1, 100).default(1).meta(RESTART),
				/** Per attached file, on any channel. */
				attachment_limit_mb: whole(1, 2000).default(25).meta(RESTART),
				/** The public address of a proxy in front of Keryx, such as https://bot.example.org. */
				public_url: z
					.string()
					.refine(isOrigin, "must be an address such as https://bot.example.org, without a path")
					.transform((url) => new URL(url).origin)
					.optional()
					.meta(RESTART),
				/** Proxies whose forwarded headers are trusted: addresses, or networks such as 10.0.0.0/8. */
				trusted_proxies: z
					.array(z.string().refine(isNetwork, "must be an IP address, or a network such as 10.0.0.0/8"))
					.default([])
					.meta(RESTART),
				/** Requests of one caller. */
				rate_per_minute: whole(1, 1_000_000).default(600).meta(RESTART),
			})
			.prefault({}),
		/** Incoming webhooks by name: POST /hooks/<name>. */
		webhooks: z
			.record(
				z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be 1 to 64 of a-z, 0-9, _ and -"),
				z.strictObject({
					/** The variable with the signing secret. */
					secret_env: variableSchema.meta(RESTART),
					profile: profileNameSchema.optional().meta(RESTART),
					/** The message, with {{body}} or {{a.b}} of a JSON body; default: the body. */
					text: z.string().min(1).max(10_000).optional().meta(RESTART),
				}),
			)
			.default({}),
		home_channels: z
			.record(
				z.string(),
				z.strictObject({ chat_id: z.string(), name: z.string(), thread_id: z.string().optional() }),
			)
			.default({}),
		/** Messages that the agent sends by itself. */
		send: z
			.strictObject({
				/**
				 * Targets that need no confirmation: `telegram` (its home channel), `telegram:*`, `slack:C123`, `conversation:<id>`,
				 * `local`.
				 */
				allow: z.array(targetToAllow).default([]),
			})
			.prefault({}),
		display: z
			.strictObject({
				streaming: z.boolean().default(true),
				/** How tool calls are shown: each with its arguments, the current one, or none. */
				tool_progress: z.enum(["all", "new", "off"]).default("new"),
			})
			.prefault({}),
		/** Webhooks: programs that are told what happens. */
		hooks: z
			.array(z.strictObject({ on: z.array(z.string()), command: z.array(z.string()).min(1) }))
			.default([])
			.meta(RESTART),
		/** Where the data is. */
		store: z
			.strictObject({
				/** sqlite: is the file in Keryx's home. A password in it is hidden wherever it is shown. */
				url: z
					.string()
					.regex(
						/^(?:sqlite:|postgres(?:ql)?:\/\/\S+)$/,
						"must be sqlite: or postgres://<user>@<host>/<database>",
					)
					.default("sqlite:"),
				/** many: several gateways share a store on a server; each must set this. */
				nodes: z.enum(["one", "many"]).default("one"),
			})
			.prefault({})
			.meta(RESTART),
		/** This gateway among several. */
		node: z
			.strictObject({
				/** Shown to people, and names what runs here; each gateway has its own. Left out: the machine's name and Keryx's home. */
				name: z
					.string()
					.regex(/^[^\s\p{Cc}][^\p{Cc}]{0,62}$/u, "must be 1 to 63 characters")
					.optional(),
			})
			.prefault({})
			.meta(RESTART),
		/** How soon others take over from a gateway that is silent. */
		lease: z
			.strictObject({
				/** So long a gateway that is silent is left alone. */
				seconds: whole(2, 300).default(10),
				/** How often the lease is renewed. */
				heartbeat_seconds: z.number().min(0.2).max(100).default(3),
			})
			.refine(({ seconds, heartbeat_seconds }) => heartbeat_seconds * 3 <= seconds, {
				path: ["heartbeat_seconds"],
				error: "must be at most a third of lease.seconds",
			})
			.prefault({})
			.meta(RESTART),
		/** Which of several gateways answers. */
		lane: z
			.strictObject({
				/** So long the gateway that answered last in a conversation may begin before the one that got the message. */
				prefer_ms: whole(0, 60_000).default(500),
			})
			.prefault({}),
		/** Copies of the store that Keryx makes by itself. */
		backup: z
			.strictObject({
				/** Default: no backups. */
				every: z
					.string()
					.regex(/^[1-9]\d{0,3}[hd]$/, "must be a number of hours or days, such as 12h or 1d")
					.optional(),
				/** How many to keep; beyond these the oldest are deleted. */
				keep: whole(1, 1000).default(7),
				/** A folder; default: backups in Keryx's home. */
				to: wallPathSchema.optional(),
				/** The variable with the passphrase that encrypts them; default: not encrypted. */
				passphrase_env: variableSchema.optional(),
			})
			.prefault({}),
		/** Conversations unused for this many days are archived and deleted; 0: never. */
		retention: z.strictObject({ days: whole(0, 36_500).default(0) }).prefault({}),
		/** Keryx's own log, in logs/gateway.log of its home. */
		log: z
			.strictObject({
				level: z.enum(["debug", "info", "warn", "error"]).default("info"),
				/** What goes to stderr: warnings as sentences, or every line as JSON. */
				stderr: z.enum(["text", "json"]).default("text"),
				/** A file of this size is rotated. */
				file_mb: whole(1, 1000).default(10),
				/** How many older files are kept. */
				keep: whole(0, 100).default(5),
			})
			.prefault({}),
		/** Traces for an OpenTelemetry collector; default: none. */
		traces: z
			.strictObject({
				endpoint: z
					.string()
					.refine(isOrigin, "must be an address such as http://127.0.0.1:4318, without a path")
					.optional(),
			})
			.prefault({}),
		events: z.strictObject({ keep_days: whole(1, 36_500).default(30) }).prefault({}),
		shutdown: z
			.strictObject({
				drain_seconds: whole(0, 3600).default(30),
				/** Tell people whose answer is cut off. */
				notify: z.boolean().default(true),
			})
			.prefault({}),
		privacy: z
			.strictObject({
				redact_pii: z.boolean().default(false),
				/** Masks what looks like a credential in what is stored and shown, even if it is not listed as a secret. */
				mask_shapes: z.boolean().default(true),
			})
			.prefault({}),
		/** Names of environment variables whose values are never shown. */
		secrets: z
			.array(
				z.union([
					variableSchema,
					z.strictObject({
						name: variableSchema,
						/** Whose turns may name it in a command. */
						roles: z.array(z.enum(["owner", "member", "guest"])).default(["owner"]),
					}),
				]),
			)
			.default([]),
	})
	.superRefine((config, context) => {
		const { profiles, profile_rules, webhooks, walls, channels, mcp } = config;
		for (const { path, message } of mcpProblems(mcp.servers, profiles))
			context.addIssue({ code: "custom", path: ["mcp", "servers", ...path], message });
		for (const { path, message } of channelProblems(channels, profiles))
			context.addIssue({ code: "custom", path: ["channels", ...path], message });
		const keys = keyVariables(config);
		for (const [index, name] of walls.env_pass.entries())
			if (keys.has(name) || name.startsWith("KERYX_"))
				context.addIssue({
					code: "custom",
					path: ["walls", "env_pass", index],
					message: `must not name ${name}, which holds a key: a command names a secret as \${secret:NAME}`,
				});
		for (const name of Object.keys(walls.by_profile))
			if (!Object.hasOwn(profiles, name))
				context.addIssue({
					code: "custom",
					path: ["walls", "by_profile", name],
					message: `must be one of the names in profiles, not ${name}`,
				});
		for (const [name, { profile }] of Object.entries(webhooks))
			if (profile !== undefined && !Object.hasOwn(profiles, profile))
				context.addIssue({
					code: "custom",
					path: ["webhooks", name, "profile"],
					message: `must be one of the names in profiles, not ${profile}`,
				});
		for (const [index, { profile }] of profile_rules.entries())
			if (!Object.hasOwn(profiles, profile))
				context.addIssue({
					code: "custom",
					path: ["profile_rules", index, "profile"],
					message: `must be one of the names in profiles, not ${profile}`,
				});
	});

export type Config = z.output<typeof configSchema>;
/** As written: missing keys have their default. */
export type ConfigInput = z.input<typeof configSchema>;

/** Names of variables that hold keys, as far as the configuration names them. */
function keyVariables({
	agent,
	channels,
	mcp,
	profiles,
	secrets,
}: {
	readonly mcp: { readonly servers: Readonly<Record<string, McpServerSettings>> };
	readonly channels: Readonly<
		Record<
			string,
			{
				readonly token_env?: string | undefined;
				readonly app_token_env?: string | undefined;
				readonly signing_secret_env?: string | undefined;
				readonly server_password_env?: string | undefined;
			}
		>
	>;
	readonly agent: z.output<typeof agentSchema>;
	readonly profiles: Readonly<Record<string, { readonly agent: z.output<typeof agentSchema> }>>;
	readonly secrets: readonly (string | { readonly name: string })[];
}): ReadonlySet<string | null | undefined> {
	const agents = [agent, ...Object.values(profiles).map((profile) => profile.agent)];
	return new Set([
		...Object.values(USUAL_KEY_VARIABLES),
		...secrets.map((secret) => (typeof secret === "string" ? secret : secret.name)),
		...Object.values(channels).flatMap((channel) => [
			channel.token_env,
			channel.app_token_env,
			channel.signing_secret_env,
			channel.server_password_env,
		]),
		...mcpVariables(mcp.servers),
		...agents.flatMap((one) => [one.api_key_env, ...one.failover.map((next) => next.api_key_env)]),
	]);
}

export const CONFIG_KEYS = keyTree(configSchema);

function isOrigin(text: string): boolean {
	if (!URL.canParse(text)) return false;
	const { protocol, pathname, search, hash, username, password } = new URL(text);
	const isBare = pathname === "/" && search + hash + username + password === "";
	return isBare && /^https?:$/.test(protocol);
}

function isNetwork(text: string): boolean {
	const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
	const most = isIP(address) === 6 ? 128 : 32;
	return isIP(address) !== 0 && Number(bits ?? 0) <= most;
}

function whole(least: number, most: number): z.ZodNumber {
	return z.number().int().min(least).max(most);
}

/** Undefined if the host names an unknown zone. An empty TZ is UTC by POSIX. */
export function hostTimeZone(): string | undefined {
	const zone: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
	if (zone === "Etc/Unknown") return "UTC";
	return sessionResetSchema.shape.timezone.safeParse(zone).success ? zone : undefined;
}
