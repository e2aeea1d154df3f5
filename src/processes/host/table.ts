// The processes of a home: those this host holds, from memory; all others, from their files.
import { KeryxError } from "../../errors.ts";
import { createRecord, type ProcessMeta, removeFolder, writeEnd, writeMeta } from "../files.ts";
import { identityOf } from "../identity.ts";
import {
	forgetProcess,
	inspect,
	inspectProcess,
	killSurvivors,
	removeProcess,
	stillRuns,
} from "../inspect.ts";
import { MARK } from "../members.ts";
import type { KillOptions, KillOutcome, ProcessInfo, SpawnRequest } from "../types.ts";
import { LogWriter } from "./log-writer.ts";
import { ManagedProcess } from "./managed.ts";
import { startPiped } from "./piped.ts";
import type { Started } from "./start.ts";
import { startOnTerminal, startWalledOnTerminal } from "./terminal.ts";

export interface TableEvents {
	onEnd(process: ProcessInfo): void;
	/** A process was added or removed. */
	onChange(): void;
}

export class ProcessTable {
	readonly #home: string;
	readonly #events: TableEvents;
	readonly #held = new Map<string, ManagedProcess>();
	#starting = 0;

	constructor(home: string, events: TableEvents) {
		this.#home = home;
		this.#events = events;
	}

	/** Something runs, or still writes to a log. */
	get isBusy(): boolean {
		return this.#held.size > 0 || this.#starting > 0;
	}

	async spawn(request: SpawnRequest): Promise<ProcessInfo> {
		const { id } = request;
		this.#starting++;
		try {
			const meta: ProcessMeta = {
				argv: request.shownArgv ?? request.argv,
				cwd: request.cwd,
				pty: request.pty,
				startedAt: Date.now(),
				host: identityOf(process.pid) ?? { bootId: "", pid: process.pid, startTime: "" },
				identity: null,
			};
			// Before it starts: if the host dies in between, its mark identifies it.
			const folder = await createRecord(this.#home, id, meta);
			const started = await this.#start(request, folder);
			if (started instanceof Error) return await this.#recordFailure(id, folder, started);
			return await this.#hold(id, folder, meta, started, request.maxLogBytes);
		} finally {
			this.#starting--;
			this.#events.onChange();
		}
	}

	async list(): Promise<ProcessInfo[]> {
		const infos: ProcessInfo[] = [];
		for (const info of await inspect(this.#home)) {
			const held = this.#held.get(info.id);
			// A process that ended since its file was read is read again: its end has been reported by now.
			infos.push(
				held?.info ?? (info.status === "running" ? await this.get(info.id).catch(() => info) : info),
			);
		}
		return infos;
	}

	async get(id: string): Promise<ProcessInfo> {
		return this.#held.get(id)?.info ?? (await inspectProcess(this.#home, id));
	}

	/** One whose output may still grow; null if all of it is on disk. */
	heldOf(id: string): ManagedProcess | null {
		return this.#held.get(id) ?? null;
	}

	/** One that runs here. */
	async running(id: string): Promise<ManagedProcess> {
		const held = this.#held.get(id);
		if (held && !held.hasEnded) return held;
		const { status } = await this.get(id);
		throw new KeryxError("process.ended", `process ${id} ${status === "lost" ? "is lost" : "has ended"}`);
	}

	async kill(id: string, options: KillOptions): Promise<KillOutcome> {
		const held = this.#held.get(id);
		return held ? held.kill(options) : killSurvivors(this.#home, id, options);
	}

	async forget(id: string): Promise<void> {
		await forgetProcess(this.#home, id);
	}

	async remove(id: string): Promise<void> {
		const held = this.#held.get(id);
		if (held && !(await held.isDone())) throw stillRuns(id);
		await removeProcess(this.#home, id);
	}

	/** Returns why it cannot be started; rejects, and leaves nothing behind, if it cannot be tried. */
	async #start(request: SpawnRequest, folder: string): Promise<Started | Error> {
		try {
			const marked = { ...request, env: { ...request.env, [MARK]: request.id } };
			return await start(marked, folder).catch(orReason);
		} catch (error) {
			await removeFolder(folder);
			throw error;
		}
	}

	async #hold(
		id: string,
		folder: string,
		before: ProcessMeta,
		started: Started,
		maxLogBytes: number,
	): Promise<ProcessInfo> {
		const meta = {
			...before,
			identity: identityOf(started.pid) ?? { ...before.host, pid: started.pid, startTime: "" },
		};
		// It runs. If the disk refuses this, its mark still identifies it.
		const recorded = writeMeta(folder, meta).catch((error: Error) => {
			process.stderr.write(`${new Date().toISOString()} ${id} cannot be recorded: ${error.message}\n`);
		});
		const held = new ManagedProcess({
			id,
			folder,
			meta,
			started,
			log: new LogWriter(folder, maxLogBytes),
			recorded,
			onEnd: ({ info }) => this.#events.onEnd(info),
			onDone: () => {
				this.#held.delete(id);
				this.#events.onChange();
			},
		});
		this.#held.set(id, held);
		await recorded;
		return held.info;
	}

	async #recordFailure(id: string, folder: string, { message: reason }: Error): Promise<ProcessInfo> {
		await writeEnd(folder, {
			cause: "failed_start",
			code: null,
			signal: null,
			reason,
			endedAt: Date.now(),
			survivors: [],
		});
		const info = await inspectProcess(this.#home, id);
		this.#events.onEnd(info);
		return info;
	}
}

function orReason(error: Error): Error {
	if (error instanceof KeryxError) throw error;
	return error;
}

/** Throws with the reason if a program cannot be started. */
async function start(request: SpawnRequest, folder: string): Promise<Started> {
	if (!request.pty) return startPiped(request, folder);
	return request.wall ? startWalledOnTerminal(request, folder) : startOnTerminal(request);
}
