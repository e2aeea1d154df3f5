// Another agent program as the agent, over the Agent Client Protocol. It runs its own loop; Keryx keeps the transcript and tells it what
// it lacks. A started turn continues by itself: its reader may stop at any moment, and the program is still cancelled, ended or kept for
// the next turn, never leaked.
import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { hideSecretLike } from "../../config/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { Clock } from "../../time/index.ts";
import type { CommandWall } from "../../walls/index.ts";
import {
	type AgentFailure,
	CUT,
	type LoopAgent,
	type LoopEvent,
	type LoopInput,
	NO_USAGE,
	type Permission,
	type Usage,
} from "../types.ts";
import { ProgramFailure } from "./failures.ts";
import { Pool } from "./pool.ts";
import type { Program, ProgramSession } from "./program.ts";
import { continues, promptBlocks, sentHistoryOf } from "./prompt.ts";
import { EventQueue } from "./queue.ts";
import { Report, type Spent } from "./report.ts";

/** An MCP server, as the protocol describes it. */
export type AcpServer = McpServer;

/** A cancelled program must end its prompt within this time, or it is killed with everything it started. */
const CANCEL_MS = 5000;
const MINUTE = 60_000;

export interface AcpAgentOptions {
	readonly command: string;
	readonly args: readonly string[];
	/** Where this turn's program runs, and what it sees of Keryx's environment. May throw wall.path. */
	readonly wallOf: (turn: Pick<LoopInput, "conversation" | "standing">) => Promise<CommandWall>;
	readonly clock: Clock;
	/** The program's working folder; created if missing. */
	readonly workspaceOf: (conversation: string) => string;
	/** Time limit for each of initialize and session/new. */
	readonly startSeconds?: number;
	readonly idleMinutes?: number;
	readonly maxPrograms?: number;
	/** Removed from everything the program says. */
	readonly secrets: Secrets;
	/** MCP servers passed to this turn's program; absent: none. */
	readonly mcpServers?: (turn: Pick<LoopInput, "standing">) => readonly AcpServer[];
}

export interface AcpAgent extends LoopAgent {
	close(): Promise<void>;
}

export function createAcpAgent({
	idleMinutes = 15,
	maxPrograms = 8,
	workspaceOf,
	wallOf,
	secrets,
	mcpServers = () => [],
	...options
}: AcpAgentOptions): AcpAgent {
	const pool = new Pool({ clock: options.clock, idleMs: idleMinutes * MINUTE, maxPrograms });
	/** The protocol library is loaded with the first program. */
	const starter = async (input: LoopInput) => {
		const { startProgram } = await import("./start.ts");
		const cwd = workspaceOf(input.conversation);
		return async () => startProgram({ ...options, secrets, cwd, wall: await wallOf(input) });
	};
	return {
		kind: "loop",
		name: `acp ${basename(options.command)}`,
		async *run(input): AsyncGenerator<LoopEvent> {
			if (input.signal.aborted) return;
			const events = new EventQueue<LoopEvent>();
			void new AcpTurn({ input, events, pool, starter, secrets, mcpServers, clock: options.clock }).run();
			for await (const event of events) {
				if (input.signal.aborted) return;
				yield event;
			}
		},
		close: () => pool.close(),
	};
}

/** A program remembers what it was sent and may use: one that served the owner never serves another role (I18). */
function keptAs({ conversation, standing }: LoopInput): string {
	return `${conversation} ${standing}`;
}

interface AcpTurnOptions {
	readonly input: LoopInput;
	readonly events: EventQueue<LoopEvent>;
	readonly pool: Pool;
	/** How to start the turn's program. */
	readonly starter: (input: LoopInput) => Promise<() => Promise<Program>>;
	readonly clock: Clock;
	readonly secrets: Secrets;
	readonly mcpServers: NonNullable<AcpAgentOptions["mcpServers"]>;
}

class AcpTurn {
	readonly #input: LoopInput;
	readonly #events: EventQueue<LoopEvent>;
	readonly #pool: Pool;
	readonly #starter: AcpTurnOptions["starter"];
	readonly #clock: Clock;
	readonly #secrets: Secrets;
	readonly #mcpServers: AcpTurnOptions["mcpServers"];
	readonly #report: Report;
	/** What an abort must do now. */
	#onAbort = () => {};
	readonly #aborted = Promise.withResolvers<"cancelled">();

