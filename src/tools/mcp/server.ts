// One server: at most one connection, and so at most one program, at any moment. The next is made only when nothing of the last is
// left. What it does wrong is its own: it is tried again with longer and longer pauses, and then rarely.
import { hideSecretLike, type McpServerSettings } from "../../config/index.ts";
import { cleanUntrusted } from "../../domain/index.ts";
import { connect } from "./connect.ts";
import { LoginNeeded } from "./oauth.ts";
import { offerOf } from "./offer.ts";
import { decideRestart, GOOD_AFTER_MS } from "./restart.ts";
import { type Connection, NOTHING, type Offer, type ServerParts, type ServerState } from "./types.ts";

const LONGEST_REASON = 500;

export class McpServer {
	readonly name: string;
	/** The settings of the connection: a change makes another server. */
	readonly settings: McpServerSettings;
	/** By the monotonic clock. */
	readonly begunAt: number;
	readonly #parts: ServerParts;
	readonly #stop = new AbortController();
	#state: ServerState = { kind: "starting" };
	/** From the last connection; kept while reconnecting, so that tools do not come and go with it. */
	#offer: Offer = NOTHING;
	#connection: Connection | null = null;
	/** The server speaks the protocol of 2025 only, and ends when it is asked about another. */
	#isOld = false;
	/** Resolves at the next change of state. */
	#changed = Promise.withResolvers<void>();
	#wake = () => {};
	#starts = 0;
	readonly #over: Promise<void>;
	readonly #first = Promise.withResolvers<void>();

	constructor(name: string, settings: McpServerSettings, parts: ServerParts) {
		this.name = name;
		this.settings = settings;
		this.#parts = parts;
		this.begunAt = parts.clock.monotonic();
		this.#over = this.#live();
	}

	get state(): ServerState {
		return this.#state;
	}

	get offer(): Offer {
		// A server that will not be back soon offers nothing.
		return ["broken", "login", "stopped"].includes(this.#state.kind) ? NOTHING : this.#offer;
	}

	get pid(): number | null {
		return this.#connection?.line.pid ?? null;
	}

	/** Why its last connection ended or failed; null: nothing went wrong. */
	get lastFailure(): string | null {
		return this.#lastFailure;
	}
	#lastFailure: string | null = null;

	/** How often it was started. */
	get starts(): number {
		return this.#starts;
	}

	/** Resolves when the first attempt has ended, however it did. */
	get tried(): Promise<void> {
		return this.#first.promise;
	}

	/** The connection, after waiting for a pending one. Throws the reason if there is none. */
	async connected(signal: AbortSignal, ms: number): Promise<Connection> {
		let isLate = false;
		const { promise: late, resolve } = Promise.withResolvers<void>();
		const cancel = this.#parts.clock.after(ms, () => {
			isLate = true;
			resolve();
		});
		const aborted = () => resolve();
		signal.addEventListener("abort", aborted, { once: true });
		try {
			for (;;) {
				if (this.#connection && this.#state.kind === "connected") return this.#connection;
				const changed = this.#changed.promise;
				const isComing = this.#state.kind === "starting" || this.#state.kind === "waiting";
				if (!isComing || isLate || signal.aborted) throw new Error(this.inWords());
				await Promise.race([changed, late]);
			}
		} finally {
			cancel();
			signal.removeEventListener("abort", aborted);
		}
	}

	/** Why it cannot be used now. */
	inWords(): string {
		const state = this.#state;
		const why = "why" in state ? `: ${state.why}` : "";
		switch (state.kind) {
			case "connected":
				return `the MCP server ${this.name} is connected`;
			case "starting":
				return `the MCP server ${this.name} is still starting`;
			case "stopped":
				return `the MCP server ${this.name} is stopped`;
			case "waiting":
			case "broken":
			case "login":
				return `the MCP server ${this.name} is not connected${why}`;
		}
	}

