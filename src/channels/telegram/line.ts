// The line to Telegram: connects, polls or is posted to, hands in, confirms. A polled update is confirmed by asking for those after it, a
// posted one by the answer to its request; both happen only when the host has committed it. Nothing ends the line but `stop`: it comes back for ever, and says meanwhile what is wrong.
import type { Api } from "grammy";
import type { Update, UserFromGetMe } from "grammy/types";
import { KeryxError } from "../../errors.ts";
import type { ChannelHealth } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Lanes } from "../lanes.ts";
import type { Transport } from "../transport.ts";
import { FileUnreached } from "./files.ts";
import { Intake } from "./intake.ts";
import { isApiError, isConflict, isTokenRefused, isWebhookConflict, reasonOf } from "./outcome.ts";
import { ALLOWED_UPDATES, chatOf, messageOf } from "./updates.ts";
import { deliveryTrouble, ForeignWebhook, MOST_AT_ONCE, ownUrl, webhookCursor } from "./webhook.ts";

const LIMIT = 100;
/** How long a stop waits for Telegram to hear what was committed. */
const GOODBYE_MS = 2000;
/** While an update takes longer, others are asked for all the same, so often. */
const LOOK_MS = 1000;
/** An update that cannot be read so often is passed over, or nothing would come after it. */
const STUMBLES = 3;
/** Posted updates that are remembered, to know one that comes again, and parts of albums. */
const REMEMBERED = 1000;
const ALBUM_PARTS = 50;
/** So many posted updates wait to be committed; what Telegram posts beyond that it must send again. */
const MOST_POSTED = 1000;

export interface Connection {
	readonly api: Api;
	readonly me: UserFromGetMe;
	/** What Telegram shows with each update that it posts. */
	readonly secret: string;
}

export interface LineOptions {
	readonly clock: Clock;
	readonly random: () => number;
	readonly transport: Transport;
	readonly pollSeconds: number;
	readonly aliveMs: number;
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
	/** Reads the token anew each time, so that a changed one is used. */
	readonly open: () => Promise<{ readonly api: Api; readonly secret: string }>;
	/** Where Telegram posts updates. Left out: they are polled. */
	readonly webhookUrl?: string;
	/** Commits a cursor alone. */
	readonly keep: (cursor: string) => Promise<void>;
	/** Commits one update of a batch. */
	readonly handIn: (
		update: Update,
		cursor: string | undefined,
		connection: Connection,
		batch: readonly Update[],
		/** It was tried before: what of it still cannot be had is left out, and said to be. */
		isLastTry: boolean,
	) => Promise<void>;
	readonly onConnected: (connection: Connection) => void;
	readonly log: (message: string, error?: unknown) => void;
}

/** Something that only a human can change. */
interface Trouble {
	readonly state: "degraded" | "needs_attention";
	readonly detail: string;
}

export class Line {
	readonly #options: LineOptions;
	#state: ChannelHealth["state"] = "stopped";
	#detail: string | undefined;
	#aliveAt: number | null = null;
	/** When Telegram last answered, by the monotonic clock. */
	#alive = 0;
	#connection: Connection | null = null;
	/** Of the last connection. */
	#bot: number | undefined;
	/** Committed and not confirmed yet, so that it may come again. */
	readonly #committed = new Set<number>();
	/** As it was committed by an earlier life. */
	#cursor: string | null = null;
	/** How often each update of this batch could not be read. */
	readonly #stumbles = new Map<number, number>();
	#offset: number | undefined;
	/** Made anew after a failure. */
	#intake: Intake | undefined;
	/** An update takes long: it is handed out again and again until it is confirmed, so that a poll does not wait. */
	#isBusy = false;
	/** The next poll is answered at once: it proves that the line works. */
	#isFirst = true;
	/** The poll was broken off because a token was refused. */
	#isInterrupted = false;
	/** The webhook is set: what is posted is taken. */
	#isListening = false;
	/** When an update was last posted. */
	#heardAt = 0;
	/** Posted updates on their way to the host, those of one chat one after the other. */
	readonly #lanes = new Lanes();
	readonly #posted = new Map<number, Promise<boolean>>();
	#album: readonly Update[] = [];
	/** When another program last took the updates, by the monotonic clock. */
	#conflictAt = Number.NEGATIVE_INFINITY;
	/** What is wrong while it is connected. */
	#remark: string | undefined;
	#running: Promise<void> = Promise.resolve();
	readonly #sleepers = new Set<() => void>();

