// `keryx send`: one message as the user of this machine, and its answer.
import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import type { Client, WireDelivery, WireInbound } from "../../http/index.ts";
import { systemIds } from "../../store/index.ts";
import { systemClock } from "../../time/index.ts";
import { type Connection, withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { whileWaiting } from "../io/progress.ts";
import { readText } from "../io/read-text.ts";
import { found, localSource, namedConversation } from "../named-conversation.ts";

interface Flags {
	readonly conversation?: string;
	readonly wait: boolean;
	readonly id?: string;
}

export function addSend(program: Command, context: CliContext): void {
	program
		.command("send")
		.description("send one message and print its answer")
		.argument("<text...>", "the message; - reads it from stdin")
		.option("--conversation <id|key>", "speak in this conversation instead of the terminal's own")
		.option("--no-wait", "do not wait for the answer")
		.option(
			"--id <id>",
			"your own id of the message: the same again is not sent twice, and prints what became of it",
		)
		.addHelpText("after", EXAMPLES)
		.action((words: string[], flags: Flags) => runSend(context, words, flags));
}

const EXAMPLES = `
The answer is printed on stdout as the agent wrote it; notices go to stderr. Commands such as /status work too.
Words that begin with a dash stand behind --.

Examples:
  $ keryx send what did we say about tulips
  $ git diff | keryx send -
  $ keryx send --id backup-2026-03-10 "the backup is done" --no-wait
  $ keryx send /status

Exit codes: 0 answered, 1 failure: it was not answered, and why, 2 wrong usage.`;

/** Seconds that one request waits; then it is asked again. */
const WAIT = 30;

async function runSend(context: CliContext, words: readonly string[], flags: Flags): Promise<void> {
	const given = words.join(" ");
	const text = given === "-" ? await readText("-", context) : given;
	if (text.trim() === "")
		throw new KeryxError("argument.invalid", "the message has no text", { field: "text" });
	await withConnection(context, "run", async (connection) => {
		const { client, output } = connection;
		const id = await send(connection, text, flags);
		if (!flags.wait) {
			const inbound = await client.inbound({ id });
			if (output.json) output.value({ inbound });
			else output.line(`Message ${id} was accepted; \`keryx why ${id}\` tells what becomes of it.`);
			return;
		}
		const inbound = await whileWaiting(output, "waiting for the answer", () => ended(client, id));
		const deliveries = await answersTo(client, inbound);
		refuseUnanswered(inbound);
		if (output.json) return output.value({ inbound, deliveries });
		for (const { kind, text, plain } of deliveries)
			if (kind === "notice") output.note(plain);
			else output.text(text);
	});
}

async function send({ client }: Connection, text: string, flags: Flags): Promise<number> {
	const conversation =
		flags.conversation === undefined ? undefined : await namedConversation(client, flags.conversation);
	const given = flags.id ?? systemIds(systemClock).uuid();
	try {
		const { id } = await client.send({
			text,
			client_message_id: given,
			source: localSource(),
			...(conversation && { conversation: conversation.id }),
		});
		return id;
	} catch (cause) {
		if (cause instanceof KeryxError && cause.code === "gateway.silent")
			throw new KeryxError(cause.code, `${cause.message}, and may have taken the message`, {
				hint: `${cause.hint}; send it again with --id ${given}: it is taken once`,
				cause,
			});
		if (cause instanceof KeryxError) throw cause;
		throw new KeryxError("message.unanswered", "Keryx ended before it said whether it took the message", {
			hint: `start Keryx and send it again with --id ${given}: it is taken once`,
			cause,
		});
	}
}

async function ended(client: Client, id: number): Promise<WireInbound> {
	try {
		for (;;) {
			const inbound = await client.inbound({ id, wait: WAIT });
			if (inbound.disposition !== null) return inbound;
		}
	} catch (cause) {
		if (cause instanceof KeryxError) throw cause;
		throw new KeryxError("message.unanswered", `Keryx ended before message ${id} was answered`, {
			hint: `the message is kept: start Keryx, which goes on with it; \`keryx why ${id}\` tells its story`,
			cause,
		});
	}
}

/** A turn's deliveries; a command's are named after the message. */
async function answersTo(client: Client, { id, turn }: WireInbound): Promise<WireDelivery[]> {
	if (turn !== null) return (await client.turn({ turn })).deliveries;
	const parts: WireDelivery[] = [];
	for (;;) {
		const part = await found(client.delivery({ delivery: `command:${id}:${parts.length + 1}` }));
		if (!part) return parts;
		parts.push(part);
	}
}

const ANSWERED: ReadonlySet<string> = new Set(["answered", "merged", "command", "observed"]);

function refuseUnanswered({ id, disposition }: WireInbound): void {
	if (disposition === null || ANSWERED.has(disposition.kind)) return;
	const what = {
		stopped: "its answer was stopped",
		dropped_by_user: "it was dropped from the queue",
		refused: "it was refused",
		expired: "it got too old",
		failed: "it could not be answered",
	}[disposition.kind as "stopped"];
	const why = disposition.reason === undefined ? "" : `: ${disposition.reason}`;
	throw new KeryxError("message.unanswered", `message ${id} has no answer: ${what}${why}`, {
		hint: `\`keryx why ${id}\` tells its story; send it again with another --id, or none`,
	});
}
