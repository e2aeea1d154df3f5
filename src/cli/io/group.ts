// Commands that hold commands, and what is said to a word that is none of them.
import type { Command } from "commander";
import { nearest } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { listed } from "./words.ts";

/** A command that does nothing by itself. */
export function addGroup(parent: Command, name: string, description: string): Command {
	return parent
		.command(name)
		.description(description)
		.allowExcessArguments()
		.action((_options, command: Command) => {
			refuseUnknown(command);
			throw new KeryxError("usage.invalid", `${name} takes a command: ${listed(namesOf(command), "or")}`);
		});
}

/** For the action of a command that has others below it: whatever stands behind its name is a command it does not know. */
export function refuseUnknown(command: Command): void {
	const [word] = command.args;
	if (word === undefined) return;
	const near = nearest(word, namesOf(command));
	const message = `unknown command ${JSON.stringify(word)}${near ? `; did you mean ${near}?` : ""}`;
	throw new KeryxError("usage.invalid", message);
}

function namesOf(command: Command): string[] {
	return command.commands.map((child) => child.name());
}
