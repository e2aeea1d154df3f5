// The line to Discord: connects, resumes, passes on events. An event counts as received when the host has committed it, and the session
// is resumed from there. If Discord has forgotten the session, the channels' histories are read. Only `stop` ends the line: it reconnects
// forever, and reports what is wrong.
import type { REST } from "@discordjs/rest";
import type { APIApplication, APIUser } from "discord-api-types/v10";
import type { ChannelHealth } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Pauses } from "../pauses.ts";
import type { Transport } from "../transport.ts";
import { Vitals } from "../vitals.ts";
import { type Gap, gapAfter } from "./backfill.ts";
import { type Cursor, readCursor } from "./cursor.ts";
import type { Dispatch } from "./events.ts";
import { Intake, type Work } from "./intake.ts";
import { CONTENT_FLAGS, NO_INTENT } from "./names.ts";
import { isTokenRefused } from "./outcome.ts";
import { PositionKeeper } from "./position-keeper.ts";
import { KIND } from "./rest.ts";
import { isAfter, snowflakeAt } from "./snowflake.ts";
import { askedPause, closedBy, endsSession, NeedsAttention, TooManySessions, troubleOf } from "./trouble.ts";
import { type Ending, Wire } from "./wire.ts";

/** Discord asks for a pause of one to five seconds after a void session. */
const VOID_PAUSES = 5;

export interface Connection {
	readonly rest: REST;
	readonly me: APIUser;
	readonly application: string;
}

/** What an event of this connection means to Keryx. */
export interface Reading {
	/** Work to commit; none for events that only pass. */
	readonly works: readonly Work[];
	readonly mark?: Parameters<Intake["add"]>[2];
}

export interface LineOptions {
	readonly clock: Clock;
	readonly random: () => number;
	readonly transport: Transport;
	readonly aliveMs: number;
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
	/** After a session that is void. */
	readonly voidPauseMs: number;
	/** Reads the token each time, so that a changed one is used. */
	readonly token: () => Promise<string>;
	readonly open: (token: string) => Promise<REST>;
	/** Classifies an event; `gap` is the past to be read, if any. */
	readonly read: (dispatch: Dispatch, connection: Connection, gap: Gap | null, position: Cursor) => Reading;
	/** Stores a position that nothing was committed with. */
	readonly store: (cursor: string) => Promise<void>;
	readonly onConnected: (connection: Connection) => void;
	/** A connection is over: nothing waits for more of its events. */
	readonly onEnded: () => void;
	readonly log: (message: string, error?: unknown) => void;
}

export class Line {
	readonly #options: LineOptions;
	readonly #intake: Intake;
	readonly #keeper: PositionKeeper;
	readonly #vitals: Vitals;
	readonly #pauses: Pauses;
	#connection: (Connection & { readonly token: string }) | null = null;
	#wire: Wire | null = null;
	/** The session can be resumed from the position. */
	#isResumable = false;
	#gap: Gap | null = null;
	/** How the session started, until its first reads are committed. Discord says it once. */
	#ready: Dispatch | null = null;
	#failure: { readonly error: unknown } | null = null;
	#running: Promise<void> = Promise.resolve();

