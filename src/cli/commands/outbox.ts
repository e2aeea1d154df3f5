// `keryx outbox`: undelivered answers, why, and a person's decisions.

import type { Command } from "commander";
import type { Client, WireDelivery } from "../../http/index.ts";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { refuseUnknown } from "../io/group.ts";
import type { Output } from "../io/output.ts";
import { cut } from "../io/width.ts";
import { ago, counted, onOneLine } from "../io/words.ts";
import { texts } from "../texts.ts";

/** Per kind, without --all. */
const SHOWN = 50;
const PAGE = 200;

interface Flags {
	readonly all?: boolean;
}

export function addOutbox(program: Command, context: CliContext): void {
	const list = (command: Command): Promise<void> => runList(context, command.optsWithGlobals<Flags>());
	const outbox = program
		.command("outbox")
		.description(texts.outbox.about)
		.option("--all", texts.outbox.all(SHOWN))
		.allowExcessArguments()
		.addHelpText("after", EXAMPLES)
		.action(async (_options, command: Command) => {
			await refuseUnknown(command);
			return list(command);
		});
	outbox
		.command("list")
		.allowExcessArguments(false)
		.description(texts.outbox.list)
		.option("--all", texts.outbox.all(SHOWN))
		.addHelpText("after", EXAMPLES)
		.action((_options, command: Command) => list(command));
	addDecision(outbox, context, "retry", texts.outbox.retry.about);
	addDecision(outbox, context, "sent", texts.outbox.sent.about);
	addDecision(outbox, context, "drop", texts.outbox.drop.about);
}

const EXAMPLES = texts.outbox.help;

type Decision = "retry" | "sent" | "drop";

function addDecision(outbox: Command, context: CliContext, as: Decision, description: string): void {
	outbox
		.command(as)
		.allowExcessArguments(false)
		.description(description)
		.argument("<id>", texts.outbox.id(as === "drop" ? texts.outbox.notSending : texts.outbox.onlyEnded))
		.addHelpText("after", EXAMPLES)
		.action((id: string) =>
			withConnection(context, "change", async ({ client, output, isRemote }) => {
				const delivery = await client.resolveDelivery({ delivery: id, as });
				if (output.json) return output.value(delivery);
				const when = isRemote ? "now" : texts.outbox.later;
				const done = {
					retry: texts.outbox.retry.done(when),
					sent: texts.outbox.sent.done,
					drop: texts.outbox.drop.done,
				} as const;
				output.line(`${id} ${done[as]}.`);
			}),
		);
}

function runList(context: CliContext, { all = false }: Flags): Promise<void> {
	return withConnection(context, "read", async ({ client, output }) => {
		const waiting = await every(client, "waiting");
		const unsettled = await every(client, "unsettled");
		const shown = [...waiting, ...unsettled].length;
		const deliveries = all
			? [...unsettled, ...waiting]
			: [...unsettled.slice(-SHOWN), ...waiting.slice(-SHOWN)];
		if (output.json) return output.value({ deliveries });
		if (shown === 0) return output.note(texts.outbox.empty);
		print(output, deliveries, context.now());
		const more = shown - deliveries.length;
		if (more > 0) output.note(texts.outbox.more(counted(more, "older one")));
		if (unsettled.length > 0) output.note(texts.outbox.howTo);
	});
}

/** Oldest first, as they are sent. */
async function every(client: Client, which: "waiting" | "unsettled"): Promise<WireDelivery[]> {
	const found: WireDelivery[] = [];
	for (;;) {
		const after = found.at(-1)?.n ?? 0;
		const { deliveries } = await client.deliveries({ which, after, limit: PAGE });
		found.push(...deliveries);
		if (deliveries.length < PAGE) return found;
	}
}

function print(output: Output, deliveries: readonly WireDelivery[], now: number): void {
	if (!output.isTerminal) {
		output.table([], deliveries.map(toCells));
		return;
	}
	for (const { id, state, destination, created_at, attempts, reason, plain } of deliveries) {
		output.heading(`${id}  ${state}`);
		const tried =
			attempts === 0
				? texts.outbox.notTried
				: texts.outbox.tried(attempts === 1 ? "once" : texts.outbox.times(attempts));
		const why = reason === null ? "" : `: ${reason}`;
		output.line(
			texts.outbox.line(destination.platform, destination.chat_id, ago(created_at, now), tried, why),
		);
		output.line(`  ${cut(JSON.stringify(onOneLine(plain)), SHOWN_TEXT)}`);
	}
}

/** Enough to recognise it. */
const SHOWN_TEXT = 76;

function toCells({ id, state, destination, created_at, attempts, reason, plain }: WireDelivery): string[] {
	const to = `${destination.platform} ${destination.chat_id}`;
	return [id, state, to, created_at, String(attempts), reason ?? "", onOneLine(plain)];
}
