// The hosts of a home as one backend. New programs go to this build's host. Another build's host stays until its programs have ended:
// they are reached through it, and so are their ends. A program's file names its host. A connection to another build's host is kept only
// while it holds something, so that it can leave.
import type { ProcessBackend } from "./backend.ts";
import type { HostClient } from "./client.ts";
import { type ConnectOptions, connectHolder, connectHost, listHosts } from "./connect.ts";
import { readHolder } from "./files.ts";
import { isAlive } from "./identity.ts";
import { forgetProcess, inspect, inspectProcess, killSurvivors, removeProcess } from "./inspect.ts";
import { Listeners } from "./listeners.ts";
import { readLog } from "./log/files.ts";
import type { KillOptions, KillOutcome, LogPiece, ProcessInfo, PtySize, SpawnRequest } from "./types.ts";

export class LocalHosts implements ProcessBackend {
	readonly name = "local";
	readonly #options: ConnectOptions;
	/** The host of each known running process. */
	readonly #holders = new Map<string, HostClient>();
	readonly #others = new Map<number, Promise<HostClient | null>>();
	readonly #ended = new Listeners<[process: ProcessInfo]>();
	readonly #gone = new Listeners<[]>();
	readonly onEnd = this.#ended.add;
	readonly onGone = this.#gone.add;
	#own: HostClient | null = null;
	#starting: Promise<HostClient> | null = null;
	#isClosed = false;

	private constructor(options: ConnectOptions, own: HostClient | null) {
		this.#options = options;
		if (own) this.#own = this.#listenTo(own);
	}

	/** With this build's own host, started if needed. */
	static async connect(options: ConnectOptions): Promise<LocalHosts> {
		return new LocalHosts(options, await connectHost({ ...options, start: true }));
	}

	/** Null if no host of any version runs. */
	static async find(options: ConnectOptions): Promise<LocalHosts | null> {
		const own = await connectHost({ ...options, start: false }).catch((error: unknown) => {
			if (isGone(error)) return null;
			throw error;
		});
		if (own || (await listHosts(options.home)).length > 0) return new LocalHosts(options, own);
		return null;
	}

	/** This build's own host; null before it is needed. */
	get hostPid(): number | null {
		return this.#own?.hostPid ?? null;
	}

	async spawn(request: SpawnRequest): Promise<ProcessInfo> {
		const own = await this.#started();
		this.#holders.set(request.id, own);
		try {
			const info = await own.spawn(request);
			if (info.status !== "running") this.#release(info.id);
			return info;
		} catch (error) {
			this.#release(request.id);
			throw error;
		}
	}

	list(): Promise<readonly ProcessInfo[]> {
		return this.#own ? this.#own.list() : inspect(this.#options.home);
	}

	async get(id: string): Promise<ProcessInfo> {
		const holder = await this.#holder(id);
		const info = await (holder ? holder.get(id) : inspectProcess(this.#options.home, id));
		if (info.status !== "running") this.#release(id);
		return info;
	}

	async silent(ids: readonly string[]): Promise<ReadonlySet<string>> {
		const held = new Map<HostClient, string[]>();
		const found = new Set<string>();
		const find = async (id: string) => {
			const holder = await this.#holder(id).catch((error: unknown) => {
				if (!isSilent(error)) throw error;
				found.add(id);
				return null;
			});
			if (holder) held.set(holder, [...(held.get(holder) ?? []), id]);
		};
		await Promise.all(ids.map(find));
		for (const silent of await Promise.all([...held].map(([holder, its]) => holder.silent(its))))
			for (const id of silent) found.add(id);
		return found;
	}

	read(id: string, options: { readonly from: number; readonly limit: number }): Promise<LogPiece> {
		return readLog({ home: this.#options.home, id, ...options });
	}

	async *follow(id: string, options?: { readonly from?: number }): AsyncGenerator<LogPiece> {
		yield* (await this.#asked(id)).follow(id, options);
	}

	async write(id: string, data: Uint8Array): Promise<void> {
		await (await this.#asked(id)).write(id, data);
	}

	async endInput(id: string): Promise<void> {
		await (await this.#asked(id)).endInput(id);
	}

	async resize(id: string, size: PtySize): Promise<void> {
		await (await this.#asked(id)).resize(id, size);
	}

	async signal(id: string, signal: string): Promise<void> {
		await (await this.#asked(id)).signal(id, signal);
	}

	async kill(id: string, options?: KillOptions): Promise<KillOutcome> {
		const holder = await this.#holder(id);
		return holder ? holder.kill(id, options) : killSurvivors(this.#options.home, id, options);
	}

	async forget(id: string): Promise<void> {
		this.#release(id);
		await (this.#own ? this.#own.forget(id) : forgetProcess(this.#options.home, id));
	}

	async remove(id: string): Promise<void> {
		this.#release(id);
		await (this.#own ? this.#own.remove(id) : removeProcess(this.#options.home, id));
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		const others = await Promise.allSettled(this.#others.values());
		const clients = others.flatMap((one) => (one.status === "fulfilled" ? (one.value ?? []) : []));
		for (const client of this.#own ? [this.#own, ...clients] : clients) await client.close();
	}

	#started(): Promise<HostClient> {
		if (this.#own) return Promise.resolve(this.#own);
		this.#starting ??= connectHost({ ...this.#options, start: true })
			.then((client) => (this.#own = this.#listenTo(client)))
			.finally(() => {
				this.#starting = null;
			});
		return this.#starting;
	}

	/** For requests only a host can answer. */
	async #asked(id: string): Promise<HostClient> {
		return (await this.#holder(id)) ?? this.#started();
	}

	/** Null: no other host holds it, and this build's own is not running. */
	async #holder(id: string): Promise<HostClient | null> {
		const known = this.#holders.get(id);
		if (known) return known;
		const host = await readHolder(this.#options.home, id);
		if (!host || host.pid === this.#own?.hostPid || !isAlive(host)) return this.#own;
		const holder = await this.#other(host.pid);
		if (holder) this.#holders.set(id, holder);
		return holder ?? this.#own;
	}

	/** Null: it has just left, or is not ours. */
	#other(pid: number): Promise<HostClient | null> {
		const known = this.#others.get(pid);
		if (known) return known;
		const connecting = connectHolder(this.#options, pid).then((client) => client && this.#listenTo(client));
		this.#others.set(pid, connecting);
		const forget = () => this.#others.delete(pid);
		connecting.then((client) => client ?? forget(), forget);
		return connecting;
	}

	#listenTo(client: HostClient): HostClient {
		client.onEnd((info) => {
			this.#release(info.id);
			this.#ended.tell(info);
		});
		client.onGone(() => this.#lose());
		if (this.#isClosed) void client.close();
		return client;
	}

	/** It has ended. Another build's host without processes is released. */
	#release(id: string): void {
		const holder = this.#holders.get(id);
		this.#holders.delete(id);
		if (!holder || holder === this.#own || [...this.#holders.values()].includes(holder)) return;
		this.#others.delete(holder.hostPid);
		holder.leave();
	}

	/** One is gone: users reconnect, and find the others again. */
	#lose(): void {
		if (this.#isClosed) return;
		void this.close();
		this.#gone.tell();
	}
}

function isGone(error: unknown): boolean {
	return (error as { code?: unknown }).code === "process.host_gone";
}

function isSilent(error: unknown): boolean {
	return (error as { code?: unknown }).code === "process.host_silent";
}
