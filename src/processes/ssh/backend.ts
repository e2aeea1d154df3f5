// Processes on another machine, each the ssh client of a local host: so logs, input and the connection outlive Keryx, and the other
// machine's reports are in a local file. Queries go over a separate connection. A process for that machine never starts anywhere else: if
// it cannot start there, it is failed_start.
import { setTimeout as delay } from "node:timers/promises";
import { KeryxError } from "../../errors.ts";
import type { ProcessBackend } from "../backend.ts";
import { readKill, readSignal, readSize, readSpawn } from "../host/requests.ts";
import { endedStatus, stillRuns, unknown } from "../inspect.ts";
import { MARK } from "../members.ts";
import type {
	KillOptions,
	KillOutcome,
	LogPiece,
	ProcessEnd,
	ProcessInfo,
	PtySize,
	SpawnRequest,
} from "../types.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";
import { lookFor } from "./family.ts";
import { endRemoteFamily, signalMembers } from "./hunt.ts";
import { familyOf, type RemoteRecord, RemoteRecords } from "./records.ts";
import { type RemoteState, readState } from "./remote-state.ts";
import { discardScript, inputScript, prepareScript, runCommand, sizeScript, stateScript } from "./scripts.ts";
import { Settling } from "./settling.ts";
import { RemoteShell } from "./shell.ts";
import { checkTarget, type SshTarget, sshCommand, sshVariables } from "./target.ts";

/** An sshd refuses some concurrent unauthenticated connections, above ten by default. */
const CONNECTING_AT_ONCE = 4;
/** From the other machine's report of its end to the client's end here. */
const EXIT_MS = 5000;
/** A terminal there has its new size within a moment, or a program changed it. */
const RESIZE_MS = 2000;
const RECONNECT_MS = 120_000;

export interface SshBackendOptions extends SshTarget {
	/** Recorded on each process started there. */
	readonly name: string;
	/** The host that holds the ssh clients, with its own home. */
	readonly local: ProcessBackend;
	/** Where records are kept; only for this backend. */
	readonly folder: string;
	/** How long reconnecting is tried before its process is lost; two minutes. */
	readonly reconnectMs?: number;
	log?(message: string, error: unknown): void;
}

/** Takes over what ran when it was last closed. */
export async function createSshBackend(options: SshBackendOptions): Promise<ProcessBackend> {
	checkTarget(options);
	const backend = new SshBackend(options);
	await backend.open();
	return backend;
}

class SshBackend implements ProcessBackend {
	readonly name: string;
	readonly #options: SshBackendOptions;
	readonly #local: ProcessBackend;
	readonly #records: RemoteRecords;
	readonly #shell: RemoteShell;
	readonly #settling: Settling;
	readonly #connecting = new ConcurrencyLimit(CONNECTING_AT_ONCE);

