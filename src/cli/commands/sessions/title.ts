import type { Command } from "commander";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";

export function addTitle(parent: Command, context: CliContext): void {
	parent
		.command("title")
		.description("name a session")
		.argument("<session>", "its id")
		.argument("<text...>", "the title, at most 100 characters")
		.addHelpText("after", EXAMPLES)
		.action((session: string, words: string[]) => runTitle(context, session, words.join(" ")));
}

const EXAMPLES = `
A title that another session of the conversation has already gets a number.

Examples:
  $ keryx sessions title 20260310_120000_1f3a90bc holiday plans

Exit codes: 0 done, 1 failure (no such session), 2 wrong usage or a title without a visible character.`;

function runTitle(context: CliContext, session: string, text: string): Promise<void> {
	return withConnection(context, "change", async ({ client, output }) => {
		const { title, before } = await client.setTitle({ session, title: text });
		if (output.json) output.value({ session, title, before });
		else
			output.line(
				`Session ${session} is called ${JSON.stringify(title)} now${before === null ? "" : `; it was ${JSON.stringify(before)}`}.`,
			);
	});
}
