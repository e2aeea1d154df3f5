// The line to a homeserver: connects, syncs. Only `stop` ends it: it reconnects forever, and reports what is wrong. A sync from a new
// position is requested only when everything before it is committed (I3).
import type { ChannelHealth } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Pauses, settlesWithin } from "../pauses.ts";
import type { Transport } from "../transport.ts";
import { Vitals } from "../vitals.ts";
import { type Api, KIND } from "./api.ts";
import type { Encryption } from "./encryption.ts";
import { Intake, type Item } from "./intake.ts";
import { isTokenRefused } from "./outcome.ts";
import type { Past } from "./past.ts";
import type { Rooms } from "./rooms.ts";
import type { Me } from "./text.ts";
import { askedPause, troubleOf } from "./trouble.ts";
import { readSync, type SyncAnswer } from "./wire.ts";

/** While an event takes longer, others are asked for this often. */
const LOOK_MS = 1000;
const NOTHING = { types: [], not_types: ["*"] };
const STATE = { types: ["m.room.*"] };

export interface Connection {
	readonly api: Api;
	readonly me: Me;
	readonly rooms: Rooms;
	readonly past: Past;
	/** Null: encrypted rooms are refused. */
	readonly encryption: Encryption | null;
}

export interface LineOptions {
	readonly clock: Clock;
	readonly random: () => number;
	readonly transport: Transport;
	readonly pollSeconds: number;
	readonly aliveMs: number;
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
	/** Reads the token each time, so that a changed one is used. */
	readonly open: () => Promise<Connection>;
	/** The work in a sync, after its rooms and keys were read. */
	readonly read: (
		answer: SyncAnswer,
		since: string | null,
		connection: Connection,
	) => Promise<readonly Item[]>;
	/** Messages that could not be read until now, after new keys came. */
	readonly retry: (connection: Connection, intake: Intake) => Promise<void>;
	/** Commits a cursor alone. */
	readonly keep: (cursor: string) => Promise<void>;
	readonly log: (message: string, error?: unknown) => void;
}

export class Line {
	readonly #options: LineOptions;
	readonly #vitals: Vitals;
	readonly #pauses: Pauses;
	#connection: Connection | null = null;
	#intake: Intake | null = null;
	/** Committed by an earlier run. */
	#cursor: string | null = null;
	/** The next sync is answered at once: it proves that the line works. */
	#isFirst = true;
	/** How many syncs from the same position were made while an event takes long. */
	#busy = 0;
	/** The sync was aborted because a token was refused. */
	#isInterrupted = false;
	#running: Promise<void> = Promise.resolve();

	constructor(options: LineOptions) {
		this.#options = options;
		this.#vitals = new Vitals({ ...options, platform: "the homeserver" });
		this.#pauses = new Pauses(options);
	}

	/** While connected; otherwise senders wait. */
	get connection(): Connection | null {
		return this.#vitals.isConnected ? this.#connection : null;
	}

	get isStopping(): boolean {
		return this.#vitals.isStopped;
	}

	health(): ChannelHealth {
		const remark = this.#connection?.encryption?.remark();
		return this.#vitals.health(this.#options.transport.connections, remark);
	}

	/** Resolves when it is running; it connects by itself, now or later. */
	async start(cursor: string | null): Promise<void> {
		await this.#running;
		if (!this.isStopping) return;
		this.#vitals.start();
		this.#cursor = cursor;
		this.#isFirst = true;
		this.#running = this.#run();
	}

	/** Passes on nothing more; running work is waited for. */
	async stop(): Promise<void> {
		if (!this.isStopping) {
			this.#vitals.stop();
			this.#pauses.wake();
			this.#options.transport.abort([KIND.sync, KIND.read, KIND.file]);
		}
		await this.#running;
	}

	/** A call other than a sync found the token refused: the line checks at once. */
	suspect(error: unknown): void {
		if (!isTokenRefused(error) || this.isStopping) return;
		this.#troubled(error);
		this.#isInterrupted = true;
		this.#options.transport.abort([KIND.sync]);
		this.#pauses.wake();
	}

	async #run(): Promise<void> {
		let failures = 0;
		while (!this.isStopping)
			try {
				await this.#sync(this.#connection ?? (await this.#connect()));
				failures = 0;
			} catch (error) {
				if (this.isStopping) break;
				// A sync aborted here says nothing about the server.
				if (!this.#isInterrupted) this.#troubled(error);
				this.#isInterrupted = false;
				if (isTokenRefused(error)) await this.#disconnect();
				await this.#intake?.recover();
				await this.#pauses.afterFailures(failures++, askedPause(error));
			}
		await this.#disconnect();
	}

	async #connect(): Promise<Connection> {
		await this.#disconnect();
		const connection = await this.#options.open();
		const { id } = connection.me;
		// A position in one account's sync means nothing in another's.
		const [of, since] = this.#cursor?.split(" ") ?? [];
		this.#intake = new Intake({
			since: of === id && since !== undefined ? since : null,
			cursorOf: (next) => `${id} ${next}`,
			keep: this.#options.keep,
		});
		this.#connection = connection;
		this.#isFirst = true;
		await this.#options.retry(connection, this.#intake);
		return connection;
	}

	/** Running work is waited for; uncommitted events come again. */
	async #disconnect(): Promise<void> {
		const [connection, intake] = [this.#connection, this.#intake];
		this.#connection = null;
		this.#intake = null;
		this.#busy = 0;
		await intake?.settled().catch(() => undefined);
		// What was committed with an event.
		if (connection && intake?.since != null) this.#cursor = `${connection.me.id} ${intake.since}`;
		await connection?.encryption?.close();
	}

	async #sync(connection: Connection): Promise<void> {
		const intake = this.#intake;
		if (!intake) throw new Error("not connected");
		const { pollSeconds, read, retry } = this.#options;
		const { since } = intake;
		// Synapse repeats its answer to an identical request for two minutes: a different timeout makes the request different.
		const wait = this.#busy > 0 ? this.#busy : this.#isFirst || since === null ? 0 : pollSeconds * 1000;
		const answer = readSync(
			await connection.api.get(
				"/_matrix/client/v3/sync",
				{ since: since ?? undefined, timeout: wait, filter: filterOf(since) },
				KIND.sync,
			),
		);
		await connection.encryption?.receive(answer, since);
		// It may have been stopped meanwhile.
		if (this.isStopping) return;
		this.#isFirst = false;
		this.#vitals.proven("sync answered");
		this.#vitals.connected();
		const items = await read(answer, since, connection);
		intake.add(items, answer.next_batch);
		const isSettled = await settlesWithin(LOOK_MS, intake.settled(), this.#options.clock);
		this.#busy = isSettled ? 0 : this.#busy + 1;
		if (answer.to_device.events.length > 0) await retry(connection, intake);
	}

	#troubled(error: unknown): void {
		this.#vitals.troubled(troubleOf(error));
		this.#isFirst = true;
	}
}

/** The very first sync brings no history, only Keryx's rooms and invitations. */
function filterOf(since: string | null): string {
	const timeline = since === null ? { limit: 1, not_types: ["*"] } : { limit: 50 };
	const state = since === null ? NOTHING : STATE;
	return JSON.stringify({
		presence: NOTHING,
		account_data: NOTHING,
		room: { ephemeral: NOTHING, account_data: NOTHING, state, timeline },
	});
}
