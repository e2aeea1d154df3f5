// Command groups, and errors for unknown words. What only an error needs is loaded on demand.

import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { texts } from "../texts.ts";

/** A command that does nothing by itself. */
export function addGroup(parent: Command, name: string, description: string): Command {
	return parent
		.command(name)
		.description(description)
		.allowExcessArguments()
		.action(async (_options, command: Command) => {
			await refuseUnknown(command);
			const { listed } = await import("./words.ts");
			throw new KeryxError("usage.invalid", texts.group.takes(name, listed(namesOf(command), "or")));
		});
}

/** For the action of a command with subcommands: anything after its name is an unknown command. */
export async function refuseUnknown(command: Command): Promise<void> {
	const [word] = command.args;
	if (word === undefined) return;
	const { nearest } = await import("../../config/index.ts");
	const near = nearest(word, namesOf(command));
	const message = texts.group.unknown(JSON.stringify(word), near ? texts.didYouMean(near) : "");
	throw new KeryxError("usage.invalid", message);
}

function namesOf(command: Command): string[] {
	return command.commands.map((child) => child.name());
}
