// The MCP servers of one gateway: the configured ones, what they offer to whom (I18), and their tools in addition to Keryx's own. Each
// server is one connection for the whole gateway.
import { isDeepStrictEqual } from "node:util";
import type { McpServerSettings } from "../../config/index.ts";
import type { PersonRole, Standing } from "../../domain/index.ts";
import type { Tool } from "../types.ts";
import { type AskedPrompt, promptText, promptUsage, readPrompt } from "./prompts.ts";
import { resourceTool } from "./resources.ts";
import { McpServer } from "./server.ts";
import { toolOf } from "./tool.ts";
import type { McpTool, ServerParts, ServerState } from "./types.ts";

/** How long turns wait for a starting server. */
const READY_MS = 10_000;
const MOST_PROMPTS_SHOWN = 20;

export interface McpServersOptions extends ServerParts {
	/** Read per call: it may change. */
	settings(): Readonly<Record<string, McpServerSettings>>;
	/** How long a call may take, in milliseconds. */
	callMs(): number;
}

/** The person and conversation of a request. */
export interface McpCaller {
	readonly profile: string;
	readonly standing: Standing;
}

export interface McpServerReport {
	readonly name: string;
	readonly settings: McpServerSettings;
	readonly state: ServerState;
	readonly pid: number | null;
	readonly starts: number;
	readonly lastFailure: string | null;
	readonly tools: readonly (McpTool & { readonly isUsed: boolean; readonly asks: boolean })[];
	/** As people call them in a chat. */
	readonly prompts: readonly string[];
	readonly resources: number;
	readonly remarks: readonly string[];
}

export interface McpServers {
	/** Starts configured servers, stops removed ones, and replaces changed ones. */
	follow(): Promise<void>;
	/** Resolves when every server was tried once since it was added, or after a while. */
	ready(): Promise<void>;
	/** All tools, regardless of rights. */
	tools(): readonly Tool[];
	/** Retries now; resolves with the result. Null: no such server. */
	retry(name: string): Promise<McpServerReport | null>;
	report(): readonly McpServerReport[];
	/** The meaning of `/<server>:<prompt> ...`; null if a text is not one, or not for this caller. */
	prompt(text: string, caller: McpCaller, signal: AbortSignal): Promise<string | null>;
	/** The answer to `/mcp`. */
	inWords(caller: McpCaller): string;
	/** Servers that the caller's agent program may run itself, as configured. */
	passedOn(caller: McpCaller): readonly { readonly name: string; readonly settings: McpServerSettings }[];
	close(): Promise<void>;
}

export function createMcpServers(options: McpServersOptions): McpServers {
	return new Servers(options);
}

/** Whether such a turn may use the server. Pure. */
export function mayUseServer(
	{ profiles, roles }: Pick<McpServerSettings, "profiles" | "roles">,
	{ profile, standing }: McpCaller,
): boolean {
	const isRole = standing !== "none" && roles.includes(standing satisfies PersonRole);
	return isRole && (profiles === undefined || profiles.includes(profile === "" ? "default" : profile));
}

class Servers implements McpServers {
	readonly #options: McpServersOptions;
	readonly #servers = new Map<string, McpServer>();
	/** Stopping servers: their names are free once they have stopped. */
	readonly #leaving = new Map<string, Promise<void>>();
	#tools: readonly Tool[] = [];
	/** What these tools were made from: they change with it. */
	#from: readonly unknown[] = [];
	#isClosed = false;

	constructor(options: McpServersOptions) {
		this.#options = options;
	}

