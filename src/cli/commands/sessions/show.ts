// `keryx sessions show`: a session's facts and its rows, page by page; the last ones by default.
import type { Command } from "commander";
import type { Client, WireMessage, WireSession } from "../../../http/index.ts";
import { type Connection, withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { textOf } from "../../conversation-view.ts";
import { readCount } from "../../io/arguments.ts";
import type { Output } from "../../io/output.ts";
import { clockTime, counted, onOneLine } from "../../io/words.ts";
import { texts } from "../../texts.ts";

const MOST = 200;
const PAGE = 200;

interface Flags {
	readonly all?: boolean;
	readonly limit: string;
}

export function addShow(parent: Command, context: CliContext): void {
	parent
		.command("show")
		.allowExcessArguments(false)
		.description(texts.sessions.show.about)
		.argument("<session>", texts.sessions.session)
		.option("--all", texts.sessions.show.all)
		.option("--limit <n>", texts.sessions.show.limit(MOST), "50")
		.addHelpText("after", EXAMPLES)
		.action((session: string, flags: Flags) => runShow(context, session, flags));
}

const EXAMPLES = texts.sessions.show.help;

async function runShow(context: CliContext, id: string, flags: Flags): Promise<void> {
	const limit = readCount("--limit", flags.limit, [1, MOST]);
	await withConnection(context, "read", async (connection) => {
		const { client, output } = connection;
		const session = await client.session({ session: id });
		const { messages, more } = flags.all
			? { messages: allRows(client, session), more: false }
			: await client.transcript({ session: id, limit });
		if (output.json) return output.value({ session, messages: await gathered(messages), more });
		await printHead(connection, session);
		if (more) output.line(texts.sessions.show.earlier);
		for await (const message of messages) printRow(output, message, connection.config.session_reset.timezone);
	});
}

/** Page by page, however long: the continued session first. */
async function* allRows(client: Client, session: WireSession): AsyncGenerator<WireMessage> {
	const chain: { id: string; upTo: number }[] = [];
	let at: { session: WireSession; upTo: number } | null = { session, upTo: Number.MAX_SAFE_INTEGER };
	while (at) {
		chain.unshift({ id: at.session.id, upTo: at.upTo });
		const { base }: WireSession = at.session;
		at = base && { session: await client.session({ session: base.session }), upTo: base.seq };
	}
	for (const { id, upTo } of chain) {
		for (let after = 0; ; ) {
			const { messages } = await client.messages({ session: id, after, limit: PAGE });
			for (const message of messages) if (message.seq <= upTo) yield message;
			after = messages.at(-1)?.seq ?? upTo;
			if (messages.length < PAGE || after >= upTo) break;
		}
	}
}

async function gathered(rows: AsyncIterable<WireMessage> | Iterable<WireMessage>): Promise<WireMessage[]> {
	const all: WireMessage[] = [];
	for await (const row of rows) all.push(row);
	return all;
}

async function printHead({ client, output, config }: Connection, session: WireSession): Promise<void> {
	const { timezone } = config.session_reset;
	const { name, key } = await client.conversation({ conversation: session.conversation });
	const ended =
		session.ended_at === null
			? "live"
			: `ended ${clockTime(session.ended_at, timezone)} (${session.end_reason})`;
	output.heading(session.title ?? `Session ${session.id}`);
	output.pairs([
		["session", session.id],
		["conversation", name, key],
		["began", clockTime(session.started_at, timezone), timezone],
		["state", ended],
		["messages", counted(session.messages, "message")],
	]);
}

function printRow(output: Output, message: WireMessage, timezone: string): void {
	const text = textOf(message.content);
	const at = clockTime(message.created_at, timezone);
	if (message.role === "tool") {
		const [first = ""] = text.trim().split("\n");
		const failed = message.is_error ? "failed: " : "";
		output.line(`  ◂ ${message.tool_name ?? "tool"}: ${failed}${folded(first, text)}`);
		return;
	}
	output.line();
	output.heading(`${nameOf(message)}, ${at}`);
	// Indented, so that no text can look like the start of another message.
	if (text !== "") output.text(text.replace(/^/gm, "  "));
	for (const { name, input } of message.tool_calls)
		output.line(`  ▸ ${name} ${brief(JSON.stringify(input) ?? "")}`);
}

function nameOf({ role, kind, author, sent_from }: WireMessage): string {
	if (role === "user") return author?.name ?? "user";
	if (sent_from !== null) return `agent, sent from ${onOneLine(sent_from)}`;
	if (role === "assistant") return "agent";
	return kind === null ? role : `Keryx (${kind.replaceAll("_", " ")})`;
}

const BRIEF = 100;

function folded(first: string, text: string): string {
	const lines = text.trim().split("\n").length;
	return lines > 1 ? `${brief(first)} (${lines} lines)` : brief(first);
}

function brief(text: string): string {
	const points = Array.from(onOneLine(text));
	return points.length > BRIEF ? `${points.slice(0, BRIEF - 1).join("")}…` : points.join("");
}
