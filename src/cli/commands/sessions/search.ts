// `keryx sessions search`: finds messages and titles by words.
import type { Command } from "commander";
import type { Answer, Client, WireHit } from "../../../http/index.ts";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { readCount, readOneOf } from "../../io/arguments.ts";
import type { Output } from "../../io/output.ts";
import { clockTime, counted } from "../../io/words.ts";
import { namedConversation } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";

const MOST = 100;
const ROLES = ["user", "assistant", "tool", "title"] as const;

interface Flags {
	readonly conversation?: string;
	readonly role?: string;
	readonly limit: string;
}

export function addSearch(parent: Command, context: CliContext): void {
	parent
		.command("search")
		.description(texts.sessions.search.about)
		.argument("<words...>", texts.sessions.search.words)
		.option("--conversation <id|key>", texts.sessions.search.conversation)
		.option("--role <role>", texts.sessions.search.role(ROLES.join(", ")))
		.option("--limit <n>", texts.sessions.search.limit(MOST), "20")
		.addHelpText("after", EXAMPLES)
		.action((words: string[], flags: Flags) => runSearch(context, words.join(" "), flags));
}

const EXAMPLES = texts.sessions.search.help;

async function runSearch(context: CliContext, query: string, flags: Flags): Promise<void> {
	const limit = readCount("--limit", flags.limit, [1, MOST]);
	const role = flags.role === undefined ? undefined : readOneOf("--role", flags.role, ROLES);
	await withConnection(context, "read", async ({ client, output, config }) => {
		const within =
			flags.conversation === undefined ? undefined : await namedConversation(client, flags.conversation);
		const found = await client.search({
			q: query,
			limit,
			...(within && { conversation: within.id }),
			...(role !== undefined && { role }),
		});
		if (output.json) return output.value(found);
		if (found.hits.length === 0) return output.note(texts.sessions.search.nothing(JSON.stringify(query)));
		if (!output.isTerminal) return output.table([], found.hits.map(toCells));
		await printHits(client, output, found, config.session_reset.timezone);
	});
}

function toCells(hit: WireHit): string[] {
	const text = hit.snippet.map((piece) => piece.text).join("");
	return [hit.session, String(hit.seq ?? ""), hit.role ?? hit.kind, hit.created_at, text];
}

async function printHits(
	client: Client,
	output: Output,
	{ hits, total }: Answer<"search">,
	timezone: string,
): Promise<void> {
	const names = new Map<string, string>();
	for (const hit of hits) {
		const name =
			names.get(hit.conversation) ?? (await client.conversation({ conversation: hit.conversation })).name;
		names.set(hit.conversation, name);
		output.heading(`${name}, session ${hit.session}, ${clockTime(hit.created_at, timezone)}`);
		if (hit.before?.preview) output.line(`    ${hit.before.role}: ${hit.before.preview}`);
		output.pieces([{ text: `  > ${hit.role ?? hit.kind}: `, marked: false }, ...hit.snippet]);
		if (hit.after?.preview) output.line(`    ${hit.after.role}: ${hit.after.preview}`);
		output.line();
	}
	const all = `${total.more ? "more than " : ""}${counted(total.count, "hit")}`;
	output.line(
		hits.length < total.count || total.more ? texts.sessions.search.more(hits.length, all) : `${all}.`,
	);
}
