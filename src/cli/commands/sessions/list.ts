// `keryx sessions list`: the newest sessions, optionally of one conversation or platform.
import type { Command } from "commander";
import { KeryxError } from "../../../errors.ts";
import type { Client, WireConversation, WireSession } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { textOf } from "../../conversation-view.ts";
import { readCount } from "../../io/arguments.ts";
import { ago, onOneLine } from "../../io/words.ts";
import { namedConversation } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";

const MOST = 200;

interface Flags {
	readonly conversation?: string;
	readonly platform?: string;
	readonly archived?: boolean;
	readonly deleted?: boolean;
	readonly limit: string;
}

export function addList(parent: Command, context: CliContext): void {
	parent
		.command("list")
		.allowExcessArguments(false)
		.description(texts.sessions.list.about)
		.option("--conversation <id|key>", texts.sessions.list.conversation)
		.option("--platform <name>", texts.sessions.list.platform)
		.option("--archived", texts.sessions.list.archived)
		.option("--deleted", texts.sessions.list.deleted)
		.option("--limit <n>", texts.sessions.list.limit(MOST), "20")
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runList(context, flags));
}

const EXAMPLES = texts.sessions.list.help;

interface Listed {
	readonly session: WireSession;
	readonly conversation: WireConversation;
}

async function runList(context: CliContext, flags: Flags): Promise<void> {
	const limit = readCount("--limit", flags.limit, [1, MOST]);
	if (flags.archived && flags.deleted) throw new KeryxError("usage.invalid", texts.sessions.list.either);
	await withConnection(context, "read", async ({ client, output }) => {
		const listed =
			flags.conversation === undefined
				? await newest(client, limit, flags)
				: await newestOf(client, await namedConversation(client, flags.conversation), limit, flags.platform);
		const previews = await Promise.all(listed.map(({ session }) => openingOf(client, session)));
		if (output.json) {
			const sessions = listed.map(({ session, conversation }, index) => ({
				...session,
				key: conversation.key,
				platform: conversation.platform,
				name: conversation.name,
				display_name: conversation.display_name,
				preview: previews[index] ?? "",
			}));
			return output.value({ sessions });
		}
		const isPart = [flags.conversation, flags.platform, flags.archived, flags.deleted].some(Boolean);
		if (listed.length === 0)
			return output.note(isPart ? texts.sessions.list.noneOfThese : texts.sessions.list.none);
		output.table(
			["conversation", "session", "about", "messages", "active"],
			listed.map(({ session, conversation }, index) => [
				conversation.name,
				session.id,
				session.title ?? previews[index] ?? "",
				String(session.messages),
				output.isTerminal ? ago(session.last_activity_at, context.now()) : session.last_activity_at,
			]),
			{ elastic: [0, 2] },
		);
	});
}

/**
 * A session is never newer than its conversation, so the walk over conversations, newest first, ends when the next one is older than
 * everything found.
 */
async function newest(
	client: Client,
	limit: number,
	{ platform, archived, deleted }: Flags,
): Promise<Listed[]> {
	let found: Listed[] = [];
	for (let after: string | undefined; ; ) {
		const page = await client.conversations({
			limit: 50,
			list: deleted ? "deleted" : archived ? "archived" : "open",
			...(platform !== undefined && { platform }),
			...(after !== undefined && { after }),
		});
		for (const conversation of page.conversations) {
			const last = found[limit - 1];
			if (last && last.session.last_activity_at >= conversation.last_activity_at) return found;
			found = newestFirst([...found, ...(await newestOf(client, conversation, limit))]).slice(0, limit);
		}
		if (page.next === null) return found;
		after = page.next;
	}
}

async function newestOf(
	client: Client,
	conversation: WireConversation,
	limit: number,
	platform = conversation.platform,
): Promise<Listed[]> {
	if (conversation.platform !== platform) return [];
	const { sessions } = await client.sessions({ conversation: conversation.id, limit });
	return newestFirst(sessions.map((session) => ({ session, conversation })));
}

function newestFirst(listed: readonly Listed[]): Listed[] {
	return listed.toSorted((a, b) => (a.session.last_activity_at < b.session.last_activity_at ? 1 : -1));
}

/** Rows read to find a person's first words: only a carry-over can precede them. */
const OPENING = 10;
const PREVIEW = 200;

async function openingOf(client: Client, { id }: WireSession): Promise<string> {
	const { messages } = await client.messages({ session: id, after: 0, limit: OPENING });
	const first = messages.find(({ role }) => role === "user");
	return first ? onOneLine(textOf(first.content).slice(0, PREVIEW)) : "";
}
