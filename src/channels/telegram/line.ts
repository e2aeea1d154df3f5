// The line to Telegram: connects, polls or receives posts. Only `stop` ends it: it reconnects forever, and reports what is wrong.
import type { Api } from "grammy";
import type { Update } from "grammy/types";
import type { ChannelHealth } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Pauses } from "../pauses.ts";
import type { Transport } from "../transport.ts";
import { Vitals } from "../vitals.ts";
import type { Connection } from "./connection.ts";
import { isConflict, isTokenRefused } from "./outcome.ts";
import { Polled } from "./polled.ts";
import { Posted } from "./posted.ts";
import { Taking, type TakingOptions } from "./taking.ts";
import { askedPause, troubleOf } from "./trouble.ts";

/** How long a stop waits to tell Telegram what was committed. */
const GOODBYE_MS = 2000;
/** Calls that end with the line. */
const READS = ["getUpdates", "getMe", "getFile", "file", "setMyCommands", "getWebhookInfo"];

export interface LineOptions extends Pick<TakingOptions, "handIn"> {
	readonly clock: Clock;
	readonly random: () => number;
	readonly transport: Transport;
	readonly pollSeconds: number;
	readonly aliveMs: number;
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
	/** Reads the token each time, so that a changed one is used. */
	readonly open: () => Promise<{ readonly api: Api; readonly secret: string }>;
	/** Where Telegram posts updates. Absent: polling. */
	readonly webhookUrl?: string;
	/** Commits a cursor alone. */
	readonly keep: (cursor: string) => Promise<void>;
	readonly onConnected: (connection: Connection) => void;
	readonly log: (message: string, error?: unknown) => void;
}

export class Line {
	readonly #options: LineOptions;
	readonly #vitals: Vitals;
	readonly #pauses: Pauses;
	readonly #polled: Polled;
	readonly #posted: Posted;
	#connection: Connection | null = null;
	/** Of the last connection. */
	#bot: number | undefined;
	/** Committed by an earlier run, or for this run's webhook. */
	#cursor: string | null = null;
	/** The poll was aborted because a token was refused. */
	#isInterrupted = false;
	/** When another program last took the updates (monotonic). */
	#conflictAt = Number.NEGATIVE_INFINITY;
	#running: Promise<void> = Promise.resolve();

	constructor(options: LineOptions) {
		this.#options = options;
		this.#vitals = new Vitals({ ...options, platform: "Telegram" });
		this.#pauses = new Pauses(options);
		const isStopping = () => this.isStopping;
		const taking = new Taking({ ...options, isStopping });
		const shared = { ...options, taking, isStopping, cursor: () => this.#cursor };
		this.#posted = new Posted({
			...shared,
			pauses: this.#pauses,
			keep: async (cursor) => {
				await options.keep(cursor);
				this.#cursor = cursor;
			},
		});
		this.#polled = new Polled({
			...shared,
			removeWebhook: (connection, error) => this.#posted.removeOwn(connection, error),
			onAnswered: (connection) => this.#proven(connection),
		});
	}

	/** While connected; otherwise senders wait. */
	get connection(): Connection | null {
		return this.#vitals.isConnected ? this.#connection : null;
	}

	/** Null before the first connection. */
	get secret(): string | null {
		return this.#connection?.secret ?? null;
	}

	get isStopping(): boolean {
		return this.#vitals.isStopped;
	}

	health(): ChannelHealth {
		return this.#vitals.health(this.#options.transport.connections, this.#posted.remark);
	}

	/** Resolves when it is running; it connects by itself, now or later. */
	async start(cursor: string | null): Promise<void> {
		await this.#running;
		if (!this.isStopping) return;
		this.#vitals.start();
		this.#polled.start();
		this.#posted.start();
		this.#cursor = cursor;
		this.#running = this.#run();
	}

	/** Passes on nothing more; running work is waited for, and Telegram is told. */
	async stop(): Promise<void> {
		if (!this.isStopping) {
			this.#vitals.stop();
			this.#pauses.wake();
			this.#options.transport.abort(READS);
		}
		await this.#running;
	}

	/** A call other than a poll found the token refused: the line checks at once. */
	suspect(error: unknown): void {
		if (!isTokenRefused(error) || this.isStopping) return;
		this.#troubled(error);
		this.#isInterrupted = true;
		this.#options.transport.abort(["getUpdates"]);
		this.#pauses.wake();
	}

	/** An update posted by Telegram. Resolves when committed; false if not: Telegram must resend it. */
	post(update: Update): Promise<boolean> {
		return this.#posted.post(update, this.#connection);
	}

	async #run(): Promise<void> {
		let failures = 0;
		while (!this.isStopping)
			try {
				const connection = this.#connection ?? (await this.#connect());
				const { webhookUrl } = this.#options;
				if (webhookUrl === undefined) await this.#polled.poll(connection);
				else await this.#watch(connection, webhookUrl);
				failures = 0;
			} catch (error) {
				if (this.isStopping) break;
				// A poll aborted here says nothing about Telegram.
				if (!this.#isInterrupted) this.#troubled(error);
				this.#isInterrupted = false;
				await this.#pauses.afterFailures(failures++, askedPause(error));
			}
		await this.#polled.end();
		await this.#posted.idle();
		await this.#goodbye();
		this.#connection = null;
	}

	async #connect(): Promise<Connection> {
		// The last connection's running work belongs to it.
		await this.#polled.end();
		const { api, secret } = await this.#options.open();
		const connection = { api, secret, me: await api.getMe() };
		this.#posted.connected();
		if (this.#bot !== undefined && this.#bot !== connection.me.id) {
			this.#polled.anotherBot();
			this.#posted.start();
		}
		this.#bot = connection.me.id;
		this.#connection = connection;
		return connection;
	}

	async #watch(connection: Connection, url: string): Promise<void> {
		await this.#posted.watch(connection, url, () => this.#proven(connection));
		if (!this.isStopping) await this.#pauses.sleep(this.#options.pollSeconds * 1000);
	}

	#proven(connection: Connection): void {
		const { clock, onConnected, pollSeconds, webhookUrl } = this.#options;
		this.#vitals.proven(webhookUrl === undefined ? "poll answered" : "webhook confirmed");
		// Two programs alternate in being refused: only a poll's time without a conflict shows that the other is gone.
		if (clock.monotonic() - this.#conflictAt < pollSeconds * 1000) return;
		const wasConnected = this.#vitals.isConnected;
		this.#vitals.connected();
		if (!wasConnected) onConnected(connection);
	}

	#troubled(error: unknown): void {
		if (isTokenRefused(error)) this.#connection = null;
		if (isConflict(error)) this.#conflictAt = this.#options.clock.monotonic();
		else this.#polled.proveNext();
		this.#vitals.troubled(troubleOf(error));
	}

	async #goodbye(): Promise<void> {
		const connection = this.#connection;
		if (!connection) return;
		const { clock, transport } = this.#options;
		const within = (call: string) => clock.after(GOODBYE_MS, () => transport.abort([call]));
		await this.#posted.goodbye(connection, within);
		await this.#polled.goodbye(connection, within);
	}
}
