// The processes of a store: recorded before anything starts, ended exactly once, whatever happens to the gateway or their host. Only the
// conversation and the operator can see and use each one.
import { isAtLeast } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { OPERATOR, type Process, type ProcessScope, type Woken } from "../store/index.ts";
import type { ProcessBackend } from "./backend.ts";
import { ProcessKeeper } from "./keeper/keeper.ts";
import { type LogPart, type LogPartOptions, logPart } from "./log/part.ts";
import {
	bothEnds,
	type LogLines,
	logLines,
	type NewOutput,
	newOutput,
	tailOf,
	type WholeOutput,
} from "./log/reading.ts";
import type {
	KilledProcess,
	ListedProcess,
	ProcessActor,
	Processes,
	ProcessesOptions,
	ProcessOwner,
	StartRequest,
} from "./registry.ts";
import type { KillOptions, KillOutcome, LogPiece, PtySize } from "./types.ts";
import { ProcessWatch } from "./watch.ts";

/** Running ones are listed first, and fewer may run. */
const MOST_KILLED = 10_000;
/** How long to wait until a kill is recorded. */
const RECORD_MS = 5000;

export function createProcesses(options: ProcessesOptions): Processes {
	return new StoredProcesses(options);
}

/** A program without a role predates roles, or belongs to nobody: it counts as the owner's. */
export function mayTouch(actor: ProcessActor, { role }: Pick<Process, "role">): boolean {
	return actor.kind === "operator" || isAtLeast(actor.standing, role ?? "owner");
}

export function refused({ id }: Pick<Process, "id">): KeryxError {
	return new KeryxError("process.refused", `${id} was started for someone with a higher role`, {
		field: "id",
	});
}

class StoredProcesses implements Processes {
	readonly #options: ProcessesOptions;
	readonly #keeper: ProcessKeeper;
	readonly #watch: ProcessWatch;
	readonly #listeners = new Set<(woken: Woken) => void>();
	readonly #waiting = new Map<string, Set<() => void>>();
	#isOpen = false;

	constructor(options: ProcessesOptions) {
		this.#options = options;
		const { store, clock, settings, machine, render = () => [], log = () => {} } = options;
		this.#keeper = new ProcessKeeper({
			store,
			clock,
			machine,
			settings,
			log,
			ended: (id, woken) => {
				for (const resolve of [...(this.#waiting.get(id) ?? [])]) resolve();
				if (woken) for (const listener of this.#listeners) listener(woken);
			},
		});
		this.#watch = new ProcessWatch({
			store,
			clock,
			machine,
			keepDays: () => settings().keepDays,
			render,
			log,
		});
	}

	async open(): Promise<void> {
		this.#isOpen = true;
		await this.#keeper.open();
		this.#watch.start();
	}

