// A whole Keryx in this process, from its configuration: home on the disk, model over HTTP, hooks, webhooks in and out. Everything that
// leaves it is written down.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect } from "vitest";
import { type Host, openHost } from "../../src/app/host.ts";
import { type CliContext, openConfig } from "../../src/cli/context.ts";
import { connectHost } from "../../src/processes/index.ts";
import { type ModelServer, type Reply, says, startModelServer } from "../support/model-server.ts";
import { eventually } from "../support/soon.ts";

export const HOOK_SECRET = "the hooks' own secret";

export interface Asked {
	readonly status: number;
	readonly body: Record<string, unknown>;
}

export interface Talked {
	readonly id: number;
	readonly conversation: string;
}

export class WatchedKeryx {
	readonly root = mkdtempSync(join(tmpdir(), "kx-sec-"));
	readonly home = join(this.root, "home");
	/** Answers, events and what was sent, with where it was heard. */
	readonly heard: { readonly where: string; readonly text: string }[] = [];
	readonly printed: string[] = [];
	readonly env: Readonly<Record<string, string>>;
	model!: ModelServer;
	host!: Host;
	operator = "";
	#said = 0;
	readonly #receiver = createServer((request, response) => {
		let body = "";
		request.on("data", (data) => (body += data));
		request.on("end", () => {
			this.heard.push({ where: "webhook", text: JSON.stringify(request.headers) + body });
			response.end();
		});
	});

	constructor(env: Readonly<Record<string, string>>) {
		this.env = {
			KERYX_HOME: this.home,
			KERYX_HTTP_PORT: "0",
			PATH: process.env.PATH ?? "",
			HOME: this.root,
			TZ: "UTC",
			HOOK_SECRET,
			...env,
		};
	}

	async start(config: { readonly agent: object } & Record<string, unknown>): Promise<void> {
		this.model = await startModelServer();
		await new Promise<void>((resolve) => this.#receiver.listen(0, "127.0.0.1", resolve));
		mkdirSync(this.home, { mode: 0o700 });
		const { port } = this.#receiver.address() as AddressInfo;
		this.write({
			session_reset: { mode: "none" },
			approvals: { mode: "off" },
			loop: { max_repeats: 50 },
			// A title's call would take a reply that a test queued for its answer.
			titles: { by_model: false },
			compaction: { keep_last: 2 },
			webhooks: { deploy: { secret_env: "HOOK_SECRET" } },
			hooks: [
				{
					on: ["session:*", "turn:*", "message:*", "confirmation:*", "process:*"],
					command: ["sh", "-c", `cat >> ${this.root}/hooked`],
				},
			],
			confirmations: {
				rate_limit: 1000,
				notify: [{ webhook: `http://127.0.0.1:${port}/`, secret_env: "HOOK_SECRET" }],
			},
			...config,
			agent: {
				kind: "ai-sdk",
				provider: "openai-compatible",
				model: "m",
				base_url: this.model.url,
				retries: 0,
				...config.agent,
			},
		});
		// One that goes as soon as it has nothing to do.
		await (await connectHost({ home: this.home, start: true, idleMs: 300 })).close();
		const stream = { write: (text: string | Uint8Array) => this.printed.push(String(text)) };
		const context: CliContext = {
			env: this.env,
			stdin: Readable.from([]),
			stdout: stream,
			stderr: stream,
			now: () => Date.now(),
			json: false,
			exitWith: () => {},
		};
		const { config: loaded, output } = openConfig(context);
		this.host = await openHost({ context, config: loaded, output, as: "run", onPorts: true });
		this.operator = readFileSync(join(this.home, "operator.secret"), "utf8").trim();
		void this.#follow();
	}

	/** The configuration, as an editor would. JSON is YAML, too. */
	write(config: object): void {
		writeFileSync(join(this.home, "config.yaml"), JSON.stringify(config));
	}

	async end(): Promise<void> {
		await this.host.close();
		await this.model.close();
		await new Promise((resolve) => this.#receiver.close(resolve));
		await eventually(() => rmSync(this.root, { recursive: true, force: true }));
	}

	/** What hooks were told. */
	get hooked(): string {
		return readFileSync(join(this.root, "hooked"), "utf8");
	}

	/** One request; its answer is heard, headers and all. */
	async ask(
		method: string,
		path: string,
		body?: object | string | Uint8Array,
		headers: Readonly<Record<string, string>> = {},
	): Promise<Asked> {
		const isJson = typeof body === "object" && !(body instanceof Uint8Array);
		const request = new Request(`http://keryx${path}`, {
			method,
			headers: {
				authorization: `Bearer ${this.operator}`,
				...(isJson && { "content-type": "application/json" }),
				...headers,
			},
			...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as string) }),
		});
		const response = await this.host.api.fetch(request);
		const text = await response.text();
		this.heard.push({
			where: `${method} ${path.slice(0, 40)}`,
			text: JSON.stringify([...response.headers]) + text,
		});
		const type = response.headers.get("content-type") ?? "";
		return { status: response.status, body: /^application\/json\b/.test(type) ? JSON.parse(text) : {} };
	}

	/** Somebody writes, the model answers so, and the answer is there. */
	async talk(
		text: string,
		replies: readonly Reply[] = [says("ok")],
		more: Record<string, unknown> = {},
	): Promise<Talked> {
		// A command does not reach the model.
		if (!text.startsWith("/")) this.model.next(...replies);
		const source = { platform: "web", chat_id: "ada", chat_type: "dm", user_id: "ada", user_name: "Ada" };
		const sent = await this.ask("POST", "/api/inbound", {
			text,
			client_message_id: `m${++this.#said}`,
			source: { ...source, ...(more.from as object) },
			...Object.fromEntries(Object.entries(more).filter(([name]) => name !== "from")),
		});
		expect(sent.status, JSON.stringify(sent.body)).toBe(202);
		const { body } = await this.ask("GET", `/api/inbound/${sent.body.id}?wait=60`);
		expect(body.disposition, text).not.toBeNull();
		return sent.body as unknown as Talked;
	}

	/** The rows of a conversation's live session. */
	async rows(conversation: string): Promise<readonly Record<string, unknown>[]> {
		const { body } = await this.ask("GET", `/api/conversation?id=${conversation}`);
		const read = await this.ask("GET", `/api/sessions/${body.live_session}/messages?limit=200`);
		return read.body.messages as Record<string, unknown>[];
	}

	/** Its own files: not the configuration, keys, what programs printed, workspaces, or repositories of checkpoints. */
	files(folder = this.home): string[] {
		return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
			const path = join(folder, entry.name);
			if (entry.isDirectory())
				return ["workspaces", "checkpoints"].includes(entry.name) ? [] : this.files(path);
			const isLeftOut = /^(config\.yaml|.*\.key|operator\.secret|log\.\d+)$/.test(entry.name);
			return entry.isFile() && !isLeftOut ? [path] : [];
		});
	}

	/** Every live event and text on its way, as a page sees them. */
	async #follow(): Promise<void> {
		const { body } = await this.host.api.fetch(new Request("http://keryx/events?after="));
		const decoder = new TextDecoder();
		for await (const chunk of body as ReadableStream<Uint8Array>)
			this.heard.push({ where: "live events", text: decoder.decode(chunk, { stream: true }) });
	}
}
