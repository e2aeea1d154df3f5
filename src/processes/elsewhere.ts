// Programs of another gateway on the same store: that one is asked to kill them, or for their output. If it does not answer, nothing is known.
import { z } from "zod";
import { KeryxError } from "../errors.ts";
import { type Cluster, NodeCalls, OPERATOR, type Process, type Store } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { LogPart, LogPartOptions } from "./log/part.ts";
import type { KilledProcess, ProcessActor, Processes } from "./registry.ts";
import type { KillOptions, KillOutcome } from "./types.ts";

/** Bytes of output in one answer: the rest is read from where it ends. */
const LONGEST_PART = 32 * 1024;
const READ_MS = 5000;
/** In addition to the time that the program gets to end. */
const KILL_MS = 12_000;
const GRACE_MS = 5000;

const killing = z.object({
	id: z.string(),
	actor: z.union([
		z.object({ kind: z.literal("operator") }),
		z.object({ kind: z.literal("conversation"), conversation: z.string(), standing: z.string() }),
	]),
	options: z.object({ signal: z.string().optional(), graceMs: z.number().optional() }),
});
const reading = z.object({
	id: z.string(),
	start: z.union([z.object({ at: z.number() }), z.object({ lines: z.number() })]),
	limit: z.number(),
	raw: z.boolean(),
});

export interface ProgramsElsewhereOptions {
	readonly store: Pick<Store, "epoch" | "process">;
	readonly cluster: Cluster;
	readonly clock: Clock;
	/** The programs of one of this gateway's machines. */
	readonly at: (backend: string) => Processes | undefined;
}

export class ProgramsElsewhere {
	readonly #options: ProgramsElsewhereOptions;
	readonly #calls: NodeCalls;

	constructor(options: ProgramsElsewhereOptions) {
		this.#options = options;
		const { cluster, store, clock } = options;
		this.#calls = new NodeCalls({ cluster, epoch: store.epoch, clock });
		this.#calls.answer("kill program", async (given) => {
			const { id, actor, options: how } = killing.parse(given);
			const { process: _, ...outcome } = await (await this.#own(id)).kill(actor as ProcessActor, id, {
				...(how.signal !== undefined && { signal: how.signal }),
				...(how.graceMs !== undefined && { graceMs: how.graceMs }),
			});
			return outcome;
		});
		this.#calls.answer("program output", async (given) => {
			const { id, ...how } = reading.parse(given);
			return (await this.#own(id)).part(OPERATOR, id, { ...how, limit: Math.min(how.limit, LONGEST_PART) });
		});
	}

	async kill(
		node: number,
		actor: ProcessActor,
		{ id }: Process,
		options: KillOptions = {},
	): Promise<KilledProcess> {
		const ms = (options.graceMs ?? GRACE_MS) + KILL_MS;
		const outcome = (await this.#calls.ask(node, "kill program", { id, actor, options }, ms)) as KillOutcome;
		return { process: await this.#options.store.process({ scope: OPERATOR, id }), ...outcome };
	}

	async part(node: number, { id }: Process, options: LogPartOptions): Promise<LogPart> {
		return (await this.#calls.ask(node, "program output", { id, ...options }, READ_MS)) as LogPart;
	}

	async #own(id: string): Promise<Processes> {
		const { backend } = await this.#options.store.process({ scope: OPERATOR, id });
		const found = this.#options.at(backend);
		if (!found) throw new KeryxError("process.unreachable", `it does not run at this gateway`);
		return found;
	}
}