	constructor(options: LineOptions) {
		this.#options = options;
	}

	/** While it is connected; else whoever wants to send waits. */
	get connection(): Connection | null {
		return this.#state === "connected" ? this.#connection : null;
	}

	/** Null before the first connection. */
	get secret(): string | null {
		return this.#connection?.secret ?? null;
	}

	get isStopping(): boolean {
		return this.#state === "stopped";
	}

	health(): ChannelHealth {
		const { clock, aliveMs, transport } = this.#options;
		const isSilent =
			(this.#state === "connected" || this.#state === "degraded") &&
			clock.monotonic() - this.#alive > aliveMs;
		const detail = this.#detail ?? (isSilent ? "Telegram does not answer" : this.#remark);
		return {
			state: isSilent ? "down" : this.#state,
			aliveAt: this.#aliveAt,
			...(this.#aliveAt !== null && {
				provenBy: this.#options.webhookUrl === undefined ? "poll answered" : "webhook confirmed",
			}),
			...(detail !== undefined && { detail }),
			connections: transport.connections,
		};
	}

	/** Resolves when it is under way; it connects by itself, now or later. */
	async start(cursor: string | null): Promise<void> {
		await this.#running;
		if (this.#state !== "stopped") return;
		this.#state = "starting";
		this.#isFirst = true;
		this.#detail = undefined;
		this.#alive = this.#options.clock.monotonic();
		this.#committed.clear();
		this.#cursor = cursor;
		this.#running = this.#run();
	}

	/** Hands in nothing more; what has been handed in is waited for, and Telegram is told of it. */
	async stop(): Promise<void> {
		if (this.#state !== "stopped") {
			this.#state = "stopped";
			this.#detail = undefined;
			this.#wake();
			this.#options.transport.abort([
				"getUpdates",
				"getMe",
				"getFile",
				"file",
				"setMyCommands",
				"getWebhookInfo",
			]);
		}
		await this.#running;
	}

	/** A call that was not a poll found the token refused: the line looks at once. */
	suspect(error: unknown): void {
		if (!isTokenRefused(error) || this.isStopping) return;
		this.#troubled(error);
		this.#isInterrupted = true;
		this.#options.transport.abort(["getUpdates"]);
		this.#wake();
	}

	/** An update that Telegram posted. Resolves when it is committed; false where it is not: Telegram must send it again. */
	post(update: Update): Promise<boolean> {
		const { update_id: id } = update;
		const connection = this.#connection;
		if (this.isStopping || !connection || !this.#isListening) return Promise.resolve(false);
		this.#heardAt = this.#options.clock.now();
		const before = this.#posted.get(id);
		if (before) return before;
		if (this.#committed.has(id)) return Promise.resolve(true);
		if (this.#posted.size >= MOST_POSTED) return Promise.resolve(false);
		// Only one message of an album has its words: the others are told by those that came before.
		if (messageOf(update)?.media_group_id !== undefined)
			this.#album = [...this.#album.slice(1 - ALBUM_PARTS), update];
		const batch = [update, ...this.#album];
		const posted = new Promise<boolean>((resolve) => {
			void this.#lanes.run(String(chatOf(update)?.id ?? ""), async () => {
				const isCommitted = await this.#commitPosted(update, connection, batch);
				if (isCommitted) this.#remember(id);
				this.#posted.delete(id);
				resolve(isCommitted);
			});
		});
		this.#posted.set(id, posted);
		return posted;
	}

	/** Again until it is committed, or the line stops: what comes after it in its chat waits. */
	async #commitPosted(update: Update, connection: Connection, batch: readonly Update[]): Promise<boolean> {
		for (let failures = 0; !this.isStopping; failures++)
			try {
				await this.#handIn(update, undefined, connection, batch);
				this.#stumbles.delete(update.update_id);
				return true;
			} catch (error) {
				if (this.isStopping) break;
				if (failures === 0)
					this.#options.log(`update ${update.update_id} cannot be processed yet: ${reasonOf(error)}`);
				await this.#sleep(this.#pauseMs(failures));
			}
		return false;
	}

	#remember(id: number): void {
		this.#committed.add(id);
		const [oldest] = this.#committed;
		if (this.#committed.size > REMEMBERED && oldest !== undefined) this.#committed.delete(oldest);
	}

	#wake(): void {
		for (const wake of [...this.#sleepers]) wake();
	}

	async #run(): Promise<void> {
		let failures = 0;
		while (!this.isStopping)
			try {
				const connection = this.#connection ?? (await this.#connect());
				const { webhookUrl } = this.#options;
				if (webhookUrl === undefined) await this.#poll(connection);
				else await this.#watch(connection, webhookUrl);
				failures = 0;
			} catch (error) {
				if (this.isStopping) break;
				// A poll that was broken off here says nothing about Telegram.
				if (!this.#isInterrupted) this.#troubled(error);
				this.#isInterrupted = false;
				await this.#pause(error, failures++);
			}
		await this.#ended();
		await this.#lanes.idle();
		await this.#goodbye();
		this.#connection = null;
	}

	/** What was handed in is waited for; what was not committed comes again. */
	async #ended(): Promise<void> {
		const intake = this.#intake;
		this.#intake = undefined;
		this.#isBusy = false;
		await intake?.settled().catch(() => undefined);
		if (intake?.firstOpen !== undefined) this.#offset = intake.firstOpen;
	}

	async #connect(): Promise<Connection> {
		// What the last one was handing in is its own.
		await this.#ended();
		const { api, secret } = await this.#options.open();
		const connection = { api, secret, me: await api.getMe() };
		this.#isListening = false;
		// What one bot has confirmed says nothing about another's updates: they would be confirmed unseen.
		if (this.#bot !== undefined && this.#bot !== connection.me.id) {
			this.#offset = undefined;
			this.#committed.clear();
		}
		this.#bot = connection.me.id;
		this.#connection = connection;
		return connection;
	}

	/** One look at the webhook: that it is ours, and that updates get through. */
	async #watch(connection: Connection, url: string): Promise<void> {
		const { api, me } = connection;
		const info = await api.getWebhookInfo();
		if (this.isStopping) return;
		if (info.url !== url || !this.#isListening) {
			this.#isListening = false;
			const isOurs = info.url === "" || info.url === url || info.url === ownUrl(this.#cursor, me.id);
			if (!isOurs) throw new ForeignWebhook(info.url ?? "");
			await this.#setWebhook(connection, url, info.url !== "");
		}
		this.#proven(connection);
		this.#remark = deliveryTrouble(info, this.#heardAt);
		await this.#sleep(this.#options.pollSeconds * 1000);
	}

	async #setWebhook({ api, me, secret }: Connection, url: string, isSet: boolean): Promise<void> {
		const cursor = webhookCursor(me.id, url);
		await this.#options.keep(cursor);
		this.#cursor = cursor;
		// After failures Telegram waits longer and longer; one that is set anew is tried at once.
		if (isSet) await api.deleteWebhook();
		this.#isListening = true;
		await api.setWebhook(url, {
			secret_token: secret,
			allowed_updates: ALLOWED_UPDATES,
			max_connections: MOST_AT_ONCE,
		});
	}

	/** A webhook that an earlier life of Keryx set, and did not remove, is in the way of polling. */
	async #removeOwnWebhook({ api, me }: Connection, error: unknown): Promise<void> {
		const own = ownUrl(this.#cursor, me.id);
		if (own === null || !isWebhookConflict(error) || (await api.getWebhookInfo()).url !== own) throw error;
		await api.deleteWebhook();
	}

	async #poll(connection: Connection): Promise<void> {
		const { pollSeconds } = this.#options;
		const updates = await connection.api
			.getUpdates({
				...(this.#offset !== undefined && { offset: this.#offset }),
				limit: LIMIT,
				timeout: this.#isFirst || this.#isBusy ? 0 : pollSeconds,
				allowed_updates: ALLOWED_UPDATES,
			})
			.catch((error: unknown) => this.#removeOwnWebhook(connection, error));
		if (updates === undefined) return;
		if (this.isStopping) return;
		this.#isFirst = false;
		this.#proven(connection);
		// Said once: after a week of silence Telegram numbers updates anew, and an old offset would confirm them unseen.
		this.#offset = undefined;
		this.#forgetConfirmed(updates);
		await this.#take(updates, connection);
	}

	/** Resolves when everything is committed, or after a moment: what takes long is waited for while others are asked for. */
	async #take(updates: readonly Update[], connection: Connection): Promise<void> {
		this.#intake ??= new Intake(
			(update, at, batch) => this.#handIn(update, at, connection, batch),
			({ update_id: id }) => this.#committed.add(id),
		);
		const intake = this.#intake;
		const unseen = updates.filter(
			({ update_id: id }) => !this.#isCommitted(id, connection.me.id) && !intake.holds(id),
		);
		intake.add(unseen, updates);
		const isSettled = await this.#withinMoment(intake.settled()).catch(async (error: unknown) => {
			await this.#ended();
			throw error;
		});
		if (isSettled) this.#stumbles.clear();
		this.#isBusy = !isSettled;
		const next = (updates.at(-1)?.update_id ?? Number.NaN) + 1;
		const offset = intake.firstOpen ?? next;
		if (updates.length > 0) this.#offset = offset;
	}

	async #handIn(
		update: Update,
		at: string | undefined,
		connection: Connection,
		batch: readonly Update[],
	): Promise<void> {
		if (this.isStopping) throw new Error("stopped");
		const cursor = at === undefined ? undefined : `${connection.me.id}:${at}`;
		const isLastTry = (this.#stumbles.get(update.update_id) ?? 0) >= STUMBLES;
		const { handIn, log } = this.#options;
		try {
			await handIn(update, cursor, connection, batch, isLastTry);
		} catch (error) {
			if (!this.#isHopeless(update, error)) throw error;
			// Whenever it is delivered again, it is the same: it must not block what comes after it.
			log(`update ${update.update_id} cannot be processed`, error);
			await handIn({ update_id: update.update_id }, cursor, connection, batch, true);
		}
	}

	/** False where it takes longer; a failure is one in any case. */
	async #withinMoment(settled: Promise<void>): Promise<boolean> {
		let cancel = () => {};
		const moment = new Promise<boolean>((resolve) => {
			cancel = this.#options.clock.after(LOOK_MS, () => resolve(false));
		});
		try {
			return await Promise.race([settled.then(() => true), moment]);
		} finally {
			cancel();
		}
	}

	/** What no address can be made of is the same at every try; so is, most likely, what fails for another reason than the store's trouble. */
	#isHopeless({ update_id: id }: Update, error: unknown): boolean {
		if (error instanceof KeryxError && HOPELESS.has(error.code)) return true;
		if (error instanceof FileUnreached) {
			this.#stumbles.set(id, (this.#stumbles.get(id) ?? 0) + 1);
			return false;
		}
		if (error instanceof KeryxError ? mayPass(error) : !(error instanceof TypeError)) return false;
		const tries = (this.#stumbles.get(id) ?? 0) + 1;
		this.#stumbles.set(id, tries);
		return tries >= STUMBLES;
	}

	/**
	 * The cursor of an earlier life counts for the one batch that could have been left unconfirmed: ids may start anew. That of another bot
	 * counts for nothing.
	 */
	#isCommitted(id: number, bot: number): boolean {
		const [of, at] = this.#cursor?.split(":") ?? [];
		const to = of === String(bot) ? Number(at) : Number.NEGATIVE_INFINITY;
		return this.#committed.has(id) || (id <= to && id > to - LIMIT);
	}

	/** What comes before the first that Telegram still has is confirmed. */
	#forgetConfirmed(updates: readonly Update[]): void {
		if (updates.length === 0) {
			this.#committed.clear();
			return;
		}
		const ids = new Set(updates.map(({ update_id: id }) => id));
		for (const id of this.#committed) if (!ids.has(id)) this.#committed.delete(id);
	}

	#proven(connection: Connection): void {
		const { clock, onConnected, pollSeconds } = this.#options;
		this.#aliveAt = clock.now();
		this.#alive = clock.monotonic();
		// Two programs take turns at being thrown out: only a poll's time without a conflict shows that the other is gone.
		if (this.#alive - this.#conflictAt < pollSeconds * 1000) return;
		this.#detail = undefined;
		if (this.#state === "connected") return;
		this.#state = "connected";
		onConnected(connection);
	}

	#troubled(error: unknown): void {
		const { state, detail } = troubleOf(error);
		if (isTokenRefused(error)) this.#connection = null;
		if (isConflict(error)) this.#conflictAt = this.#options.clock.monotonic();
		else this.#isFirst = true;
		if (this.#detail !== detail) this.#options.log(detail);
		this.#state = state;
		this.#detail = detail;
	}

	/** Longer each time, with chance in it, so that many channels do not come back at once; or as long as Telegram asks. */
	async #pause(error: unknown, failures: number): Promise<void> {
		const asked = isApiError(error) ? (error.parameters.retry_after ?? 0) * 1000 : 0;
		await this.#sleep(Math.max(asked, this.#pauseMs(failures)));
	}

	#pauseMs(failures: number): number {
		const { random, firstPauseMs, longestPauseMs } = this.#options;
		const most = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
		return most * (0.5 + random() / 2);
	}

	/** Ends early when the line stops, or has to look at once. */
	#sleep(ms: number): Promise<void> {
		return new Promise((resolve) => {
			const wake = () => {
				cancel();
				this.#sleepers.delete(wake);
				resolve();
			};
			const cancel = this.#options.clock.after(ms, wake);
			this.#sleepers.add(wake);
		});
	}

	/** What is not confirmed now comes again at the next start, and is known then by its cursor. */
	async #goodbye(): Promise<void> {
		const { clock, transport } = this.#options;
		if (this.#isListening && this.#connection) {
			// What is posted meanwhile stays with Telegram, and whoever reads the bot's updates next finds no webhook in the way.
			this.#isListening = false;
			const cancel = clock.after(GOODBYE_MS, () => transport.abort(["deleteWebhook"]));
			await this.#connection.api.deleteWebhook().catch(() => undefined);
			cancel();
		}
		if (this.#offset === undefined || !this.#connection) return;
		const cancel = clock.after(GOODBYE_MS, () => transport.abort(["getUpdates"]));
		await this.#connection.api
			.getUpdates({ offset: this.#offset, limit: 1, timeout: 0, allowed_updates: ALLOWED_UPDATES })
			.catch(() => undefined);
		cancel();
		this.#offset = undefined;
	}
}

const HOPELESS: ReadonlySet<string> = new Set(["source.invalid", "address.incomplete", "profile.invalid"]);

/** The store is in trouble, or Keryx stops: later the same is taken. */
function mayPass({ code }: KeryxError): boolean {
	return /^(?:store|gateway)\./.test(code) && code !== "store.conflict" && code !== "store.not_found";
}

function troubleOf(error: unknown): Trouble {
	if (error instanceof KeryxError)
		return { state: "needs_attention", detail: `${error.message}: ${error.hint}` };
	if (isTokenRefused(error))
		return {
			state: "needs_attention",
			detail:
				"Telegram does not accept the bot's token: get a new one from @BotFather with /token and replace the old one; Keryx checks again automatically",
		};
	if (isApiError(error) && isConflict(error))
		return {
			state: "needs_attention",
			detail: isWebhookConflict(error)
				? "this bot has a webhook, so Telegram sends its messages there: remove it with deleteWebhook, or use another bot"
				: "another program is reading this bot's messages: stop it, or give each its own bot",
		};
	if (error instanceof ForeignWebhook)
		return {
			state: "needs_attention",
			detail: `this bot's messages go to another program's webhook, at ${error.host}: remove it with deleteWebhook, or use another bot`,
		};
	return { state: "degraded", detail: `Telegram cannot be reached: ${reasonOf(error)}` };
}
