// Determines how each process ended. Normally the other machine reports it before the client's end here. If the connection broke, that
// machine is asked again: for the recorded end, or whether the process is alive. Only if it stays unreachable, or knows nothing, the
// process is lost. An end is recorded once, and reported after that.
import { setTimeout as delay } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import type { ProcessBackend } from "../backend.ts";
import type { Member } from "../membership.ts";
import type { ProcessEnd, ProcessInfo } from "../types.ts";
import { lookFor, lookScript, membersIn } from "./family.ts";
import { familyOf, type RemoteRecord, type RemoteRecords } from "./records.ts";
import { exitOfClient, type RemoteExit, readState } from "./remote-state.ts";
import { discardScript, stateScript } from "./scripts.ts";
import type { RemoteShell } from "./shell.ts";

const LOOK_MS = 200;
/** The program has ended but others hold its output: it is done after this much silence. */
const SILENCE_MS = 300;
/** Or after this long without silence, or if they cannot be found. */
const PATIENCE_MS = 3000;
const RETRY_MS = 100;
const LONGEST_RETRY_MS = 15_000;
/** Nothing is alive there, but no end is recorded: the waiting parent may be about to record it. */
const LAST_LOOKS = 4;

export interface SettlingOptions {
	readonly records: RemoteRecords;
	readonly local: ProcessBackend;
	readonly shell: RemoteShell;
	readonly reconnectMs: number;
	infoOf(record: RemoteRecord): Promise<ProcessInfo>;
	log(message: string, error: unknown): void;
}

export class Settling {
	readonly #options: SettlingOptions;
	readonly #listeners = new Set<(process: ProcessInfo) => void>();
	readonly #clients = new Map<string, PromiseWithResolvers<void>>();
	readonly #attending = new Map<string, Promise<void>>();
	readonly #leaving = new AbortController();
	readonly #unsubscribe: () => void;

	constructor(options: SettlingOptions) {
		this.#options = options;
		const { local } = options;
		const stops = [
			local.onEnd(({ id }) => this.#clients.get(id)?.resolve()),
			local.onGone(() => {
				for (const client of this.#clients.values()) client.resolve();
			}),
		];
		this.#unsubscribe = () => {
			for (const stop of stops) stop();
		};
	}

	/** From now on its end is watched for. */
	watch(id: string): void {
		if (this.#attending.has(id)) return;
		const attending = this.#attend(id).finally(() => {
			this.#attending.delete(id);
			this.#clients.delete(id);
		});
		this.#attending.set(id, attending);
	}

	/** It never ran. */
	async fail({ id }: RemoteRecord, reason: string): Promise<ProcessInfo> {
		const end: ProcessEnd = {
			cause: "failed_start",
			code: null,
			signal: null,
			reason,
			endedAt: Date.now(),
		};
		return this.#record(id, { end });
	}

	/** False if that took too long. */
	async untilEnd(id: string, withinMs?: number): Promise<boolean> {
		const ended = Promise.withResolvers<true>();
		const stop = this.onEnd((process) => process.id === id && ended.resolve(true));
		const waiting = new AbortController();
		try {
			const { end, isLost } = await this.#options.records.read(id);
			if (end || isLost) return true;
			const tooLong = delay(withinMs ?? 0, false, { signal: waiting.signal }).catch(() => false);
			return await (withinMs === undefined ? ended.promise : Promise.race([ended.promise, tooLong]));
		} finally {
			waiting.abort();
			stop();
		}
	}