	constructor({ input, events, pool, starter, clock, secrets, mcpServers }: AcpTurnOptions) {
		this.#input = input;
		this.#events = events;
		this.#pool = pool;
		this.#starter = starter;
		this.#clock = clock;
		this.#secrets = secrets;
		this.#mcpServers = mcpServers;
		const { maxAnswer } = input;
		this.#report = new Report(input.history, {
			emit: (event) => events.push(event),
			secrets,
			...(maxAnswer !== undefined && { maxAnswer }),
		});
	}

	/** Never throws: failures are events. */
	async run(): Promise<void> {
		const { signal } = this.#input;
		const abort = () => {
			this.#events.abandon();
			this.#aborted.resolve("cancelled");
			this.#onAbort();
		};
		signal.addEventListener("abort", abort, { once: true });
		const leave = await this.#pool.enter(keptAs(this.#input));
		try {
			await this.#talk();
		} catch (error) {
			this.#report.cutOff();
			const failure = failureOf(error);
			this.#events.push({
				type: "failed",
				failure: { ...failure, detail: hideSecretLike(this.#secrets.hide(failure.detail)) },
			});
		} finally {
			signal.removeEventListener("abort", abort);
			this.#events.end();
			leave();
		}
	}

	async #talk(): Promise<void> {
		const { history, signal } = this.#input;
		const taken = await this.#pool.take(keptAs(this.#input), signal, await this.#starter(this.#input));
		if (!taken) {
			if (signal.aborted) return;
			throw new ProgramFailure({ kind: "provider_down", detail: "Keryx is stopping" });
		}
		const { program, isNew } = taken;
		// Nothing is lost with a program that has not said anything yet.
		this.#onAbort = () => program.kill();
		if (isNew) await program.initialize();
		const session = await this.#sessionOn(program);
		if (signal.aborted) return;
		let cancelled = () => {};
		this.#onAbort = () => {
			program.cancel(session);
			cancelled = this.#clock.after(CANCEL_MS, () => program.kill());
		};
		// Until it answers, nobody knows what it has read.
		program.session = null;
		try {
			const { stopReason } = await program.prompt(session, promptBlocks(this.#input, session.sentHistory), {
				update: (update) => {
					this.#report.update(update);
					// A program that talks too much does not listen, either.
					if (this.#report.isFull) program.kill();
				},
				permit: (toolCall) => this.#permit(toolCall),
				room: () => this.#events.room(),
			});
			this.#ended(stopReason, program, session);
			session.sentHistory = sentHistoryOf([...history, ...this.#report.rows()]);
			program.session = session;
		} catch (error) {
			if (!this.#report.isFull || signal.aborted) throw error;
			this.#report.end(CUT, usageOf(program.name, this.#report.spent, session.spent));
			this.#events.push({ type: "done" });
		} finally {
			cancelled();
		}
	}

	/** Asks a human, and waits. A finished turn allows nothing. */
	async #permit(toolCall: unknown): Promise<Permission> {
		const { signal, permit } = this.#input;
		if (signal.aborted) return "cancelled";
		const ask = this.#report.ask(toolCall);
		if (!ask) return "impossible";
		const permission = ask.isAskable
			? await Promise.race([permit(ask.call, ask.question), this.#aborted.promise])
			: "impossible";
		if (!this.#report.answered(ask, permission)) return "cancelled";
		// The start of the call is recorded before the program gets its answer.
		await this.#events.taken();
		return signal.aborted ? "cancelled" : permission;
	}

	/** Reuses the session if its history is a prefix; otherwise opens a new one. */
	async #sessionOn(program: Program): Promise<ProgramSession> {
		const { session: keryxSession, system, history } = this.#input;
		const servers = this.#mcpServers(this.#input);
		const frame = createHash("sha256")
			.update(JSON.stringify([keryxSession, system, servers]))
			.digest("hex");
		const { session } = program;
		if (session?.sentHistory && session.frame === frame && continues(history, session.sentHistory))
			return session;
		return program.open(frame, servers);
	}

	#ended(stopReason: string, program: Program, session: ProgramSession): void {
		if (stopReason === "cancelled") {
			this.#report.cutOff();
			if (this.#input.signal.aborted) return;
			throw new ProgramFailure({
				kind: "malformed",
				detail: `${program.name} cancelled the prompt`,
			});
		}
		if (stopReason === "refusal")
			throw new ProgramFailure({ kind: "refused", detail: `${program.name} refused the prompt` });
		const { spent } = this.#report;
		this.#report.end(FINISH_REASONS[stopReason] ?? stopReason, usageOf(program.name, spent, session.spent));
		session.spent = spent ?? session.spent;
		this.#events.push({ type: "done" });
	}
}

const FINISH_REASONS: Partial<Record<string, string>> = { end_turn: "stop", max_tokens: "length" };

/** Tokens are the program's business; it reports its total. */
function usageOf(model: string, now: Spent | null, before: Spent | null): Usage {
	const earlier = before && before.currency === now?.currency ? before.amount : 0;
	return {
		...NO_USAGE,
		provider: "acp",
		model,
		costMicros: now && Math.max(0, Math.round((now.amount - earlier) * 1e6)),
		...(now && { currency: now.currency }),
	};
}

function failureOf(error: unknown): AgentFailure {
	if (error instanceof ProgramFailure) return error.failure;
	return { kind: "program_failed", detail: error instanceof Error ? error.message : String(error) };
}
