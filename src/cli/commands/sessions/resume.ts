// `keryx sessions resume`: makes an earlier session current again in the terminal's own conversation, by id or title.
import type { Command } from "commander";
import { cleanTitle, isSessionId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import type { Client, WireConversation, WireSession } from "../../../http/index.ts";
import { type Connection, withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { counted } from "../../io/words.ts";
import { found, ownConversation } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";

export function addResume(parent: Command, context: CliContext): void {
	parent
		.command("resume")
		.description(texts.sessions.resume.about)
		.argument("<session|title...>", texts.sessions.resume.name)
		.addHelpText("after", EXAMPLES)
		.action((words: string[]) =>
			withConnection(context, "change", (connection) => resume(connection, words.join(" "))),
		);
}

const EXAMPLES = texts.sessions.resume.help;

async function resume({ client, output, config }: Connection, name: string): Promise<void> {
	const own = await ownConversation(client, config);
	if (!own)
		throw new KeryxError("session.none", texts.sessions.resume.nothing, {
			hint: texts.sessions.resume.nothingHint,
		});
	const target = isSessionId(name) ? name : await titled(client, own, name);
	const changed = target && (await found(client.switchSession({ conversation: own.id, target })));
	if (!changed)
		throw new KeryxError("store.not_found", texts.sessions.resume.notFound(JSON.stringify(name)), {
			field: "session",
			hint: texts.sessions.resume.notFoundHint,
		});
	if (output.json) return output.value(changed);
	const { title, messages, id } = await client.session({ session: changed.session });
	const called = title === null ? id : `${JSON.stringify(title)} (${id})`;
	output.line(texts.sessions.resume.done(called, counted(messages, "message")));
	if (changed.stopped !== null) output.line(texts.sessions.resume.stopped);
	if (changed.ended !== null) output.line(texts.sessions.resume.back(changed.ended));
	output.line(texts.sessions.resume.next);
}

/** Unique within a conversation, ignoring case: this terminal's own first, then others. */
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