	onEnd(listener: (process: ProcessInfo) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	async close(): Promise<void> {
		this.#leaving.abort();
		this.#unsubscribe();
		// Pending requests get no answer.
		await this.#options.shell.close();
		await Promise.all(this.#attending.values());
	}

	/** Never rejects. If closed or without a host, the next opening continues. */
	async #attend(id: string): Promise<void> {
		while (!this.#leaving.signal.aborted) {
			try {
				return await this.#settle(id);
			} catch (error) {
				if (this.#leaving.signal.aborted || hasCode(error, "process.host_gone")) return;
				this.#options.log(`the end of ${id} cannot be recorded yet`, error);
				await this.#pause(LONGEST_RETRY_MS).catch(() => {});
			}
		}
	}

	async #settle(id: string): Promise<void> {
		const client = Promise.withResolvers<void>();
		this.#clients.set(id, client);
		let state = await this.#client(id);
		while (state?.status === "running") {
			const { exit } = await this.#options.records.state(id);
			const left = exit && (await this.#leftBehind(id));
			if (left) return this.#finish(id, exit, left);
			const pause = this.#pause(LOOK_MS).then(() => false);
			const isOver = await Promise.race([client.promise.then(() => true), pause]);
			if (isOver) state = await this.#client(id);
		}
		await this.#afterClient(id, state);
	}

	/** Null where there never was one. */
	async #client(id: string): Promise<ProcessInfo | null> {
		return this.#options.local.get(id).catch((error: unknown) => {
			if (hasCode(error, "process.unknown")) return null;
			throw error;
		});
	}

	/** What holds the connection of an ended program; null once the client has ended as well. */
	async #leftBehind(id: string): Promise<readonly Member[] | null> {
		const { records, shell } = this.#options;
		const family = familyOf(await records.read(id));
		const since = performance.now();
		let size = -1;
		for (let quietSince = since; ; await this.#pause(SILENCE_MS / 4)) {
			const state = await this.#client(id);
			if (state?.status !== "running") return null;
			const now = performance.now();
			if (state.logSize !== size) quietSince = now;
			size = state.logSize;
			const isPatient = now - since < PATIENCE_MS;
			if (isPatient && now - quietSince < SILENCE_MS) continue;
			const members = family ? await lookFor(shell, family).catch(() => []) : [];
			if (members.length > 0 || !isPatient) return members;
		}
	}

	/** A client whose host died ends with its process, or when that prints; it counts as none. */
	async #afterClient(id: string, client: ProcessInfo | null): Promise<void> {
		const { records, shell, reconnectMs } = this.#options;
		const since = performance.now();
		let looks = 0;
		for (let pause = RETRY_MS; ; pause = Math.min(pause * 2, LONGEST_RETRY_MS)) {
			const record = await records.read(id);
			const local = await records.state(id);
			const clientExit = exitOfClient(client?.end?.code ?? null);
			try {
				if (record.folder === null) return void (await this.fail(record, INTERRUPTED));
				const answer = await shell.ask(`${stateScript(record.folder)}\necho ${SEAM}\n${lookScript(id)}`);
				const [state = "", seen = ""] = answer.split(`${SEAM}\n`);
				const remote = readState(state);
				const started = record.started ?? local.started ?? remote.started;
				if (!started) return void (await this.fail(record, local.rest || INTERRUPTED));
				const family = { id, leader: started.identity, group: started.group, witnesses: [] };
				const members = membersIn(seen, family);
				if (!record.started) await records.update(id, { started });
				const exit = local.exit ?? remote.exit;
				if (exit) return this.#finish(id, exit, members);
				if (members.length === 0 && ++looks >= LAST_LOOKS)
					return clientExit ? this.#finish(id, clientExit, []) : this.#lose(id);
			} catch (error) {
				if (!hasCode(error, "process.unreachable")) throw error;
				const exit = local.exit ?? clientExit;
				if (exit) return this.#finish(id, exit, []);
				if (performance.now() - since >= reconnectMs) return this.#lose(id);
			}
			await this.#pause(pause);
		}
	}

	async #finish(id: string, { code, signal }: RemoteExit, left: readonly Member[]): Promise<void> {
		this.#leaving.signal.throwIfAborted();
		const { isKilled } = await this.#options.records.read(id);
		const cause = isKilled ? "killed" : signal === null ? "exited" : "signal";
		const end: ProcessEnd = { cause, code, signal, reason: null, endedAt: Date.now() };
		const survivors = left.map(({ bootId, pid, startTime }) => ({ bootId, pid, startTime }));
		await this.#record(id, { end, survivors });
	}

	async #lose(id: string): Promise<void> {
		this.#leaving.signal.throwIfAborted();
		await this.#record(id, { isLost: true });
	}

	async #record(id: string, over: Partial<RemoteRecord>): Promise<ProcessInfo> {
		const { records, shell, infoOf } = this.#options;
		const record = await records.update(id, over);
		if (record.folder !== null && record.end) await shell.ask(discardScript(record.folder)).catch(() => {});
		const info = await infoOf(record);
		for (const listener of this.#listeners) listener(info);
		return info;
	}

	async #pause(ms: number): Promise<void> {
		await delay(ms, undefined, { signal: this.#leaving.signal });
	}
}

const SEAM = "keryx-seam";
const INTERRUPTED = "Keryx stopped or lost its connection before it started";

function hasCode(error: unknown, code: KeryxError["code"]): boolean {
	return error instanceof KeryxError && error.code === code;
}
