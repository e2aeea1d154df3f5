// One program that speaks the Agent Client Protocol, in its own process group. Keryx talks to it only over stdin; it may not use Keryx's
// files or terminals, and its listener decides its permission requests.
import type { ChildProcess } from "node:child_process";
import { basename } from "node:path";
import {
	type ClientConnection,
	type ContentBlock,
	client,
	type McpServer,
	methods,
	PROTOCOL_VERSION,
	RequestError,
	type RequestPermissionRequest,
	type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { z } from "zod";
import { inlineUntrusted } from "../../domain/index.ts";
import { LastOutput, type PipedProgram } from "../../processes/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { Clock } from "../../time/index.ts";
import type { AgentFailure, Permission } from "../types.ts";
import { ProgramFailure } from "./failures.ts";
import { messageStream } from "./messages.ts";
import { outcomeOf } from "./permission.ts";
import type { SentHistory } from "./prompt.ts";
import type { Spent } from "./report.ts";

/** Time limit for initialize and session/new. Cold programs check for updates and start servers first. */
const START_SECONDS = 60;
/** How long a program may take to end by itself after a request to stop. */
const STOP_MS = 2000;
const MEBIBYTE = 1024 * 1024;

/** The needed parts of its answers; the SDK does not check them. */
const initialized = z
	.object({
		protocolVersion: z.number(),
		agentInfo: z.object({ name: z.string() }).nullish().catch(null),
		agentCapabilities: z
			.object({ mcpCapabilities: z.object({ http: z.boolean().optional() }).nullish().catch(null) })
			.nullish()
			.catch(null),
	})
	.describe("initialize");
const opened = z.object({ sessionId: z.string() }).describe("session/new");
const prompted = z.object({ stopReason: z.string().min(1) });
type Prompted = z.output<typeof prompted>;

export interface ProgramOptions {
	readonly command: string;
	readonly cwd: string;
	readonly clock: Clock;
	/** Hidden in its last output, and in its name. */
	readonly secrets: Secrets;
	/** Left out: a minute. */
	readonly startSeconds?: number;
}

/** A session of the program, and how much of which history it knows. */
export interface ProgramSession {
	readonly id: string;
	/** The Keryx session and its system text. */
	readonly frame: string;
	/** Null if it was sent nothing yet. */
	sentHistory: SentHistory | null;
	spent: Spent | null;
}

export interface Listener {
	update(update: unknown): void;
	/** Decides its permission request; it waits for the answer. */
	permit(toolCall: unknown): Promise<Permission>;
	room(): Promise<void>;
}

export class Program {
	readonly #options: ProgramOptions;
	readonly #launched: PipedProgram;
	readonly #connection: ClientConnection;
	/** From stderr, to explain a crash. */
	readonly #printed: LastOutput;
	/** Why it can no longer be used, if that is its fault. */
	#problem: string | null = null;
	#listener: { readonly session: string; readonly to: Listener } | null = null;
	#name: string;
	/** It can reach MCP servers over HTTP. */
	#reachesHttp = false;
	/** It accepts no more prompts: dead, or being stopped. */
	#leaving = false;
	session: ProgramSession | null = null;
	/** Resolves when the process and its streams are gone, with the outcome. Never rejects. */
	readonly over: Promise<string>;

	constructor(options: ProgramOptions, launched: PipedProgram) {
		this.#options = options;
		this.#name = basename(options.command);
		this.#launched = launched;
		this.#printed = new LastOutput(options.secrets);
		const child = this.#child;
		this.over = this.#watch();
		const { stdin, stdout } = child;
		// This happens at the limit of open files.
		if (!stdin || !stdout)
			throw new ProgramFailure({ kind: "program_failed", detail: `${this.#name} could not start` });
		for (const stream of child.stdio) stream?.on("error", () => undefined);
		child.stderr?.on("data", (data: Buffer) => this.#printed.add(data));
		this.#connection = client({ name: "keryx" })
			.onRequest(methods.client.session.requestPermission, ({ params }) => this.#permit(params))
			.connect(
				messageStream({
					stdin,
					stdout,
					onUpdate: (params) => this.#update(params),
					room: () => this.#listener?.to.room() ?? Promise.resolve(),
					onTooLong: (bytes) => {
						this.#problem = `${this.#name} sent a message of more than ${bytes / MEBIBYTE} MiB`;
					},
				}),
			);
		// A program that cannot be talked to is of no use.
		void this.#connection.closed.then(() => this.kill());
	}

	get #child(): ChildProcess {
		return this.#launched.child;
	}

	/** As it calls itself. */
	get name(): string {
		return this.#name;
	}

	get leaving(): boolean {
		return this.#leaving;
	}

	/** Throws ProgramFailure and kills it: nobody may use one before the handshake. */
	async initialize(): Promise<void> {
		const request = this.#connection.agent.request(methods.agent.initialize, {
			protocolVersion: PROTOCOL_VERSION,
			clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
		});
		try {
			const { agentInfo, agentCapabilities, protocolVersion } = await this.#starting(request, initialized);
			this.#reachesHttp = agentCapabilities?.mcpCapabilities?.http === true;
			this.#name = inlineUntrusted(this.#options.secrets.hide(agentInfo?.name ?? "")) || this.#name;
			if (protocolVersion === PROTOCOL_VERSION) return;
			const detail = `${this.#name} speaks version ${protocolVersion} of the protocol, Keryx speaks ${PROTOCOL_VERSION}`;
			throw new ProgramFailure({ kind: "malformed", detail });
		} catch (error) {
			this.kill();
			throw error;
		}
	}

	/** A new session, with the MCP servers the program can reach. Throws ProgramFailure. */
	async open(frame: string, servers: readonly McpServer[]): Promise<ProgramSession> {
		const { cwd } = this.#options;
		const mcpServers = servers.filter((server) => this.#reachesHttp || !("type" in server));
		const request = this.#connection.agent.request(methods.agent.session.new, { cwd, mcpServers });
		const { sessionId } = await this.#starting(request, opened);
		this.session = { id: sessionId, frame, sentHistory: null, spent: null };
		return this.session;
	}

	/** Its answer; its reports go to the listener first. Throws ProgramFailure. */
	async prompt(session: ProgramSession, prompt: ContentBlock[], listener: Listener): Promise<Prompted> {
		this.#listener = { session: session.id, to: listener };
		const { agent } = this.#connection;
		try {
			return prompted.parse(
				await agent.request(methods.agent.session.prompt, { sessionId: session.id, prompt }),
			);
		} catch (error) {
			throw await this.#explained(error);
		} finally {
			this.#listener = null;
		}
	}

	/** Asks it to end its prompt. */
	cancel(session: ProgramSession): void {
		const notified = this.#connection.agent.notify(methods.agent.session.cancel, { sessionId: session.id });
		notified.catch(() => undefined);
	}

	/** Stops it, with a moment to exit by itself. */
	async stop(): Promise<void> {
		this.#leaving = true;
		this.#child.stdin?.end();
		const cancel = this.#options.clock.after(STOP_MS, () => this.kill());
		await this.over;
		cancel();
	}

	/** Kills it and everything in its group now; behind a wall, everything it started. */
	kill(): void {
		this.#leaving = true;
		this.#launched.kill();
	}

	#watch(): Promise<string> {
		const child = this.#child;
		return new Promise((resolve) => {
			let how = "it exited";
			const finished = () => {
				this.#leaving = true;
				for (const stream of child.stdio ?? []) stream?.destroy();
				void this.#launched.gone.then(
					(said) => resolve(this.#inWords(said ?? how)),
					() => resolve(this.#inWords(how)),
				);
			};
			child.on("error", (error) => {
				how = `it could not start: ${error.message}`;
				finished();
			});
			child.on("exit", (code, signal) => {
				how = signal === null ? `it exited with code ${code}` : `it was stopped by ${signal}`;
				// The guard, and the program's leftovers. A process that left the group may still hold a stream.
				this.kill();
				this.#options.clock.after(STOP_MS, finished);
			});
			child.on("close", finished);
		});
	}

	#inWords(how: string): string {
		const printed = this.#printed.end();
		return `${this.#name}: ${how}${printed === "" ? "" : `; its last output: ${printed}`}`;
	}

	async #starting<Answer>(request: Promise<unknown>, answer: z.ZodType<Answer>): Promise<Answer> {
		let late = false;
		const { startSeconds = START_SECONDS, clock } = this.#options;
		const cancel = clock.after(startSeconds * 1000, () => {
			late = true;
			this.kill();
		});
		try {
			return answer.parse(await request);
		} catch (error) {
			const failure = await this.#explained(error);
			throw late
				? new ProgramFailure({
						kind: "timeout",
						detail: `${this.#name} did not answer ${answer.description} within ${startSeconds} s (agent.start_seconds)`,
					})
				: failure;
		} finally {
			cancel();
		}
	}

	/** The meaning of a failed request: the program's own error, an unreadable one, or its death. */
	async #explained(error: unknown): Promise<ProgramFailure> {
		if (this.#problem !== null) return new ProgramFailure({ kind: "malformed", detail: this.#problem });
		if (error instanceof RequestError) return new ProgramFailure(answered(this.#name, error));
		if (this.#connection.signal.aborted)
			return new ProgramFailure({ kind: "program_failed", detail: await this.over });
		const detail = `${this.#name} gave an answer that does not follow the protocol`;
		return new ProgramFailure({ kind: "malformed", detail });
	}

	#update(params: unknown): void {
		const { sessionId, update } = (params ?? {}) as { sessionId?: unknown; update?: unknown };
		if (this.#listener?.session === sessionId) this.#listener?.to.update(update);
	}

	/** Requests for unknown or finished prompts are cancelled. */
	async #permit(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
		const { sessionId, toolCall, options } = request;
		const permission =
			this.#listener?.session === sessionId ? await this.#listener.to.permit(toolCall) : "cancelled";
		return { outcome: outcomeOf(permission, options) };
	}
}

const AUTHENTICATION = -32000;

function answered(name: string, { code, message, data }: RequestError): AgentFailure {
	const details = (data as { details?: unknown } | null | undefined)?.details;
	const said = typeof details === "string" ? `${message}: ${details}` : message;
	if (code === AUTHENTICATION)
		return {
			kind: "key_missing",
			detail: `${name} wants you to log in: run it once by hand, or pass it its key (${said})`,
		};
	return { kind: "program_failed", detail: `${name} returned error ${code}: ${said}` };
}
