import type { Command } from "commander";
import type { Client, WireConversation, WireSession } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { textOf } from "../../conversation-view.ts";
import { readCount } from "../../io/arguments.ts";
import { ago, onOneLine } from "../../io/words.ts";
import { namedConversation } from "../../named-conversation.ts";

const MOST = 200;

interface Flags {
	readonly conversation?: string;
	readonly platform?: string;
	readonly limit: string;
}

export function addList(parent: Command, context: CliContext): void {
	parent
		.command("list")
		.allowExcessArguments(false)
		.description("sessions of all conversations, newest activity first")
		.option("--conversation <id|key>", "only those of this conversation")
		.option("--platform <name>", "only those of this platform")
		.option("--limit <n>", `at most so many, 1 to ${MOST}`, "20")
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runList(context, flags));
}

const EXAMPLES = `
Examples:
  $ keryx sessions list
  $ keryx sessions list --platform telegram --limit 5
  $ keryx sessions list --conversation agent:main:local:dm:cli --json
  $ keryx sessions list | cut -f2          the ids alone

Columns: conversation, session, title or first words, messages, last active (a time when piped).
Exit codes: 0 done, 1 failure (no such conversation), 2 wrong usage.`;

interface Listed {
	readonly session: WireSession;
	readonly conversation: WireConversation;
}

async function runList(context: CliContext, flags: Flags): Promise<void> {
	const limit = readCount("--limit", flags.limit, [1, MOST]);
	await withConnection(context, "read", async ({ client, output }) => {
		const listed =
			flags.conversation === undefined
				? await newest(client, limit, flags.platform)
				: await newestOf(client, await namedConversation(client, flags.conversation), limit, flags.platform);
		const previews = await Promise.all(listed.map(({ session }) => openingOf(client, session)));
		if (output.json) {
			const sessions = listed.map(({ session, conversation }, index) => ({
				...session,
				key: conversation.key,
				platform: conversation.platform,
				display_name: conversation.display_name,
				preview: previews[index] ?? "",
			}));
			return output.value({ sessions });
		}
		if (listed.length === 0)
			return output.note("There are no sessions yet: `keryx chat` or `keryx send` begins one.");
		output.table(
			["conversation", "session", "about", "messages", "active"],
			listed.map(({ session, conversation }, index) => [
				conversation.display_name,
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
 * A session is never newer than its conversation, so the walk over conversations, newest first, ends as soon as the next one is
 * older than everything found.
 */
async function newest(client: Client, limit: number, platform: string | undefined): Promise<Listed[]> {
	let found: Listed[] = [];
	for (let after: string | undefined; ; ) {
		const page = await client.conversations({
			limit: 50,
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

/** Rows looked at for a person's first words: before them stands at most what was carried over. */
const OPENING = 10;
const PREVIEW = 200;

async function openingOf(client: Client, { id }: WireSession): Promise<string> {
	const { messages } = await client.messages({ session: id, after: 0, limit: OPENING });
	const first = messages.find(({ role }) => role === "user");
	return first ? onOneLine(textOf(first.content).slice(0, PREVIEW)) : "";
}
