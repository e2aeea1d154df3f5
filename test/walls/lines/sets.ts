// The lines: hostile ones are those that the reference shows, ordinary ones are those of day.txt and the reference's everyday ones.
import { readFileSync } from "node:fs";
import { triedLines } from "../../support/tried-lines.ts";

export function hostileLines(): string[] {
	return triedLines("hostile").map(({ command }) => command);
}

export function dayLines(): string[] {
	const text = readFileSync(new URL("day.txt", import.meta.url), "utf8");
	return text
		.split("\n")
		.filter((line) => line !== "" && !line.startsWith("#"))
		.map((line) => line.replaceAll("⏎", "\n"));
}

export function ordinaryLines(): string[] {
	return [...dayLines(), ...triedLines("everyday").map(({ command }) => command)];
}
