// Updates that Telegram posts. One is confirmed by the answer to its request, which waits for the host's commit (I3).
import type { Update } from "grammy/types";
import type { Clock } from "../../time/index.ts";
import { Lanes } from "../lanes.ts";
import type { Pauses } from "../pauses.ts";
import { Remembered } from "../remembered.ts";
import type { Connection } from "./connection.ts";
import { isWebhookConflict, reasonOf } from "./outcome.ts";
import type { Taking } from "./taking.ts";
import { ALLOWED_UPDATES, chatOf, messageOf } from "./updates.ts";
import { deliveryTrouble, ForeignWebhook, MOST_AT_ONCE, ownUrl, webhookCursor } from "./webhook.ts";

/** Remembered updates, to recognise repeats and parts of albums. */
const REMEMBERED = 1000;
const ALBUM_PARTS = 50;
/** This many may wait to be committed; Telegram must resend posts beyond that. */
const MOST_POSTED = 1000;

export interface PostedOptions {
	readonly clock: Clock;
	readonly pauses: Pauses;
	readonly taking: Taking;
	readonly isStopping: () => boolean;
	readonly cursor: () => string | null;
	/** Commits a cursor alone. */
	readonly keep: (cursor: string) => Promise<void>;
	readonly log: (message: string, error?: unknown) => void;
}

export class Posted {
	readonly #options: PostedOptions;
	/** The webhook is set: posts are accepted. */
	#isListening = false;
	/** When an update was last posted. */
	#heardAt = 0;
	/** Updates being passed to the host, serially per chat. */
	readonly #lanes = new Lanes();
	readonly #posted = new Map<number, Promise<boolean>>();
	#committed = new Remembered(REMEMBERED);
	#album: readonly Update[] = [];
	/** What Telegram reports about its attempts to post. */
	#remark: string | undefined;

	constructor(options: PostedOptions) {
		this.#options = options;
	}

	get remark(): string | undefined {
		return this.#remark;
	}

	start(): void {
		this.#committed = new Remembered(REMEMBERED);
	}

	/** Another connection: its webhook is checked again. */
	connected(): void {
		this.#isListening = false;
	}

	/** An update posted by Telegram. Resolves when committed; false if not: Telegram must resend it. */
	post(update: Update, connection: Connection | null): Promise<boolean> {
		const { update_id: id } = update;
		const { clock, isStopping } = this.#options;
		if (isStopping() || !connection || !this.#isListening) return Promise.resolve(false);
		this.#heardAt = clock.now();
		const before = this.#posted.get(id);
		if (before) return before;
		if (this.#committed.has(String(id))) return Promise.resolve(true);
		if (this.#posted.size >= MOST_POSTED) return Promise.resolve(false);
		// Only one message of an album has the text: the others follow the earlier ones.
		if (messageOf(update)?.media_group_id !== undefined)
			this.#album = [...this.#album.slice(1 - ALBUM_PARTS), update];
		const batch = [update, ...this.#album];
		const posted = new Promise<boolean>((resolve) => {
			void this.#lanes.run(String(chatOf(update)?.id ?? ""), async () => {
				const isCommitted = await this.#commit(update, connection, batch);
				if (isCommitted) this.#committed.add(String(id));
				this.#posted.delete(id);
				resolve(isCommitted);
			});
		});
		this.#posted.set(id, posted);
		return posted;
	}

	/** Checks the webhook: that it is ours, and that updates get through. */
	async watch(connection: Connection, url: string, onAnswered: () => void): Promise<void> {
		const { isStopping, cursor } = this.#options;
		const { api, me } = connection;
		const info = await api.getWebhookInfo();
		if (isStopping()) return;
		if (info.url !== url || !this.#isListening) {
			this.#isListening = false;
			const isOurs = info.url === "" || info.url === url || info.url === ownUrl(cursor(), me.id);
			if (!isOurs) throw new ForeignWebhook(info.url ?? "");
			await this.#set(connection, url, info.url !== "");
		}
		onAnswered();
		this.#remark = deliveryTrouble(info, this.#heardAt);
	}

	/** A webhook left by an earlier run of Keryx prevents polling. */
	async removeOwn({ api, me }: Connection, error: unknown): Promise<void> {
		const own = ownUrl(this.#options.cursor(), me.id);
		if (own === null || !isWebhookConflict(error) || (await api.getWebhookInfo()).url !== own) throw error;
		await api.deleteWebhook();
	}

	/** Resolves when nothing is running. */
	idle(): Promise<void> {
		return this.#lanes.idle();
	}

	/** Posts meanwhile stay with Telegram, and the bot's next reader finds no webhook in the way. */
	async goodbye({ api }: Connection, within: (call: string) => () => void): Promise<void> {
		if (!this.#isListening) return;
		this.#isListening = false;
		const cancel = within("deleteWebhook");
		await api.deleteWebhook().catch(() => undefined);
		cancel();
	}

	async #set({ api, me, secret }: Connection, url: string, isSet: boolean): Promise<void> {
		await this.#options.keep(webhookCursor(me.id, url));
		// After failures Telegram waits longer and longer; a newly set webhook is tried at once.
		if (isSet) await api.deleteWebhook();
		this.#isListening = true;
		await api.setWebhook(url, {
			secret_token: secret,
			allowed_updates: ALLOWED_UPDATES,
			max_connections: MOST_AT_ONCE,
		});
	}

	/** Retried until it is committed or the line stops: later ones of its chat wait. */
	async #commit(update: Update, connection: Connection, batch: readonly Update[]): Promise<boolean> {
		const { isStopping, taking, pauses, log } = this.#options;
		for (let failures = 0; !isStopping(); failures++)
			try {
				await taking.take(update, undefined, connection, batch);
				taking.forget(update.update_id);
				return true;
			} catch (error) {
				if (isStopping()) break;
				if (failures === 0) log(`update ${update.update_id} cannot be processed yet: ${reasonOf(error)}`);
				await pauses.afterFailures(failures);
			}
		return false;
	}
}