	constructor(options: SshBackendOptions) {
		this.name = options.name;
		this.#options = options;
		this.#local = options.local;
		this.#records = new RemoteRecords(options.folder);
		this.#shell = new RemoteShell(options);
		this.#settling = new Settling({
			records: this.#records,
			local: this.#local,
			shell: this.#shell,
			reconnectMs: options.reconnectMs ?? RECONNECT_MS,
			infoOf: (record) => this.#infoOf(record),
			log: options.log ?? (() => {}),
		});
	}

	async open(): Promise<void> {
		await this.#records.open();
		for (const { id, end, isLost } of await this.#records.all())
			if (!end && !isLost) this.#settling.watch(id);
	}

	async spawn(request: SpawnRequest): Promise<ProcessInfo> {
		if (request.wall)
			throw new KeryxError("wall.unavailable", "programs on another machine cannot run behind a wall", {
				hint: "run it here, or run it without a wall and rely on the account on the other machine",
			});
		const { id, argv, shownArgv, cwd, pty } = readSpawn({ ...request });
		const record: RemoteRecord = {
			id,
			argv: shownArgv ?? argv,
			cwd,
			pty,
			startedAt: Date.now(),
			folder: null,
			started: null,
			isKilled: false,
			end: null,
			isLost: false,
			survivors: [],
			isForgotten: false,
		};
		await this.#records.create(record);
		try {
			return await this.#connecting.run(() => this.#start(record, request));
		} catch (error) {
			if (!(error instanceof KeryxError)) throw error;
			if (error.code === "process.unreachable") return this.#settling.fail(record, error.message);
			// Without a host its progress is unknown; the next opening finds out.
			if (error.code !== "process.host_gone") await this.#discard(await this.#records.read(id));
			throw error;
		}
	}

	async list(): Promise<readonly ProcessInfo[]> {
		const records = (await this.#records.all()).filter(({ isForgotten }) => !isForgotten);
		return (await Promise.all(records.map((record) => this.#infoOf(record)))).sort(byAge);
	}

	async get(id: string): Promise<ProcessInfo> {
		return this.#infoOf(await this.#known(id));
	}

	/** From the host that holds their connections. If the other machine does not answer, the calls say so. */
	silent(ids: readonly string[]): Promise<ReadonlySet<string>> {
		return this.#local.silent(ids);
	}

	async read(
		id: string,
		{ from, limit }: { readonly from: number; readonly limit: number },
	): Promise<LogPiece> {
		await this.#records.read(id);
		return this.#local.read(id, { from, limit }).catch((error: unknown) => {
			if (!isUnknown(error)) throw error;
			return { from, data: Buffer.alloc(0), lost: 0, next: from, size: 0 };
		});
	}

	async *follow(id: string, { from = 0 }: { readonly from?: number } = {}): AsyncGenerator<LogPiece> {
		const { folder } = await this.#records.read(id);
		if (folder === null) return;
		const pieces = this.#local.follow(id, { from })[Symbol.asyncIterator]();
		const over = this.#settling.untilEnd(id).then(() => null);
		let next = from;
		try {
			for (;;) {
				const step = await Promise.race([pieces.next(), over]);
				if (step === null) break;
				if (step.done) return;
				next = step.value.next;
				yield step.value;
			}
		} catch (error) {
			if (!isUnknown(error)) throw error;
			return;
		} finally {
			// Survivors may hold the connection open; they are not waited for.
			void pieces.return?.();
		}
		for (let piece = await this.read(id, { from: next, limit: MAX_PIECE }); piece.next > next; ) {
			yield piece;
			next = piece.next;
			piece = await this.read(id, { from: next, limit: MAX_PIECE });
		}
	}

	async write(id: string, data: Uint8Array): Promise<void> {
		const { started } = await this.#running(id);
		if (started?.input && !started.terminal) {
			const answer = await this.#shell.ask(inputScript(id, started.identity.pid, started.input));
			if (answer.trim() === "closed")
				throw new KeryxError("process.input_closed", `process ${id} no longer accepts input`);
		}
		await this.#local.write(id, data);
	}

	async endInput(id: string): Promise<void> {
		await this.#running(id);
		await this.#local.endInput(id);
	}

	async resize(id: string, size: PtySize): Promise<void> {
		const record = await this.#running(id);
		const { rows, cols } = readSize({ ...size });
		await this.#local.resize(id, { rows, cols });
		await this.#records.update(id, { pty: { rows, cols } });
		const terminal = record.started?.terminal;
		// The client sends size and input independently: the next input must find the new size.
		for (const until = performance.now() + RESIZE_MS; terminal && performance.now() < until; await delay(20))
			if ((await this.#shell.ask(sizeScript(terminal))).trim() === `${rows} ${cols}`) return;
	}

	async signal(id: string, signal: string): Promise<void> {
		const name = readSignal(signal);
		const family = familyOf(await this.#running(id));
		const members = family ? await lookFor(this.#shell, family) : [];
		const group = members.filter((member) => member.group === family?.group);
		if (!family || !(await signalMembers(this.#shell, family, group, [name]))) throw ended(id);
	}

	async kill(id: string, options: KillOptions = {}): Promise<KillOutcome> {
		const checked = readKill({ ...options });
		const record = await this.#known(id);
		const hasEnded = record.end !== null;
		if (hasEnded && record.survivors.length === 0) return { result: "already_exited", survivors: [] };
		const family = familyOf(record);
		const members = family ? await lookFor(this.#shell, family) : [];
		if (members.length === 0 || !family) {
			await this.#settling.untilEnd(id, EXIT_MS);
			return { result: "already_exited", survivors: [] };
		}
		const isOurs = !hasEnded && !(await this.#records.state(id)).exit;
		if (isOurs) await this.#records.update(id, { isKilled: true });
		const survivors = await endRemoteFamily(this.#shell, family, members, checked);
		if (survivors.length > 0) return { result: "survived", survivors };
		if (!(await this.#settling.untilEnd(id, EXIT_MS))) {
			await this.#local.kill(id, { graceMs: 0 });
			await this.#settling.untilEnd(id, EXIT_MS);
		}
		return { result: isOurs ? "killed" : "already_exited", survivors };
	}

	async forget(id: string): Promise<void> {
		await this.#refuseWhileAlive(await this.#known(id));
		await this.#records.update(id, { isForgotten: true });
	}

	async remove(id: string): Promise<void> {
		await this.#refuseWhileAlive(await this.#records.read(id));
		await this.#local.remove(id).catch((error: unknown) => {
			if (!isUnknown(error)) throw error;
		});
		await this.#records.remove(id);
	}

	onEnd(listener: (process: ProcessInfo) => void): () => void {
		return this.#settling.onEnd(listener);
	}

	onGone(listener: () => void): () => void {
		return this.#local.onGone(listener);
	}

	async close(): Promise<void> {
		await this.#settling.close();
		await this.#local.close();
	}

	/** Throws `process.unreachable` if nobody answers. */
	async #start(record: RemoteRecord, request: SpawnRequest): Promise<ProcessInfo> {
		const { id, pty, maxLogBytes } = request;
		const answer = (await this.#shell.ask(prepareScript(request))).trim();
		if (!answer.startsWith("ok ")) return this.#settling.fail(record, answer.replace(/^no /, ""));
		const folder = answer.slice("ok ".length);
		const begun = await this.#records.update(id, { folder });
		const info = await this.#local.spawn({
			id,
			argv: this.#clientCommand(id, folder, pty !== null),
			shownArgv: record.argv,
			cwd: this.#options.folder,
			env: sshVariables(this.#options),
			pty,
			maxLogBytes,
		});
		const state = info.end ? null : await this.#untilStarted(begun, folder);
		if (state?.started) {
			const running = await this.#records.update(id, { started: state.started });
			this.#settling.watch(id);
			return { ...(await this.#infoOf(running)), logSize: 0 };
		}
		const reason = info.end?.reason || state?.failed || state?.rest || NEVER_BEGAN;
		return this.#settling.fail(begun, reason);
	}

	/** The local host refused it: nothing of it is left. */
	async #discard({ id, folder }: RemoteRecord): Promise<void> {
		if (folder !== null) await this.#shell.ask(discardScript(folder)).catch(() => {});
		await this.#records.remove(id);
	}

	/** The mark belongs to the remote process, not to the local client. */
	#clientCommand(id: string, folder: string, terminal: boolean): string[] {
		const client = sshCommand(this.#options, runCommand(folder), { terminal });
		return ["sh", "-c", `exec env -u ${MARK} "$@" 2>>"$0"`, this.#records.stateFile(id), ...client];
	}

	/** Until it has started there, or the client has ended. */
	async #untilStarted({ id, pty }: RemoteRecord, folder: string): Promise<RemoteState> {
		for (let pause = 10; ; pause = Math.min(pause * 2, 100)) {
			const isOver = (await this.#local.get(id)).status !== "running";
			const state = await this.#records.state(id);
			if (state.started || state.failed) return state;
			// On a terminal the client has no second stream for it; and a broken connection may have lost it.
			if (pty || isOver) {
				const { started, failed } = readState(await this.#shell.ask(stateScript(folder)).catch(() => ""));
				if (started || failed || isOver) return { ...state, started, failed };
			}
			await delay(pause);
		}
	}

	async #known(id: string): Promise<RemoteRecord> {
		const record = await this.#records.read(id);
		if (record.isForgotten) throw unknown(id);
		return record;
	}

	async #running(id: string): Promise<RemoteRecord> {
		const record = await this.#known(id);
		if (record.end || record.isLost) throw ended(id);
		return record;
	}

	async #infoOf(record: RemoteRecord): Promise<ProcessInfo> {
		const { id, argv, cwd, pty, startedAt, started, end, isLost } = record;
		return {
			id,
			argv,
			cwd,
			pty,
			startedAt,
			status: statusOf(end, isLost),
			identity: started?.identity ?? null,
			end,
			survivors: await this.#survivorsOf(record),
			logSize: (await this.read(id, { from: 0, limit: 0 })).size,
		};
	}

	/** If nothing was left at the end, nothing can be there now. If nobody can be asked, those seen last. */
	async #survivorsOf(record: RemoteRecord): Promise<readonly number[]> {
		const family = familyOf(record);
		const isOver = record.end ? record.survivors.length > 0 : record.isLost;
		if (!family || !isOver) return [];
		const members = await lookFor(this.#shell, family).catch(() => record.survivors);
		return members.map(({ pid }) => pid);
	}

	async #refuseWhileAlive(record: RemoteRecord): Promise<void> {
		if (!record.end && !record.isLost) throw stillRuns(record.id);
		const survivors = await this.#survivorsOf(record);
		if (survivors.length === 0) return;
		const problem = `process ${record.id} left others behind: ${survivors.join(", ")}`;
		throw new KeryxError("process.running", problem);
	}
}

const NEVER_BEGAN = "the connection was lost before it was known to have started";
const MAX_PIECE = 256 * 1024;

function statusOf(end: ProcessEnd | null, isLost: boolean): ProcessInfo["status"] {
	if (end) return endedStatus(end);
	return isLost ? "lost" : "running";
}

function byAge(a: ProcessInfo, b: ProcessInfo): number {
	return a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1);
}

function isUnknown(error: unknown): boolean {
	return error instanceof KeryxError && error.code === "process.unknown";
}

function ended(id: string): KeryxError {
	return new KeryxError("process.ended", `process ${id} has ended`);
}