	/** Retries now, as the first of a new series. Resolves when that has ended; at once if it is connected. */
	async retry(): Promise<void> {
		if (this.#state.kind !== "starting" && this.#state.kind !== "connected") {
			const begun = this.#changed.promise;
			this.#wake();
			await begun;
		}
		while (this.#state.kind === "starting") await this.#changed.promise;
	}

	/** A call found the connection lost. A program's end is noticed by itself. */
	failed(connection: Connection, why: string): void {
		if (this.#connection === connection && connection.line.pid === null) connection.line.end(why);
	}

	/** Ends it; resolves when nothing of it is left. */
	async stop(): Promise<void> {
		this.#stop.abort();
		this.#wake();
		await this.#connection?.line.close();
		await this.#over;
	}

	async #live(): Promise<void> {
		const { clock } = this.#parts;
		let failures = 0;
		while (!this.#stop.signal.aborted) {
			const since = clock.monotonic();
			const why = await this.#attempt();
			this.#first.resolve();
			if (this.#stop.signal.aborted) break;
			if (why instanceof LoginNeeded) {
				this.#become({ kind: "login", why: why.message });
				await this.#pause(null);
				failures = 0;
				continue;
			}
			failures = clock.monotonic() - since >= GOOD_AFTER_MS ? 1 : failures + 1;
			const { kind, ms } = decideRestart(failures);
			this.#lastFailure = this.#said(why);
			this.#become({ kind, why: this.#lastFailure, until: clock.now() + ms });
			if (await this.#pause(ms)) failures = 0;
		}
		this.#become({ kind: "stopped" });
		this.#first.resolve();
	}

	/** One connection from its begin to its end; answers why it ended. Never throws. */
	async #attempt(): Promise<string | LoginNeeded> {
		this.#become({ kind: "starting" });
		this.#starts++;
		let connection: Connection | null = null;
		try {
			const { signal } = this.#stop;
			const made = await connect(this.name, this.settings, this.#parts, {
				signal,
				isOld: this.#isOld,
				onChange: () => this.#refresh(),
			});
			if (made.kind === "old") {
				// Ended by the question about the protocol, and not its fault: asked the old way it answers.
				this.#isOld = true;
				this.#starts--;
				return this.#attempt();
			}
			connection = made.connection;
			this.#connection = connection;
			this.#offer = await this.#offerOf(connection, signal);
			this.#become({ kind: "connected", since: this.#parts.clock.now() });
			return await connection.line.over;
		} catch (error) {
			return error instanceof LoginNeeded ? error : (error as Error).message;
		} finally {
			this.#connection = null;
			await connection?.client.close().catch(() => undefined);
			await connection?.line.close();
		}
	}

	/** Changed lists are read again, one read at a time. If a server cannot list, the last lists stay. */
	#refresh(): void {
		const connection = this.#connection;
		if (!connection) return;
		if (this.#refreshing) {
			this.#isStale = true;
			return;
		}
		this.#isStale = false;
		this.#refreshing = this.#offerOf(connection, this.#stop.signal)
			.then((offer) => {
				if (this.#connection === connection) this.#offer = offer;
			})
			.catch((error: unknown) => this.#parts.log(`mcp.servers.${this.name}: its lists cannot be read`, error))
			.finally(() => {
				this.#refreshing = null;
				this.#tellChange();
				if (this.#isStale) this.#refresh();
			});
	}
	#refreshing: Promise<void> | null = null;
	#isStale = false;

	/** True if someone did not want to wait. Without a time it waits only for that. */
	#pause(ms: number | null): Promise<boolean> {
		return new Promise((resolve) => {
			const cancel = ms === null ? () => {} : this.#parts.clock.after(ms, () => resolve(false));
			this.#wake = () => {
				cancel();
				resolve(true);
			};
			if (this.#stop.signal.aborted) this.#wake();
		});
	}

	#become(state: ServerState): void {
		this.#state = state;
		this.#tellChange();
	}

	#tellChange(): void {
		this.#changed.resolve();
		this.#changed = Promise.withResolvers<void>();
	}

	#offerOf({ client }: Connection, signal: AbortSignal): Promise<Offer> {
		return offerOf(this.name, client, { signal, secrets: this.#parts.secrets });
	}

	hide(text: string): string {
		return this.#parts.secrets.hide(text);
	}

	/** A server's output may be anything. */
	#said(why: string): string {
		return cleanUntrusted(hideSecretLike(this.hide(why)), LONGEST_REASON);
	}
}
