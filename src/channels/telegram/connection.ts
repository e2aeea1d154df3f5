// A bot known to Telegram, and how it is reached.
import type { Api } from "grammy";
import type { UserFromGetMe } from "grammy/types";

export interface Connection {
	readonly api: Api;
	readonly me: UserFromGetMe;
	/** The secret Telegram sends with each posted update. */
	readonly secret: string;
}
