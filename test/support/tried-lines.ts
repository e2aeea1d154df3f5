// The command lines that the classifier was tried with, from the reference: the pages are the data, so they cannot become outdated.
import { readFileSync } from "node:fs";

export interface TriedLine {
	readonly family: string;
	/** The page's expectation: a class for a hostile line, a verdict for an everyday one. */
	readonly verdict: string;
	readonly command: string;
}

/** Where the lines of both pages are assumed to run. */
export const TRIED_FACTS = {
	keryxHome: "/home/ann/.keryx",
	keryxProgram: "/opt/keryx",
	home: "/home/ann",
	cwd: "/home/ann/project",
} as const;

export function triedLines(page: "hostile" | "everyday"): readonly TriedLine[] {
	const text = readFileSync(new URL(`../../docs/reference/classifier-${page}.md`, import.meta.url), "utf8");
	return [...text.matchAll(/^## ([^\n]+)\n\n```text\n(.*?)^```$/gms)].flatMap(([, family = "", rows = ""]) =>
		rows
			.trimEnd()
			.split("\n")
			.map((row) => {
				const [, verdict = "", command = ""] = /^(\S+) +(.*)$/.exec(row) ?? [];
				return { family, verdict, command: command.replaceAll("⏎", "\n") };
			}),
	);
}
