// `keryx send`: one message as the user of this machine, and its answer.

import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import type { Client, WireDelivery, WireInbound } from "../../http/index.ts";
import { systemIds } from "../../store/index.ts";
import { systemClock } from "../../time/index.ts";
import { type Connection, withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { assertOutside } from "../inside.ts";
import { whileWaiting } from "../io/progress.ts";
import { readText } from "../io/read-text.ts";
import { found, localSource, namedConversation } from "../named-conversation.ts";
import { texts } from "../texts.ts";

interface Flags {
	readonly conversation?: string;
	readonly to?: string;
	readonly wait: boolean;
	readonly id?: string;
}

export function addSend(program: Command, context: CliContext): void {
	program
		.command("send")
		.description(texts.send.about)
		.argument("<text...>", texts.send.text)
		.option("--conversation <id|key>", texts.send.conversation)
		.option("--to <target>", texts.send.to)
		.option("--no-wait", texts.send.noWait)
		.option("--id <id>", texts.send.id)
		.addHelpText("after", EXAMPLES)
		.action((words: string[], flags: Flags) => runSend(context, words, flags));
}

const EXAMPLES = texts.send.help;

/** Seconds per request; then it asks again. */
const WAIT = 30;

async function runSend(context: CliContext, words: readonly string[], flags: Flags): Promise<void> {
	const given = words.join(" ");
	const text = given === "-" ? await readText("-", context) : given;
	if (text.trim() === "") throw new KeryxError("argument.invalid", texts.send.empty, { field: "text" });
	if (flags.to !== undefined) return sendTo(context, text, flags.to, flags);
	await withConnection(context, "run", async (connection) => {
		const { client, output } = connection;
		const id = await send(connection, text, flags);
		if (!flags.wait) {
			const inbound = await client.inbound({ id });
			if (output.json) output.value({ inbound });
			else output.line(texts.send.accepted(id, id));
			return;
		}
		const inbound = await whileWaiting(output, texts.send.waiting, () => ended(client, id));
		const deliveries = await answersTo(client, inbound);
		refuseUnanswered(inbound);
		if (output.json) return output.value({ inbound, deliveries });
		for (const { kind, text, plain } of deliveries)
			if (kind === "notice") for (const line of plain.split("\n")) output.note(line);
			else output.text(text);
	});
}

/** An unprompted message. Processes that Keryx started may not do this: its agent has a tool that asks. */
async function sendTo(context: CliContext, text: string, target: string, flags: Flags): Promise<void> {
	assertOutside(context);
	if (flags.conversation !== undefined)
		throw new KeryxError("argument.invalid", texts.send.toAndConversation, { field: "to" });
	await withConnection(context, "run", async ({ client, output, isRemote }) => {
		if (!isRemote && target !== "local")
			throw new KeryxError("gateway.stopped", texts.send.notRunning, { hint: texts.send.notRunningHint });
		const { id } = await client.sendTo({ target, text, id: flags.id ?? systemIds(systemClock).uuid() });
		const sent = flags.wait
			? await whileWaiting(output, texts.send.sending, () => settled(client, id))
			: await client.sentTo({ id });
		const lost = flags.wait ? sent.deliveries.find(({ state }) => state !== "sent") : undefined;
		if (lost)
			throw new KeryxError(
				"send.failed",
				texts.send.notSent(sent.to, lost.state, lost.reason === null ? "" : `: ${lost.reason}`),
				{ hint: texts.send.notSentHint },
			);
		if (output.json) output.value({ send: sent });
		else if (sent.file !== null) output.line(texts.send.savedAs(sent.file));
		else output.line(flags.wait ? texts.send.sentTo(sent.to) : texts.send.toAccepted(sent.to));
	});
}

async function settled(client: Client, id: string): Promise<WireSend> {
	for (;;) {
		const sent = await client.sentTo({ id, wait: WAIT });
		if (sent.deliveries.every(({ state }) => ENDED.has(state))) return sent;
	}
}

type WireSend = Awaited<ReturnType<Client["sentTo"]>>;
const ENDED: ReadonlySet<string> = new Set(["sent", "unknown", "dead"]);

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
			throw new KeryxError(cause.code, texts.send.maybe(cause.message), {
				hint: texts.send.maybeHint(cause.hint, given),
				cause,
			});
		if (cause instanceof KeryxError) throw cause;
		throw new KeryxError("message.unanswered", texts.send.endedBefore, {
			hint: texts.send.endedBeforeHint(given),
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
		throw new KeryxError("message.unanswered", texts.send.endedWaiting(id), {
			hint: texts.send.endedWaitingHint(id),
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
		stopped: texts.send.ends.stopped,
		dropped_by_user: texts.send.ends.dropped,
		refused: texts.send.ends.refused,
		expired: texts.send.ends.expired,
		failed: texts.send.ends.failed,
	}[disposition.kind as "stopped"];
	const why = disposition.reason === undefined ? "" : `: ${disposition.reason}`;
	throw new KeryxError("message.unanswered", texts.send.noAnswer(id, what, why), {
		hint: texts.send.noAnswerHint(id),
	});
}
