// A webhook: updates are posted one by one, those of one chat one after the other, up to the bot's limit of chats at once. What is not
// answered with 2xx is posted again, later each time.
import type { Update } from "grammy/types";
import type { Clock } from "../../../src/time/index.ts";

export interface Webhook {
	readonly url: string;
	readonly secret: string;
	readonly mostAtOnce: number;
}

export interface PusherOptions {
	readonly clock: Clock;
	/** What waits, oldest first. */
	readonly waiting: () => readonly Update[];
	/** It is on its way. */
	readonly posting: (update: Update) => void;
	readonly confirm: (update: Update) => void;
	/** The pause after a failure. Telegram's own grows from a second on. */
	readonly retryMs: number;
	/** Whether the answer to this one is lost on its way. */
	readonly isAnswerLost: (update: Update) => boolean;
}

export class Pusher {
	readonly #options: PusherOptions;
	#webhook: Webhook | null = null;
	/** Chats that a request is under way for, or that wait after a failure. */
	readonly #busy = new Set<string>();
	lastError: { readonly at: number; readonly message: string } | null = null;
	/** Statuses that were answered, oldest first. */
	readonly statuses: (number | null)[] = [];

	constructor(options: PusherOptions) {
		this.#options = options;
	}

	get webhook(): Webhook | null {
		return this.#webhook;
	}

	set(webhook: Webhook | null): void {
		this.#webhook = webhook;
		this.#busy.clear();
		this.lastError = null;
		this.push();
	}

	push(): void {
		const webhook = this.#webhook;
		if (!webhook) return;
		const seen = new Set<string>();
		for (const update of this.#options.waiting()) {
			const chat = chatOf(update);
			if (seen.has(chat) || this.#busy.has(chat)) continue;
			if (this.#busy.size >= webhook.mostAtOnce) return;
			seen.add(chat);
			this.#busy.add(chat);
			this.#options.posting(update);
			void this.#post(update, chat, webhook);
		}
	}

	async #post(update: Update, chat: string, webhook: Webhook): Promise<void> {
		const { clock, retryMs, confirm, isAnswerLost } = this.#options;
		const isTaken = await this.#request(update, webhook);
		const next = () => {
			if (this.#webhook !== webhook) return;
			this.#busy.delete(chat);
			this.push();
		};
		if (isTaken && !isAnswerLost(update)) {
			confirm(update);
			next();
		} else clock.after(retryMs, next);
	}

	async #request(update: Update, { url, secret }: Webhook): Promise<boolean> {
		try {
			const answer = await fetch(url, {
				method: "POST",
				redirect: "manual",
				headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
				body: JSON.stringify(update),
			});
			await answer.text();
			this.statuses.push(answer.status);
			if (answer.ok) return true;
			this.#failed(`Wrong response from the webhook: ${answer.status}`);
		} catch {
			this.statuses.push(null);
			this.#failed("Connection refused");
		}
		return false;
	}

	#failed(message: string): void {
		this.lastError = { at: this.#options.clock.now(), message };
	}
}

function chatOf(update: Update): string {
	const { message, edited_message: edited, channel_post: post, message_reaction: reaction } = update;
	const of = message ?? edited ?? post ?? reaction ?? update.my_chat_member;
	// Presses are a queue of their own, by person.
	return of ? `chat ${of.chat.id}` : `person ${update.callback_query?.from.id}`;
}
