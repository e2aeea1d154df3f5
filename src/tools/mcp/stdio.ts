// Connects to a server program over stdin and stdout. It is read only as fast as its messages are handled, its other output is limited,
// and any failure ends only this program.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { bytesInWords } from "../../domain/index.ts";
import { LastOutput, type PipedProgram, startPiped } from "../../processes/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { Clock } from "../../time/index.ts";
import type { CommandWall } from "../../walls/index.ts";
import { messagesIn, tooLong } from "./messages.ts";
import type { Line } from "./types.ts";

/** A program asked to stop must exit within this time. */
const STOP_MS = 2000;
/** Limits for unrequested output: at once, and per second. Notifications, and anything that is not a message. */
const FLOOD_BYTES = 8 * 1024 * 1024;
const UNASKED_PER_SECOND = 256 * 1024;
/** Notifications that matter here; others are dropped. */
const HEARD: ReadonlySet<string> = new Set([
	"notifications/tools/list_changed",
	"notifications/prompts/list_changed",
	"notifications/resources/list_changed",
	"notifications/subscriptions/acknowledged",
	"notifications/cancelled",
]);

export interface StdioStart {
	readonly name: string;
	readonly wall: CommandWall;
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly clock: Clock;
	/** Hidden in its output. */
	readonly secrets: Pick<Secrets, "hide" | "stream">;
}

/** Throws if it may not or cannot be started. */
export async function startStdio({ wall, argv, cwd, clock, secrets }: StdioStart): Promise<Line> {
	if (wall.run === "refused")
		throw new Error(`${wall.reason}${wall.remedy === null ? "" : `; what to do: ${wall.remedy}`}`);
	if (wall.run === "elsewhere") throw new Error(`MCP servers run on this machine only, not ${wall.where}`);
	return new StdioLine(await startPiped({ wall, argv, cwd }), clock, new LastOutput(secrets));
}

class StdioLine implements Line {
	readonly #program: PipedProgram;
	readonly #clock: Clock;
	readonly transport: StdioTransport;
	readonly over: Promise<string>;
	#why: string | null = null;
	/** From stderr, to explain a crash. */
	readonly #printed: LastOutput;
	/** Unrequested output, less its allowance since. */
	#unaskedBytes = 0;
	#unaskedAt = 0;

	constructor(program: PipedProgram, clock: Clock, printed: LastOutput) {
		this.#program = program;
		this.#clock = clock;
		this.#printed = printed;
		this.transport = new StdioTransport(program, () => this.close());
		for (const stream of program.child.stdio) stream?.on("error", () => undefined);
		program.child.stderr?.on("data", (data: Buffer) => {
			this.#printed.add(data);
			this.#unasked(data.length);
		});
		this.over = this.#watch();
		void this.#read();
	}

	get pid(): number | null {
		return this.#program.child.pid ?? null;
	}

	end(why: string): void {
		this.#why ??= why;
		this.#program.kill();
	}

	async close(): Promise<void> {
		this.#why ??= "it was stopped";
		this.#program.child.stdin?.end();
		const cancel = this.#clock.after(STOP_MS, () => this.#program.kill());
		await this.over;
		cancel();
	}

	async #read(): Promise<void> {
		const { stdout } = this.#program.child;
		if (!stdout) return this.end("it could not start");
		try {
			for await (const line of messagesIn(stdout)) {
				if (line.kind === "message") {
					if (!this.transport.takes(line.message)) this.#unasked(line.bytes);
				} else if (line.kind === "other") this.#unasked(line.bytes);
				else this.transport.failLong(line.id);
			}
		} catch (error) {
			this.end(`its output could not be read: ${(error as Error).message}`);
		}
	}

	#unasked(bytes: number): void {
		const now = this.#clock.monotonic();
		const allowed = ((now - this.#unaskedAt) / 1000) * UNASKED_PER_SECOND;
		this.#unaskedAt = now;
		this.#unaskedBytes = Math.max(0, this.#unaskedBytes - allowed) + bytes;
		if (this.#unaskedBytes > FLOOD_BYTES)
			this.end(`it printed ${bytesInWords(FLOOD_BYTES)} that nobody asked for`);
	}

	/** Resolves when nothing of the program is left. */
	#watch(): Promise<string> {
		const { child, gone, kill } = this.#program;
		return new Promise((resolve) => {
			let how = "it exited";
			const finished = () => {
				for (const stream of child.stdio ?? []) stream?.destroy();
				const end = (said: string | null) => {
					this.transport.closed();
					resolve(this.#inWords(said ?? how));
				};
				gone.then(end, () => end(null));
			};
			child.on("error", (error) => {
				how = `it could not start: ${error.message}`;
				finished();
			});
			child.on("exit", (code, signal) => {
				how = signal === null ? `it exited with code ${code}` : `it was stopped by ${signal}`;
				// The guard, and the program's leftovers. A process that left the group may still hold a stream.
				kill();
				this.#clock.after(STOP_MS, finished);
			});
			child.on("close", finished);
		});
	}

	#inWords(how: string): string {
		if (this.#why !== null) return this.#why;
		const printed = this.#printed.end();
		return printed === "" ? how : `${how}; its last output: ${printed}`;
	}
}

/** The official client's view. It asks for the protocol's version on this connection: no second program is started. */
class StdioTransport implements Transport {
	onclose?: () => void;
	onerror?: (error: Error) => void;
	onmessage?: (message: JSONRPCMessage) => void;
	/** The client recognises stdio by these two. */
	readonly stderr = null;
	readonly pid: number | null;
	readonly #program: PipedProgram;
	readonly #close: () => Promise<void>;
	/** Requests that have no answer yet. */
	readonly #asked = new Set<string | number>();
	#isClosed = false;

	constructor(program: PipedProgram, close: () => Promise<void>) {
		this.#program = program;
		this.pid = program.child.pid ?? null;
		this.#close = close;
	}

	start(): Promise<void> {
		return Promise.resolve();
	}

	send(message: JSONRPCMessage): Promise<void> {
		const { stdin } = this.#program.child;
		if (!stdin || this.#isClosed) return Promise.reject(new Error("the server is gone"));
		if ("method" in message && "id" in message) this.#asked.add(message.id);
		return new Promise((resolve, reject) => {
			stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
		});
	}

	/** False: nobody asked for it. */
	takes(message: JSONRPCMessage): boolean {
		const isAnswer = !("method" in message) && message.id !== undefined && this.#asked.delete(message.id);
		if (isAnswer || ("method" in message && ("id" in message || HEARD.has(message.method))))
			this.onmessage?.(message);
		return isAnswer;
	}

	/** If its request is unknown, it may be any. */
	failLong(id: number | null): void {
		const failed = id !== null && this.#asked.has(id) ? [id] : [...this.#asked];
		for (const one of failed) {
			this.#asked.delete(one);
			this.onmessage?.(tooLong(one));
		}
	}

	close(): Promise<void> {
		return this.#close();
	}

	closed(): void {
		if (this.#isClosed) return;
		this.#isClosed = true;
		this.onclose?.();
	}
}