	async close(): Promise<void> {
		// Not taken over yet, or already released: do not kill them.
		if (this.#isOpen && this.#options.settings().onShutdown === "kill") await this.#killEverything();
		this.#isOpen = false;
		await this.#watch.stop();
		await this.#keeper.close();
	}

	async start(request: StartRequest, owner: ProcessOwner): Promise<Process> {
		const { store, machine, ids, settings } = this.#options;
		const { command, argv, cwd, background, pty, notify, checkMs } = request;
		// It would be in the process's own file (I12).
		if (store.secrets.isIn([command, argv]))
			throw new KeryxError("argument.invalid", "the command contains a known secret", {
				field: "command",
				hint: "write \u0024{secret:NAME} instead",
			});
		const { maxRunning, maxPerConversation } = settings();
		const id = `proc_${Buffer.from(ids.bytes(6)).toString("hex")}`;
		await this.#keeper.starting(id, async () => {
			const begin = {
				id,
				...owner,
				backend: machine.name,
				command,
				cwd,
				...(request.wall && { wall: request.wall.wall.kind }),
				background,
				pty: pty !== null,
				notify,
				...(checkMs !== undefined && { checkMs }),
				limits: { inAll: maxRunning, perConversation: maxPerConversation },
				isShared: store.cluster !== null,
			};
			const answer = await this.#keeper.soon(() => store.beginProcess(begin), request.signal);
			if (answer.kind === "limit") throw tooMany(answer.of, answer.limit);
			await this.#keeper.spawn(answer.process, request);
		});
		this.#watch.look();
		return this.find(OPERATOR, id, request.signal);
	}

	async list(scope: ProcessScope, limit: number): Promise<readonly ListedProcess[]> {
		const { store, machine } = this.#options;
		const rows = await this.#keeper.soon(() => store.processes({ scope, limit }));
		const here = rows.filter(({ backend }) => backend === machine.name).map(({ id }) => id);
		const left = new Map((await machine.inspect(here)).map((info) => [info.id, info]));
		const unreachable = await this.#unreachable(rows);
		return rows.map((row) => ({
			...row,
			survivors: left.get(row.id)?.survivors ?? [],
			isUnreachable: unreachable.has(row.id),
			elsewhere: null,
		}));
	}

	async leftBehind(id: string): Promise<readonly number[]> {
		return (await this.#options.machine.inspect([id])).find((info) => info.id === id)?.survivors ?? [];
	}

	async isUnreachable(process: Process): Promise<boolean> {
		return (await this.#unreachable([process])).has(process.id);
	}

	elsewhere(): Promise<null> {
		return Promise.resolve(null);
	}

	async #unreachable(rows: readonly Process[]): Promise<ReadonlySet<string>> {
		const { name } = this.#options.machine;
		const running = rows.filter(({ endedAt, backend }) => endedAt === null && backend === name);
		const found = await this.#keeper.unreachable(running.map(({ id }) => id));
		return new Set(running.flatMap(({ id }) => (found.has(id) ? id : [])));
	}

	async adopt(id: string): Promise<void> {
		await this.#options.store.adoptProcess({ id });
	}

	discard(id: string): void {
		this.#keeper.discard(id);
	}

	find(scope: ProcessScope, id: string, signal?: AbortSignal): Promise<Process> {
		return this.#keeper.soon(() => this.#options.store.process({ scope, id }), signal);
	}

	async poll(scope: ProcessScope, id: string, most: number) {
		const { store, machine } = this.#options;
		const process = await this.find(scope, id);
		const ended = process.endedAt !== null;
		const output = await newOutput(machine.read, process.id, {
			from: process.polledTo,
			most,
			ended,
			hide: this.#hide,
			hideBytes: this.#hideBytes,
		});
		await this.#keeper.soon(() => store.processPolled({ id: process.id, to: output.to }));
		return { process, output };
	}

	async tail(scope: ProcessScope, id: string, most: number): Promise<NewOutput> {
		const process = await this.find(scope, id);
		return tailOf(this.#options.machine.read, process.id, {
			most,
			hide: this.#hide,
			hideBytes: this.#hideBytes,
		});
	}

	async output(
		scope: ProcessScope,
		id: string,
		{
			signal,
			...options
		}: {
			readonly most: number;
			readonly mark: (leftOut: string, isKept: boolean) => string;
			readonly signal?: AbortSignal;
		},
	): Promise<WholeOutput> {
		const process = await this.find(scope, id, signal);
		return bothEnds(this.#options.machine.read, process.id, {
			...options,
			hide: this.#hide,
			hideBytes: this.#hideBytes,
		});
	}

	async log(
		scope: ProcessScope,
		id: string,
		options: { readonly offset?: number; readonly limit: number },
	): Promise<LogLines> {
		const process = await this.find(scope, id);
		const found = await logLines(this.#options.machine.read, process.id, { ...options, hide: this.#hide });
		// As one text: a secret may span several lines.
		return { ...found, lines: found.lines.length > 0 ? this.#hide(found.lines.join("\n")).split("\n") : [] };
	}

	async part(scope: ProcessScope, id: string, options: LogPartOptions): Promise<LogPart> {
		const process = await this.find(scope, id);
		const ended = process.endedAt !== null;
		const found = await logPart(this.#options.machine.read, process.id, {
			...options,
			ended,
			hideBytes: this.#hideBytes,
		});
		return { ...found, text: this.#hide(found.text) };
	}

	async read(
		scope: ProcessScope,
		id: string,
		options: { readonly from: number; readonly limit: number },
	): Promise<LogPiece> {
		return this.#options.machine.read((await this.find(scope, id)).id, options);
	}

	async attach(scope: ProcessScope, id: string): Promise<ProcessBackend | null> {
		const { machine } = this.#options;
		const { endedAt, backend } = await this.find(scope, id);
		return endedAt === null && backend === machine.name ? machine.find() : null;
	}

	async wait(
		scope: ProcessScope,
		id: string,
		{ ms, signal }: { readonly ms: number; readonly signal?: AbortSignal },
	): Promise<Process> {
		const { id: whole } = await this.find(scope, id, signal);
		const waiting = this.#waiting.get(whole) ?? new Set();
		this.#waiting.set(whole, waiting);
		let end = () => {};
		const ended = new Promise<void>((resolve) => (end = resolve));
		waiting.add(end);
		const cancel = this.#options.clock.after(ms, end);
		signal?.addEventListener("abort", end, { once: true });
		try {
			// It may have ended before anyone waited.
			const before = await this.find(scope, whole, signal);
			if (before.endedAt !== null || signal?.aborted) return before;
			await ended;
			return await this.find(scope, whole, signal);
		} finally {
			cancel();
			signal?.removeEventListener("abort", end);
			waiting.delete(end);
			if (waiting.size === 0 && this.#waiting.get(whole) === waiting) this.#waiting.delete(whole);
		}
	}

	async kill(actor: ProcessActor, id: string, options: KillOptions = {}): Promise<KilledProcess> {
		const process = await this.#touched(actor, id);
		const { machine } = this.#options;
		if (process.endedAt !== null) return { process, ...(await this.#killLeftBehind(process, options)) };
		if (actor.kind === "conversation") this.#keeper.markKnown(process.id);
		const backend = await this.#keeper.connected();
		const outcome = await backend.kill(process.id, options).catch(async (error: unknown) => {
			if (!isUnknown(error)) throw error;
			// Its host has died, and the record is behind.
			await this.#keeper.reconcile();
			return machine.killLost(process, options);
		});
		const after =
			outcome.result === "survived"
				? await this.find(OPERATOR, process.id)
				: await this.wait(OPERATOR, process.id, { ms: RECORD_MS });
		return { process: after, ...outcome };
	}

	async killAll(
		actor: ProcessActor,
		conversation: Process["conversation"],
	): Promise<readonly KilledProcess[]> {
		const scope = { kind: "conversation", conversation } as const;
		const listed = await this.list(scope, MOST_KILLED);
		const { name } = this.#options.machine;
		const living = listed.filter(
			({ endedAt, survivors, backend }) => backend === name && (endedAt === null || survivors.length > 0),
		);
		const theirs = living.filter((process) => mayTouch(actor, process));
		return Promise.all(theirs.map(({ id }) => this.kill(actor, id)));
	}

	async write(actor: ProcessActor, id: string, data: Uint8Array): Promise<void> {
		const process = await this.#running(actor, id);
		await (await this.#keeper.connected()).write(process.id, data);
	}

	async endInput(actor: ProcessActor, id: string, signal?: AbortSignal): Promise<void> {
		const process = await this.#running(actor, id, signal);
		await (await this.#keeper.connected()).endInput(process.id);
	}

	async resize(actor: ProcessActor, id: string, size: PtySize): Promise<void> {
		const process = await this.#running(actor, id);
		await (await this.#keeper.connected()).resize(process.id, size);
	}

	onWoken(listener: (woken: Woken) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** For a caller who may kill it and write to it. */
	async #touched(actor: ProcessActor, id: string, signal?: AbortSignal): Promise<Process> {
		const process = await this.find(actor, id, signal);
		if (mayTouch(actor, process)) return process;
		throw refused(process);
	}

	async #running(actor: ProcessActor, id: string, signal?: AbortSignal): Promise<Process> {
		const process = await this.#touched(actor, id, signal);
		if (process.endedAt === null) return process;
		throw new KeryxError("process.ended", `${process.id} has ended and no longer accepts input`, {
			field: "id",
		});
	}

	async #killLeftBehind(process: Process, options: KillOptions): Promise<KillOutcome> {
		if ((await this.leftBehind(process.id)).length === 0) return { result: "already_exited", survivors: [] };
		const { survivors } = await this.#options.machine.killLost(process, options);
		return { result: survivors.length > 0 ? "survived" : "killed", survivors };
	}

	async #killEverything(): Promise<void> {
		const { log } = this.#options;
		for (const { id } of await this.#keeper.unfinished()) {
			const { result, survivors } = await this.kill(OPERATOR, id);
			if (result === "survived") log?.(`${id} could not be killed: pid ${survivors.join(", ")}`, undefined);
		}
	}

	/** In programs' output (I12). */
	hide(text: string): string {
		return this.#options.store.secrets.hide(text);
	}

	hideLines(text: string): string {
		const { secrets } = this.#options.store;
		const hidden = secrets.hide(text);
		if (hidden === text || hidden.split("\n").length === text.split("\n").length) return hidden;
		return Buffer.from(secrets.hideBytes(Buffer.from(text))).toString();
	}

	readonly #hide = (text: string): string => this.hide(text);
	readonly #hideBytes = (bytes: Uint8Array): Uint8Array => this.#options.store.secrets.hideBytes(bytes);
}

function isUnknown(error: unknown): boolean {
	return error instanceof KeryxError && error.code === "process.unknown";
}

function tooMany(of: "all" | "conversation", limit: number): KeryxError {
	return of === "all"
		? new KeryxError("process.limit", `${limit} processes are already running in all conversations`, {
				hint: "wait until one has ended, or raise processes.max_running",
			})
		: new KeryxError("process.limit", `${limit} processes are already running in this conversation`);
}
