// A platform's home channel as set by the owner in a chat; it overrides the configuration.
import type { ConversationId } from "../../domain/index.ts";
import { seal, unseal } from "../codec.ts";
import { all, type Context, type Op, run, sql } from "../query.ts";
import type { HomeChannel, OperatorScope } from "../types.ts";
import { emit } from "./events.ts";

interface HomeRow {
	readonly platform: string;
	readonly account: string;
	readonly chat: string;
	readonly thread: string | null;
	readonly set_at: number;
	readonly body: string;
	readonly body_key: number | null;
}

const everyHome = sql<HomeRow>(
	"SELECT platform, account, chat, thread, set_at, body, body_key FROM home_channels ORDER BY platform",
);
const putHome = sql(
	`INSERT INTO home_channels (platform, account, chat, thread, set_at, set_by, body) VALUES (?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (platform) DO UPDATE SET account = excluded.account, chat = excluded.chat, thread = excluded.thread,
		set_at = excluded.set_at, set_by = excluded.set_by, body = excluded.body`,
);
const removeHome = sql("DELETE FROM home_channels WHERE platform = ?");

export interface SetHomeArgs {
	readonly conversation: ConversationId;
	readonly platform: string;
	/** Null: the configuration applies again. */
	readonly home: Pick<HomeChannel, "account" | "chatId" | "threadId" | "name"> | null;
	/** The principal who set it. */
	readonly by: string | null;
}

/** Returns all current ones. */
export function* setHome(
	context: Context,
	{ conversation, platform, home, by }: SetHomeArgs,
): Op<{ homes: readonly HomeChannel[]; isSet: boolean; changed: boolean }> {
	let changed = true;
	if (home) {
		const { account, chatId, threadId, name } = home;
		yield* run(putHome, platform, account, chatId, threadId ?? null, context.now, by, seal({ name }));
	} else changed = (yield* run(removeHome, platform)) > 0;
	if (changed) yield* emit(context, home ? "home.set" : "home.unset", { conversation, subject: platform });
	return { homes: yield* allHomes(), isSet: home !== null, changed };
}

export function* homeChannels(_: { readonly scope: OperatorScope }): Op<readonly HomeChannel[]> {
	return yield* allHomes();
}

function* allHomes(): Op<HomeChannel[]> {
	return (yield* all(everyHome)).map((row) => ({
		platform: row.platform,
		account: row.account,
		chatId: row.chat,
		...(row.thread !== null && { threadId: row.thread }),
		name: unseal<{ name: string }>(row.body, row.body_key).name,
		setAt: row.set_at,
	}));
}
