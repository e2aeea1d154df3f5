// Completes slash commands from the gateway's list.

import type { Answer } from "../../http/index.ts";
import type { Complete } from "../chat/index.ts";
import { texts } from "../texts.ts";

type CommandInfo = Answer<"commands">["commands"][number];

/** Commands that only the terminal has. */
const OWN: readonly CommandInfo[] = [{ name: "quit", usage: "/quit", about: texts.chat.quit }];

export function completerOf(commands: readonly CommandInfo[]): Complete {
	const known = [...commands, ...OWN];
	return (line) => {
		const [, name, space, rest] = /^\/(\S*)(\s+)?(.*)$/.exec(line) ?? [];
		if (name === undefined) return [];
		if (space === undefined)
			return known
				.filter((command) => command.name.startsWith(name))
				.map(({ name, usage, about }) => ({
					text: `/${name}${usage.includes(" ") ? " " : ""}`,
					label: usage,
					description: about,
				}));
		const command = known.find((one) => one.name === name);
		return choicesOf(command?.usage ?? "")
			.filter((choice) => choice.startsWith(rest ?? ""))
			.map((choice) => ({ text: `/${name} ${choice}`, label: choice, description: "" }));
	};
}

/** The literal words in a usage: `/busy queue|interrupt|steer`, `/stop [all]`; no placeholders. */
function choicesOf(usage: string): string[] {
	const words = usage.split(" ").slice(1).join(" ").replace(/[[\]]/g, "").split("|");
	return words.length > 1 || words[0] === "all" ? words.filter((word) => /^[a-z]+$/.test(word)) : [];
}
