// An agent that runs the program beside this file, and a look at which processes are there.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
	type AcpAgent,
	type AcpAgentOptions,
	createAcpAgent,
	type LoopEvent,
	type LoopInput,
} from "../../src/agents/index.ts";
import type { PromptMessage } from "../../src/domain/index.ts";
import { NO_SECRETS } from "../../src/secrets/index.ts";
import { createVirtualClock, type VirtualClock } from "../../src/testing/index.ts";
import { type CommandWall, newWall, readMachine, type WallKind, withoutWall } from "../../src/walls/index.ts";
import { programFile } from "../support/programs.ts";
import { eventually } from "../support/soon.ts";
import { inputOf } from "./input.ts";

export const PROGRAM = programFile(new URL("program.ts", import.meta.url));

export interface Made {
	readonly agent: AcpAgent;
	readonly clock: VirtualClock;
}

/** A folder and the agents that were made, all gone after `end`. Their programs run behind a wall where one is named. */
export class Bench {
	/** Not in /tmp, which each wall has its own of. */
	readonly folder = mkdtempSync("/var/tmp/keryx-acp-");
	readonly #wall: WallKind | null;
	readonly #made: Made[] = [];

	constructor(wall: WallKind | null = null) {
		this.#wall = wall;
	}

	make(manner = "good", options: Partial<AcpAgentOptions> = {}): Made {
		const clock = createVirtualClock(0);
		const agent = createAcpAgent({
			command: process.execPath,
			args: ["--disable-warning=ExperimentalWarning", PROGRAM, manner],
			wallOf: async () => this.#behind(),
			clock,
			workspaceOf: () => this.folder,
			secrets: NO_SECRETS,
			...options,
		});
		const made = { agent, clock };
		this.#made.push(made);
		return made;
	}

	#behind(): CommandWall {
		return this.#wall === null ? withoutWall(this.env) : walledIn(this.folder, this.#wall, this.env);
	}

	/** Compiled code is kept, so that the programs start faster. */
	get env(): Record<string, string> {
		return { PATH: process.env.PATH ?? "", NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "" };
	}

	async end(): Promise<void> {
		const closed = this.#made.map(({ agent }) => agent.close());
		// Those that do not listen are ended when their time is over.
		await Promise.all(this.#made.map(({ clock }) => clock.advance(2000)));
		await Promise.all(closed);
		rmSync(this.folder, { recursive: true, force: true });
	}
}

/** The folder is the workspace; its home lies beside what it shows. */
export function walledIn(
	folder: string,
	kind: WallKind,
	env: Readonly<Record<string, string>>,
): Extract<CommandWall, { run: "walled" }> {
	const machine = readMachine();
	if (!machine) throw new Error("bubblewrap is not installed");
	const home = join(folder, ".keryx");
	mkdirSync(home, { recursive: true });
	const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
	return {
		run: "walled",
		env,
		request: {
			machine,
			// A box has neither Node nor the program otherwise.
			wall: newWall({ kind, home, workspace: folder, read: kind === "box" ? [root] : [] }),
		},
	};
}

export async function answer(agent: AcpAgent, given: Partial<LoopInput> | string): Promise<LoopEvent[]> {
	const events: LoopEvent[] = [];
	for await (const event of agent.run(inputOf(given))) events.push(event);
	return events;
}

export function textIn(events: readonly LoopEvent[]): string {
	return events.map((event) => (event.type === "text" ? event.delta : "")).join("");
}

/** What the program says it was shown. */
export function told(events: readonly LoopEvent[]): { sessions: number; prompts: number; texts: string[] } {
	return JSON.parse(textIn(events));
}

/** The rows that the gateway would have stored for these events. */
export function rowsOf(events: readonly LoopEvent[]): PromptMessage[] {
	return events.flatMap((event): PromptMessage[] => {
		if (event.type === "message")
			return [{ role: "assistant", content: event.message.content, toolCalls: event.message.toolCalls }];
		if (event.type !== "result") return [];
		const { toolCallId, toolName, content, isError } = event;
		return [{ role: "tool", toolCallId, toolName, content, isError }];
	});
}

/** A turn that is read until it says something, and then waits. */
export async function begun(agent: AcpAgent, given: Partial<LoopInput>) {
	const controller = new AbortController();
	const iterator = agent.run(inputOf({ ...given, signal: controller.signal }))[Symbol.asyncIterator]();
	const first = await iterator.next();
	return { abort: () => controller.abort(), next: () => iterator.next(), first: first.value as LoopEvent };
}

/** A zombie that nobody has collected yet is gone too. */
export function isGone(pid: number): boolean {
	try {
		process.kill(pid, 0);
	} catch {
		return true;
	}
	const stat = `/proc/${pid}/stat`;
	return existsSync(stat) && /\) Z /.test(readFileSync(stat, "utf8"));
}

export async function goneSoon(...pids: readonly number[]): Promise<void> {
	await eventually(() => {
		if (!pids.every(isGone)) throw new Error(`still there: ${pids.filter((pid) => !isGone(pid))}`);
	});
}