	async follow(): Promise<void> {
		const wanted = this.#options.settings();
		for (const [name, server] of this.#servers)
			if (!wanted[name] || !isDeepStrictEqual(connectedBy(wanted[name]), connectedBy(server.settings)))
				this.#remove(name, server);
		await Promise.all(
			Object.keys(wanted).map(async (name) => {
				await this.#leaving.get(name);
				// The configuration may have changed again meanwhile.
				const settings = this.#options.settings()[name];
				if (settings && !this.#isClosed && !this.#servers.has(name))
					this.#servers.set(name, new McpServer(name, settings, this.#options));
			}),
		);
	}

	#remove(name: string, server: McpServer): void {
		this.#servers.delete(name);
		const gone = server.stop().finally(() => this.#leaving.delete(name));
		this.#leaving.set(name, gone);
	}

	async ready(): Promise<void> {
		const { clock } = this.#options;
		const left = ({ begunAt }: McpServer) => begunAt + READY_MS - clock.monotonic();
		const untried = [...this.#servers.values()].filter(
			(server) => server.starts <= 1 && server.state.kind === "starting" && left(server) > 0,
		);
		if (untried.length === 0) return;
		const { promise, resolve } = Promise.withResolvers<void>();
		const cancel = clock.after(Math.max(...untried.map(left)), resolve);
		const settled = untried.map(async (server) => {
			const none = new AbortController();
			// Connected, or not soon: nothing more to wait for.
			await Promise.race([server.tried, server.connected(none.signal, READY_MS).catch(() => undefined)]);
		});
		await Promise.race([Promise.all(settled), promise]);
		cancel();
	}

	tools(): readonly Tool[] {
		const from = [
			this.#options.settings(),
			...[...this.#servers.values()].flatMap((one) => [one, one.offer]),
		];
		if (from.length !== this.#from.length || from.some((one, at) => one !== this.#from[at]))
			this.#tools = this.#offered();
		this.#from = from;
		return this.#tools;
	}

	#offered(): readonly Tool[] {
		const servers = this.#configured();
		const tools = servers.flatMap((server) =>
			this.#used(server).map((tool) =>
				toolOf(tool, server, {
					confirm: () => this.#settingsOf(server).confirm,
					callMs: this.#options.callMs,
				}),
			),
		);
		const withResources = servers.filter(({ offer }) => offer.resources.length > 0);
		if (withResources.length === 0) return tools;
		return [
			...tools,
			resourceTool({
				servers: (caller) => withResources.filter((server) => mayUseServer(this.#settingsOf(server), caller)),
				confirm: (server) => this.#settingsOf(server).confirm,
				callMs: this.#options.callMs,
			}),
		];
	}

	/** Without those that were removed a moment ago and still run: nothing says any more who may use them. */
	#configured(): readonly McpServer[] {
		const settings = this.#options.settings();
		return [...this.#servers.values()].filter(({ name }) => Object.hasOwn(settings, name));
	}

	#used(server: McpServer): readonly McpTool[] {
		const { tools: chosen } = this.#settingsOf(server);
		return server.offer.tools.filter(({ tool }) => chosen === undefined || chosen.includes(tool));
	}

	#settingsOf({ name, settings }: McpServer): McpServerSettings {
		return this.#options.settings()[name] ?? settings;
	}

	async retry(name: string): Promise<McpServerReport | null> {
		const server = this.#servers.get(name);
		if (!server) return null;
		await server.retry();
		return this.#report(server);
	}

	report(): readonly McpServerReport[] {
		return [...this.#servers.values()].map((server) => this.#report(server));
	}

	#report(server: McpServer): McpServerReport {
		const { name, state, pid, starts, lastFailure, offer } = server;
		const settings = this.#settingsOf(server);
		return {
			name,
			settings,
			state,
			pid,
			starts,
			lastFailure,
			tools: offer.tools.map((tool) => ({
				...tool,
				isUsed: settings.tools === undefined || settings.tools.includes(tool.tool),
				asks: settings.confirm === "always" || (settings.confirm === "writes" && !tool.isReadOnly),
			})),
			prompts: offer.prompts.map((prompt) => promptUsage(name, prompt)),
			resources: offer.resources.length,
			remarks: [
				...offer.remarks,
				...(settings.tools ?? [])
					.filter((tool) => state.kind === "connected" && !offer.tools.some((one) => one.tool === tool))
					.map((tool) => `tools names ${tool}, which the server does not have`),
			],
		};
	}

	async prompt(text: string, caller: McpCaller, signal: AbortSignal): Promise<string | null> {
		const asked = readPrompt(text);
		const server = asked && this.#servers.get(asked.server);
		if (!server || !mayUseServer(this.#settingsOf(server), caller)) return null;
		return promptText(server, asked as AskedPrompt, { signal, ms: this.#options.callMs() });
	}

	inWords(caller: McpCaller): string {
		const servers = [...this.#servers.values()].filter((server) =>
			mayUseServer(this.#settingsOf(server), caller),
		);
		if (servers.length === 0) return "There are no MCP servers for you here.";
		return servers
			.map((server) => {
				const { name, state, offer } = server;
				const why = "why" in state ? `: ${state.why}` : "";
				const tools = this.#used(server).length;
				const head = `**${name}**: ${STATES[state.kind]}${why}, ${tools} tool${tools === 1 ? "" : "s"}`;
				const prompts = offer.prompts.slice(0, MOST_PROMPTS_SHOWN);
				return [head, ...prompts.map((prompt) => `- \`${promptUsage(name, prompt)}\``)].join("\n");
			})
			.join("\n\n");
	}

	passedOn(caller: McpCaller): readonly { readonly name: string; readonly settings: McpServerSettings }[] {
		// Another program respects neither approvals nor the list of tools.
		return Object.entries(this.#options.settings())
			.filter(
				([, settings]) =>
					mayUseServer(settings, caller) && settings.confirm !== "always" && settings.tools === undefined,
			)
			.map(([name, settings]) => ({ name, settings }));
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		for (const [name, server] of this.#servers) this.#remove(name, server);
		await Promise.all(this.#leaving.values());
	}
}

const STATES: Readonly<Record<ServerState["kind"], string>> = {
	starting: "starting",
	connected: "connected",
	waiting: "not connected, tried again soon",
	broken: "not connected, tried again later",
	login: "not logged in",
	stopped: "stopped",
};

/** What defines a connection. The rest is read at each use. */
function connectedBy({ command, args, env, url, headers_env, wall }: McpServerSettings) {
	return { command, args, env, url, headers_env, wall };
}
