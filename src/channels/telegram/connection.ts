// A bot that Telegram knows, and how it is reached.
import type { Api } from "grammy";
import type { UserFromGetMe } from "grammy/types";

export interface Connection {
	readonly api: Api;
	readonly me: UserFromGetMe;
	/** What Telegram shows with each update that it posts. */
	readonly secret: string;
}
