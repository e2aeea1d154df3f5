// `keryx outbox`: answers that have not arrived, why, and what a person decides about them.
import type { Command } from "commander";
import type { Client, WireDelivery } from "../../http/index.ts";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { refuseUnknown } from "../io/group.ts";
import type { Output } from "../io/output.ts";
import { cut } from "../io/width.ts";
import { ago, counted, onOneLine } from "../io/words.ts";

/** Of each kind, without --all. */
const SHOWN = 50;
const PAGE = 200;

interface Flags {
	readonly all?: boolean;
}

export function addOutbox(program: Command, context: CliContext): void {
	const list = (command: Command): Promise<void> => runList(context, command.optsWithGlobals<Flags>());
	const outbox = program
		.command("outbox")
		.description("answers that wait, whose arrival is unknown, or that were given up")
		.option("--all", `every one, not only the newest ${SHOWN} of each`)
		.allowExcessArguments()
		.addHelpText("after", EXAMPLES)
		.action(async (_options, command: Command) => {
			await refuseUnknown(command);
			return list(command);
		});
	outbox
		.command("list")
		.allowExcessArguments(false)
		.description("what `keryx outbox` prints")
		.option("--all", `every one, not only the newest ${SHOWN} of each`)
		.addHelpText("after", EXAMPLES)
		.action((_options, command: Command) => list(command));
	addDecision(outbox, context, "retry", "send it again, although it may arrive twice");
	addDecision(outbox, context, "sent", "say that it arrived: you have seen it");
	addDecision(outbox, context, "drop", "give it up: it is not sent any more, and no longer listed");
}

const EXAMPLES = `
States: pending (waits), sending, unknown (it may have arrived, so it is not sent again by itself), dead (given up).

Examples:
  $ keryx outbox
  $ keryx outbox --json
  $ keryx outbox retry 0198c5d2-...:1      send it again
  $ keryx outbox sent 0198c5d2-...:1       it arrived, you have seen it
  $ keryx outbox drop 0198c5d2-...:1       give it up

When piped, one a line: id, state, to, since, attempts, why, text.
Exit codes: 0 done, 1 failure (no such delivery, or nothing to decide about it), 2 wrong usage.`;

type Decision = "retry" | "sent" | "drop";

function addDecision(outbox: Command, context: CliContext, as: Decision, description: string): void {
	outbox
		.command(as)
		.allowExcessArguments(false)
		.description(description)
		.argument(
			"<id>",
			`the delivery's id, as \`keryx outbox\` shows it; ${as === "drop" ? "not one that is being sent" : "unknown and dead ones only"}`,
		)
		.addHelpText("after", EXAMPLES)
		.action((id: string) =>
			withConnection(context, "change", async ({ client, output, isRemote }) => {
				const delivery = await client.resolveDelivery({ delivery: id, as });
				if (output.json) return output.value(delivery);
				const when = isRemote ? "now" : "when Keryx runs again";
				const done = {
					retry: `is sent again ${when}`,
					sent: "counts as arrived",
					drop: "is dropped",
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
		if (shown === 0) return output.note("Nothing waits, and nothing is unknown or given up.");
		print(output, deliveries, context.now());
		const more = shown - deliveries.length;
		if (more > 0) output.note(`${counted(more, "older one")} not shown: --all shows every one.`);
		if (unsettled.length > 0)
			output.note(
				"`keryx outbox retry <id>` sends one again, `keryx outbox sent <id>` says that it arrived, `keryx outbox drop <id>` gives it up.",
			);
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
		const tried = attempts === 0 ? "not tried yet" : `tried ${attempts === 1 ? "once" : `${attempts} times`}`;
		const why = reason === null ? "" : `: ${reason}`;
		output.line(
			`  to ${destination.platform} ${destination.chat_id}, ${ago(created_at, now)}, ${tried}${why}`,
		);
		output.line(`  ${cut(JSON.stringify(onOneLine(plain)), SHOWN_TEXT)}`);
	}
}

/** Enough to know it again. */
const SHOWN_TEXT = 76;

function toCells({ id, state, destination, created_at, attempts, reason, plain }: WireDelivery): string[] {
	const to = `${destination.platform} ${destination.chat_id}`;
	return [id, state, to, created_at, String(attempts), reason ?? "", onOneLine(plain)];
}