	constructor(options: LineOptions) {
		this.#options = options;
		this.#vitals = new Vitals({ ...options, platform: "Discord" });
		this.#pauses = new Pauses(options);
		this.#keeper = new PositionKeeper({ ...options, intake: () => this.#intake });
		this.#intake = new Intake({
			onMoved: () => this.#keeper.soon(),
			onFailed: (error) => this.#leave(error),
		});
	}

	/** While connected; otherwise senders wait. */
	get connection(): Connection | null {
		return this.#vitals.isConnected ? this.#connection : null;
	}

	get isStopping(): boolean {
		return this.#vitals.isStopped;
	}

	health(): ChannelHealth {
		return this.#vitals.health(this.#wire ? 1 : 0);
	}

	/** Resolves when it is running; it connects by itself, now or later. */
	async start(cursor: string | null): Promise<void> {
		await this.#running;
		if (!this.isStopping) return;
		this.#vitals.start();
		const position = readCursor(cursor);
		this.#gap = null;
		this.#isResumable = position !== null;
		this.#keeper.begin(position?.session.id ?? null);
		this.#intake.begin(position);
		if (cursor !== null) this.#intake.stored(cursor);
		this.#running = this.#run();
	}

	/** Passes on nothing more; running work is waited for, and Discord is told. */
	async stop(): Promise<void> {
		if (!this.isStopping) {
			this.#vitals.stop();
			this.#pauses.wake();
			await this.#closeIntake();
			this.#wire?.leave();
		}
		await this.#running;
	}

	/** A call found the token refused: the line checks at once. */
	suspect(error: unknown): void {
		if (isTokenRefused(error) && !this.isStopping) this.#leave(error);
	}

	/** Ends the connection for this reason. */
	#leave(error: unknown): void {
		this.#failure = { error };
		this.#wire?.leave();
	}

	async #run(): Promise<void> {
		let failures = 0;
		while (!this.isStopping) {
			try {
				const connection = await this.#connect();
				const ending = await this.#serve(connection, () => {
					failures = 0;
				});
				if (this.isStopping) break;
				const ms = this.#after(ending);
				if (ms > 0) await this.#pauses.sleep(ms);
			} catch (error) {
				if (this.isStopping) break;
				const trouble = troubleOf(error);
				if (trouble.state === "needs_attention") this.#connection = null;
				this.#vitals.troubled(trouble);
				await this.#pauses.afterFailures(failures++, askedPause(error));
			}
		}
		await this.#keeper.now();
		this.#connection = null;
	}

	async #connect(): Promise<Connection & { readonly token: string }> {
		if (this.#connection) return this.#connection;
		const token = (await this.#options.token()).trim();
		const rest = await this.#options.open(token);
		const me = (await rest.get("/users/@me")) as APIUser;
		const { id, flags } = (await rest.get("/applications/@me")) as APIApplication;
		if (((flags ?? 0) & CONTENT_FLAGS) === 0) throw new NeedsAttention(NO_INTENT);
		this.#connection = { rest, me, application: id, token };
		return this.#connection;
	}

	/** One connection, from the first to the last byte. Rejects if the host refused something. */
	async #serve(
		connection: Connection & { readonly token: string },
		onConnected: () => void,
	): Promise<Ending> {
		const { clock, random, aliveMs } = this.#options;
		const position = this.#isResumable ? this.#intake.position : null;
		const url = position?.session.url ?? (await this.#gatewayUrl(connection.rest));
		if (this.isStopping) return { kind: "left" };
		this.#failure = null;
		const ready = position?.sequence === 0 ? this.#ready : null;
		if (position) this.#intake.begin(position);
		if (ready) this.#take(ready, connection);
		const wire = new Wire({
			url,
			token: connection.token,
			...(position && { resume: { session: position.session.id, sequence: ready?.s ?? position.sequence } }),
			clock,
			random,
			beatMs: aliveMs / 3,
			deadMs: aliveMs / 2,
			received: () => this.#intake.position?.sequence ?? null,
			onAlive: () => this.#vitals.proven("heartbeat acknowledged"),
			onDispatch: (dispatch) => {
				if (this.isStopping || this.#failure) return;
				const isOpening = dispatch.t === "READY" || dispatch.t === "RESUMED";
				try {
					if (isOpening) this.#opened(dispatch, connection);
					else this.#take(dispatch, connection);
					if (isOpening) onConnected();
				} catch (error) {
					if (isOpening) return this.#leave(error);
					// The same event comes again after a restart: it must end neither Keryx nor the session.
					this.#options.log(`an event from Discord cannot be read (${dispatch.t})`, error);
					this.#intake.add(dispatch.s, []);
				}
			},
		});
		this.#wire = wire;
		const ending = await wire.ended;
		if (this.isStopping) {
			this.#wire = null;
			return ending;
		}
		this.#vitals.lost();
		await this.#closeIntake();
		this.#wire = null;
		const failed = this.#failure as { readonly error: unknown } | null;
		if (failed) throw failed.error;
		return ending;
	}

	/** Waits for running commits, and nothing else. */
	async #closeIntake(): Promise<void> {
		const closed = this.#intake.close();
		this.#options.onEnded();
		if (this.isStopping) this.#options.transport.abort([KIND.read, KIND.file]);
		await closed;
	}

	async #gatewayUrl(rest: REST): Promise<string> {
		const { url, session_start_limit: limit } = (await rest.get("/gateway/bot")) as {
			readonly url: string;
			readonly session_start_limit: { readonly remaining: number; readonly reset_after: number };
		};
		if (limit.remaining < 1) throw new TooManySessions(limit.reset_after);
		return url;
	}

	/** A session starts or resumes. */
	#opened({ t, s, d }: Dispatch, connection: Connection): void {
		const { clock, onConnected } = this.#options;
		this.#vitals.proven("session opened");
		this.#vitals.connected();
		if (t === "READY") {
			const { session_id: id, resume_gateway_url: url } = d as {
				session_id: string;
				resume_gateway_url: string;
			};
			const before = this.#intake.position;
			this.#gap = before && this.#gapSince(before);
			this.#intake.begin({
				session: { id, url },
				sequence: 0,
				newest: before?.newest ?? snowflakeAt(clock.now()),
				privateChats: before?.privateChats ?? [],
				read: before?.read ?? {},
			});
			this.#isResumable = true;
			this.#ready = { t, s, d };
		}
		this.#take({ t, s, d }, connection);
		onConnected(connection);
	}

	#gapSince({ newest }: Cursor): Gap {
		const from = gapAfter(newest, this.#options.clock.now());
		return {
			after: (channel) => {
				const read = this.#intake.position?.read[channel];
				return read !== undefined && isAfter(read, from) ? read : from;
			},
			cursorFor: (channel, message) => this.#intake.cursorOfHistory(channel, message),
			taken: (channel, message) => this.#intake.readHistory(channel, message),
		};
	}

	#take(dispatch: Dispatch, connection: Connection): void {
		const { position } = this.#intake;
		if (!position || !this.#intake.isNew(dispatch.s)) {
			this.#intake.add(dispatch.s, []);
			return;
		}
		const { works, mark } = this.#options.read(dispatch, connection, this.#gap, position);
		this.#intake.add(dispatch.s, works, mark);
	}

	/** What to do when a connection is over: how long to wait before the next. Throws failures. */
	#after(ending: Ending): number {
		const { random, voidPauseMs } = this.#options;
		switch (ending.kind) {
			case "left":
			case "reconnect":
				return 0;
			case "invalid":
				this.#isResumable &&= ending.isResumable;
				return voidPauseMs * (1 + random() * (VOID_PAUSES - 1));
			case "silent":
				throw new Error("Discord stopped answering");
			case "error":
				throw new Error(ending.reason);
			case "closed":
				if (endsSession(ending.code)) this.#isResumable = false;
				throw closedBy(ending.code);
		}
	}
}
