// A Keryx with MCP servers, in this process, and one owner who writes to it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createKeryx, type Keryx, type KeryxOptions } from "../../src/app/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { createScriptedChannel } from "../../src/testing/index.ts";

export const ROGUE = fileURLToPath(new URL("rogue.mjs", import.meta.url));
const MODULES = fileURLToPath(new URL("../../node_modules/@modelcontextprotocol/", import.meta.url));

export function published(server: "everything" | "filesystem" | "memory"): string {
	return join(MODULES, `server-${server}`, "dist", "index.js");
}

export function rogue(manner = "good", rest: object = {}) {
	return { command: process.execPath, args: [ROGUE, manner], ...rest };
}

export class Scene {
	/** Not in /tmp, which each wall has its own of. */
	readonly folder = mkdtempSync("/var/tmp/keryx-mcp-");
	readonly home = join(this.folder, "home");
	readonly channel = createScriptedChannel({ platform: "pigeon", clock: systemClock, edit: false });
	keryx!: Keryx;
	readonly warned: string[] = [];

	async start(
		servers: object,
		{ config = {}, env = {}, ...options }: Partial<KeryxOptions> & { config?: object } = {},
	) {
		mkdirSync(join(this.folder, "data"), { recursive: true });
		this.keryx = await createKeryx({
			home: this.home,
			env: {
				PATH: process.env.PATH,
				HOME: this.folder,
				XDG_DATA_HOME: join(this.folder, "data"),
				TZ: "UTC",
				...env,
			},
			store: "sqlite::memory:",
			report: { warn: (text) => this.warned.push(text), note: () => {} },
			channels: [this.channel],
			config: {
				auth: {
					pigeon: {
						allow: [
							{ id: "7", role: "owner" },
							{ id: "8", role: "member" },
						],
					},
				},
				mcp: { servers },
				...config,
			} as never,
			agent: this.agent(),
			...options,
		});
		await this.keryx.start();
		return this.keryx;
	}

	/** Its model calls the tool that a message names: `call <tool> <arguments>`. */
	agent() {
		return {
			kind: "step" as const,
			name: "caller",
			async *step(input: {
				history: readonly { role: string; content: unknown }[];
				tools: readonly { name: string }[];
			}) {
				const last = input.history.at(-1);
				const said = typeof last?.content === "string" ? last.content : JSON.stringify(last?.content);
				const [, name, args] = /^(?:\[[^\]]*\] )?call (\S+) ?([\s\S]*)$/.exec(said ?? "") ?? [];
				const usage = {
					inputTokens: 1,
					outputTokens: 1,
					costMicros: 0,
					currency: "USD",
					provider: "x",
					model: "x",
				};
				const call = last?.role === "user" && name !== undefined;
				const text = call
					? ""
					: said === "which" || /which$/.test(said ?? "")
						? input.tools.map((one) => one.name).join(" ")
						: `seen: ${said}`;
				if (text !== "") yield { type: "text" as const, delta: text };
				yield {
					type: "done" as const,
					usage,
					finishReason: "stop",
					message: {
						content: text,
						toolCalls: call ? [{ id: "c1", name, input: JSON.parse(args || "{}") as unknown }] : [],
					},
				};
			},
		} as never;
	}

	async ask(text: string, user = "7"): Promise<string> {
		const { world } = this.channel;
		const chat = `chat-${user}`;
		const before = world.visible(chat).length;
		world.say({ chat, user, text });
		await world.until(() => world.visible(chat).length > before);
		return world.visible(chat).at(-1)?.text ?? "";
	}

	/** Its folder is in the arguments: programs of other tests are not counted. */
	rogue(manner = "good", rest: object = {}) {
		return { ...rogue(manner, rest), args: [ROGUE, manner, this.folder] };
	}

	servers() {
		return this.keryx.client.mcpServers();
	}

	async end(): Promise<void> {
		await this.keryx?.stop();
		rmSync(this.folder, { recursive: true, force: true });
	}
}

/** Processes of this machine whose command line holds the text, but for those that only start another. */
export function running(text: string): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.map(Number)
		.filter((pid) => {
			try {
				const [program = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
				return program.endsWith("node") && args.some((one) => one.includes(text));
			} catch {
				return false;
			}
		});
}
