// `keryx sessions title`: renames a session.
import type { Command } from "commander";
import { withConnection } from "../../connect.ts";
import type { CliContext } from "../../context.ts";
import { texts } from "../../texts.ts";

export function addTitle(parent: Command, context: CliContext): void {
	parent
		.command("title")
		.description(texts.sessions.title.about)
		.argument("<session>", texts.sessions.session)
		.argument("<text...>", texts.sessions.title.title)
		.addHelpText("after", EXAMPLES)
		.action((session: string, words: string[]) => runTitle(context, session, words.join(" ")));
}

const EXAMPLES = texts.sessions.title.help;

function runTitle(context: CliContext, session: string, text: string): Promise<void> {
	return withConnection(context, "change", async ({ client, output }) => {
		const { title, before } = await client.setTitle({ session, title: text });
		if (output.json) output.value({ session, title, before });
		else
			output.line(
				texts.sessions.title.done(
					session,
					JSON.stringify(title),
					before === null ? "" : texts.sessions.title.before(JSON.stringify(before)),
				),
			);
	});
}
