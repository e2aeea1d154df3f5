import type { Command } from "commander";
import { cleanTitle, isSessionId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import type { Client, WireConversation, WireSession } from "../../../http/index.ts";
import { type Connection, withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { counted } from "../../io/words.ts";
import { found, ownConversation } from "../../named-conversation.ts";

export function addResume(parent: Command, context: CliContext): void {
	parent
		.command("resume")
		.description("go back to a session in this terminal's conversation")
		.argument("<session|title...>", "its id, or its title")
		.addHelpText("after", EXAMPLES)
		.action((words: string[]) =>
			withConnection(context, "change", (connection) => resume(connection, words.join(" "))),
		);
}

const EXAMPLES = `
The session becomes the live one of this terminal's conversation, so the next message goes on with it. One of
another conversation of yours is copied here, if routing.resume_scope allows it.

Examples:
  $ keryx sessions resume 20260310_120000_1f3a90bc
  $ keryx sessions resume holiday plans && keryx chat

Exit codes: 0 done, 1 failure (no such session, or none that you can go back to), 2 wrong usage.`;

async function resume({ client, output, config }: Connection, name: string): Promise<void> {
	const own = await ownConversation(client, config);
	if (!own)
		throw new KeryxError(
			"session.none",
			"nothing has been said in this terminal yet, so there is nowhere to go back to",
			{
				hint: "`keryx chat` or `keryx send` begins a conversation",
			},
		);
	const target = isSessionId(name) ? name : await titled(client, own, name);
	const changed = target && (await found(client.switchSession({ conversation: own.id, target })));
	if (!changed)
		throw new KeryxError(
			"store.not_found",
			`no session ${JSON.stringify(name)} that this terminal can go back to`,
			{
				field: "session",
				hint: "`keryx sessions list` shows ids and titles; routing.resume_scope says whose can be taken up",
			},
		);
	if (output.json) return output.value(changed);
	const { title, messages, id } = await client.session({ session: changed.session });
	const called = title === null ? id : `${JSON.stringify(title)} (${id})`;
	output.line(`Session ${called} is live in this terminal now, with ${counted(messages, "message")}.`);
	if (changed.stopped !== null) output.line("The answer that was being worked on was ended first.");
	if (changed.ended !== null)
		output.line(`\`keryx sessions resume ${changed.ended}\` goes back to where you were.`);
	output.line("`keryx chat` goes on with it.");
}

/** Unique within a conversation, whatever its capitals: one of this terminal's own first, then of others. */
async function titled(client: Client, own: WireConversation, name: string): Promise<string | null> {
	const title = cleanTitle(name).toLowerCase();
	const fits = (session: WireSession): boolean => cleanTitle(session.title ?? "").toLowerCase() === title;
	for (let before: string | undefined; ; ) {
		const { sessions } = await client.sessions({
			conversation: own.id,
			limit: PAGE,
			...(before !== undefined && { before }),
		});
		const there = sessions.find(fits);
		if (there) return there.id;
		before = sessions.at(-1)?.id;
		if (sessions.length < PAGE || before === undefined) break;
	}
	const { hits } = await client.search({ q: `"${title.replaceAll('"', " ")}"`, role: "title", limit: 100 });
	for (const hit of hits) if (fits(await client.session({ session: hit.session }))) return hit.session;
	return null;
}
const PAGE = 200;
