// The program's commands and options as data, read from the program itself.

import type { Command } from "commander";
import { texts } from "../../texts.ts";

export interface CommandNode {
	/** The words that lead to it, without the program's name. */
	readonly path: readonly string[];
	/** Its subcommands, or the few values of its argument. */
	readonly words: readonly Word[];
	/** Long options, including the program's. */
	readonly options: readonly Word[];
}

export interface Word {
	readonly word: string;
	readonly about: string;
}

/** The program first, then each command and its subcommands. */
export function nodesOf(program: Command): readonly CommandNode[] {
	const everywhere = [...optionsOf(program), HELP_OPTION];
	const below = (command: Command, path: readonly string[]): readonly CommandNode[] => [
		{
			path,
			words: wordsOf(command),
			options: path.length === 0 ? everywhere : [...optionsOf(command), ...everywhere],
		},
		...command.commands.flatMap((child) => below(child, [...path, child.name()])),
	];
	const [top, ...rest] = below(program, []) as [CommandNode, ...CommandNode[]];
	return [
		{ ...top, words: [...top.words, HELP] },
		...rest,
		{ path: ["help"], words: top.words, options: [] },
	];
}

/** Commander lists neither. */
const HELP = { word: "help", about: texts.program.help };
const HELP_OPTION = { word: "--help", about: texts.program.helpOption };

function wordsOf({ commands, registeredArguments }: Command): readonly Word[] {
	return [
		...commands.map((child) => ({ word: child.name(), about: child.description() })),
		...registeredArguments.flatMap(({ argChoices }) => argChoices ?? []).map((word) => ({ word, about: "" })),
	];
}

function optionsOf({ options }: Command): readonly Word[] {
	return options.flatMap(({ long, description }) => (long ? [{ word: long, about: description }] : []));
}
