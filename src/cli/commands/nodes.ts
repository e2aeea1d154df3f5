// `keryx nodes`: the gateways that use this store. A file has at most one.
import type { Command } from "commander";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { ago } from "../io/words.ts";
import { texts } from "../texts.ts";

export function addNodes(program: Command, context: CliContext): void {
	program
		.command("nodes")
		.allowExcessArguments(false)
		.description(texts.nodes.about)
		.addHelpText("after", texts.nodes.help)
		.action(() => runNodes(context));
}

function runNodes(context: CliContext): Promise<void> {
	return withConnection(context, "read", async ({ client, output, isRemote }) => {
		const listed = await client.nodes();
		// A store in a file records its gateway's end at the next start; if nobody answers, none is running.
		const nodes = listed.nodes.filter(({ expires_at }) => isRemote || expires_at !== null);
		if (output.json) return output.value({ nodes });
		if (nodes.length === 0) return output.note(texts.nodes.none);
		output.table(
			texts.nodes.heading,
			nodes.map(({ epoch, name, started_at, turns, duties }) => [
				String(epoch),
				name,
				output.isTerminal ? ago(started_at, context.now()) : started_at,
				String(turns),
				duties.join(", "),
			]),
		);
	});
}
