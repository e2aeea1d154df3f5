// `keryx why <message>`: what happened to one message.

import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { withConnection } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { texts } from "../texts.ts";

export function addWhy(program: Command, context: CliContext): void {
	program
		.command("why <message>")
		.description(texts.why.about)
		.action((message: string) => runWhy(message, context));
}

async function runWhy(message: string, context: CliContext): Promise<void> {
	if (!/^\d{1,15}$/.test(message))
		throw new KeryxError("argument.invalid", texts.why.number(JSON.stringify(message)), {
			field: "message",
		});
	await withConnection(context, "read", async ({ client, output }) => {
		const { text, inbound, events } = await client.why({ id: Number(message) });
		if (output.json) output.value({ item: inbound, events });
		else for (const line of text.split("\n")) output.line(line);
	});
}
