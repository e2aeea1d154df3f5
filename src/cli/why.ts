// `keryx why <message>`: the story of one message, also when nothing came of it.
import type { Command } from "commander";
import { keryxHome } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { tellStory } from "../gateway/index.ts";
import { openStore, systemClock, systemIds } from "../store/index.ts";
import { type CliContext, openConfig } from "./context.ts";
import { openHome } from "./home.ts";

export function addWhy(program: Command, context: CliContext): void {
	program
		.command("why <message>")
		.description("what became of a message, step by step")
		.action((message: string) => runWhy(message, context));
}

async function runWhy(message: string, context: CliContext): Promise<void> {
	const { output } = openConfig(context);
	if (!/^\d{1,15}$/.test(message))
		throw new KeryxError("argument.invalid", `message must be a number, not ${JSON.stringify(message)}`, {
			field: "message",
		});
	const store = await openStore({
		url: openHome(keryxHome(context.env)).storeUrl,
		clock: systemClock,
		ids: systemIds(systemClock),
		access: "read",
	});
	try {
		const story = await store.story({ scope: { kind: "operator" }, id: Number(message) });
		if (output.json) output.value(story);
		else for (const line of tellStory(story).split("\n")) output.line(line);
	} finally {
		await store.close();
	}
}
