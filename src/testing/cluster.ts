// Several gateways on one database, each a separate process with its own line to the database. Each can be
// killed, stopped, cut off, silenced, slowed down, or given a wrong clock.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";

export interface ClusterOptions {
	/** The address of the shared database: postgres://... */
	readonly url: string;
	readonly nodes: number;
	/** Starts a node's process. Resolves once the node answers. */
	start(setup: NodeSetup): ChildProcess | Promise<ChildProcess>;
}

/** The settings of a node's process. */
export interface NodeSetup {
	/** Counted from 0. */
	readonly n: number;
	/** The database's address, over this node's line. */
	readonly url: string;
	/** Variables for its environment: a wrong clock (Node programs only). */
	readonly env: Readonly<Record<string, string>>;
}

export interface ClusterNode {
	readonly n: number;
	readonly pid: number | undefined;
	/** False before its start and after its process has ended. */
	readonly isRunning: boolean;
	/** Restarts it: same settings, a new process. */
	start(): Promise<void>;
	/** SIGKILL. Resolves when the process is gone. */
	kill(): Promise<void>;
	/** SIGTERM. Resolves with its exit code. */
	stop(): Promise<number | null>;
	/** Resolves with its exit code when the process has ended, however it ended. */
	ended(): Promise<number | null>;
	/** SIGSTOP: it stops, and its connections stay open. */
	halt(): void;
	/** SIGCONT. */
	resume(): void;
	/** Cuts its line to the database: connections are closed and refused. */
	cut(): Promise<void>;
	/** Silences its line: it accepts bytes and passes nothing on, and nobody notices. */
	silence(): Promise<void>;
	/** Delays every piece between it and the database: statements, commits, answers. */
	slow(ms: number): void;
	/** Restores the line. Lost data stays lost: connections are closed. */
	mend(): Promise<void>;
	/** From its next start on, its wall clock is ahead by this much; negative: behind. */
	skew(ms: number): void;
}

export interface TestCluster {
	readonly nodes: readonly ClusterNode[];
	/** Starts all that do not run, one by one: the first one creates what the others need. */
	start(): Promise<void>;
	/** Kills all running ones, and closes the lines. */
	close(): Promise<void>;
}

export async function createCluster({ url, nodes, start }: ClusterOptions): Promise<TestCluster> {
	const members: Member[] = [];
	const { hostname, port } = new URL(url);
	const server = `tcp://${hostname}:${port || 5432}`;
	for (let n = 0; n < nodes; n++) members.push(new Member(n, url, await createFaultProxy(server), start));
	return {
		nodes: members,
		start: async () => {
			for (const member of members) if (!member.isRunning) await member.start();
		},
		close: async () => {
			await Promise.all(members.map((member) => member.close()));
		},
	};
}

class Member implements ClusterNode {
	readonly n: number;
	readonly #url: string;
	readonly #line: FaultProxy;
	readonly #start: ClusterOptions["start"];
	#process: ChildProcess | null = null;
	#skewMs = 0;

	constructor(n: number, url: string, line: FaultProxy, start: ClusterOptions["start"]) {
		this.n = n;
		this.#line = line;
		this.#start = start;
		const own = new URL(url);
		own.hostname = "127.0.0.1";
		own.port = String(line.port);
		this.#url = own.href;
	}

	get pid(): number | undefined {
		return this.#process?.pid;
	}

	get isRunning(): boolean {
		return this.#process !== null && !hasEnded(this.#process);
	}

	async start(): Promise<void> {
		if (this.isRunning) throw new Error(`node ${this.n} runs already`);
		const env: NodeSetup["env"] =
			this.#skewMs === 0 ? {} : { NODE_OPTIONS: `--import=${skewed(this.#skewMs)}` };
		this.#process = await this.#start({ n: this.n, url: this.#url, env });
	}

	async kill(): Promise<void> {
		await this.#end("SIGKILL");
	}

	stop(): Promise<number | null> {
		return this.#end("SIGTERM");
	}

	async ended(): Promise<number | null> {
		const child = this.#process;
		if (!child) return null;
		if (!hasEnded(child)) await once(child, "exit");
		return child.exitCode;
	}

	halt(): void {
		this.#process?.kill("SIGSTOP");
	}

	resume(): void {
		this.#process?.kill("SIGCONT");
	}

	cut(): Promise<void> {
		return this.#line.set("cut");
	}

	silence(): Promise<void> {
		return this.#line.set("silent");
	}

	slow(ms: number): void {
		this.#line.delayMs = ms;
	}

	async mend(): Promise<void> {
		this.#line.delayMs = 0;
		await this.#line.set("open");
		this.#line.cut();
	}

	skew(ms: number): void {
		this.#skewMs = ms;
	}

	async close(): Promise<void> {
		await this.kill();
		await this.#line.close();
	}

	async #end(signal: NodeJS.Signals): Promise<number | null> {
		const ended = this.ended();
		this.#process?.kill(signal);
		return await ended;
	}
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
	return exitCode !== null || signalCode !== null;
}

/** A module that Node loads first, as a URL. Durations stay right: they use the monotonic clock. */
function skewed(ms: number): string {
	const code = `const real = Date.now;
globalThis.Date = class extends Date {
	constructor(...given) { if (given.length) super(...given); else super(real() + ${ms}); }
	static now() { return real() + ${ms}; }
};`;
	return `data:text/javascript,${encodeURIComponent(code)}`;
}
