// The first start on a terminal: three questions at most, before anything runs. An empty answer skips one, and a failure keeps nobody
// from starting. The page asks the same, except for the service.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { homeAt, isOnServer } from "../../app/home.ts";
import type { ChannelPlatform } from "../../app/platforms/index.ts";
import { type Config, keryxHome, MODEL_PROVIDERS } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { type CliContext, openConfig } from "../context.ts";
import { readOneOf } from "../io/arguments.ts";
import { openAsker } from "../io/ask.ts";
import type { Output } from "../io/output.ts";
import { texts } from "../texts.ts";

const words = texts.firstStart;

/** served: Keryx runs as a service now, so this process is not needed. */
export async function askAtFirstStart(context: CliContext): Promise<"run" | "served"> {
	const { config, output } = openConfig(context);
	if (!isFirst(context, config.values)) return "run";
	output.line(words.welcome);
	if (config.values.agent.kind === "offline") await askForModel(context, output);
	await askForPlatform(context, output);
	return (await askForService(context, output)) ? "served" : "run";
}

function isFirst({ env, json }: CliContext, config: Config): boolean {
	const { path, storePath } = homeAt(keryxHome(env));
	if (process.stdin.isTTY !== true || json || isOnServer(config.store)) return false;
	return !existsSync(storePath) && !existsSync(join(path, "config.yaml"));
}

async function askForModel(context: CliContext, output: Output): Promise<void> {
	const provider = await choice(words.model(MODEL_PROVIDERS.join(", ")), MODEL_PROVIDERS, output);
	if (provider === null) return;
	const { setUpModel } = await import("./setup.ts");
	await tried(() => setUpModel(context, { provider, test: true }), words.laterModel, output);
}

/** The others need more than tokens. */
const BY_TOKEN = ["telegram", "discord", "slack"] as const satisfies readonly ChannelPlatform[];

async function askForPlatform(context: CliContext, output: Output): Promise<void> {
	const platform = await choice(words.platform(BY_TOKEN.join(", ")), BY_TOKEN, output);
	if (platform === null) return;
	const { connectChannel } = await import("./channels/add.ts");
	await tried(
		() => connectChannel(context, platform, { tls: true }, { isStarting: true }),
		words.laterPlatform,
		output,
	);
}

async function askForService(context: CliContext, output: Output): Promise<boolean> {
	const { canBeService, installService } = await import("./service/index.ts");
	if (!canBeService()) return false;
	if (!/^y/i.test(await asked(words.service))) return false;
	const isDone = await tried(() => installService(context, { start: true }), words.laterService, output);
	if (isDone) output.line(words.served);
	return isDone;
}

/** Asks again until the answer is one of these, or empty. */
async function choice<Word extends string>(
	question: string,
	all: readonly Word[],
	output: Output,
): Promise<Word | null> {
	for (;;) {
		const answer = await asked(question);
		if (answer === "") return null;
		try {
			return readOneOf(words.answer, answer.toLowerCase(), all);
		} catch (error) {
			if (!(error instanceof KeryxError)) throw error;
			output.line(error.message);
		}
	}
}

/** Its own each time: what follows an answer asks, too. */
async function asked(question: string): Promise<string> {
	const terminal = openAsker();
	try {
		return await terminal.ask(question);
	} finally {
		terminal.close();
	}
}

async function tried(work: () => Promise<void>, later: string, output: Output): Promise<boolean> {
	try {
		await work();
		return true;
	} catch (error) {
		if (!(error instanceof KeryxError)) throw error;
		output.line(`${error.message}. ${error.hint}`);
		output.line(later);
		return false;
	}
}
