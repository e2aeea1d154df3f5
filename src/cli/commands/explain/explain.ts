// `keryx explain`: shows where a message would go and whether its session would end. Writes nothing.
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { homeAt, mayHaveStore } from "../../../app/home.ts";
import { keryxHome, loadConfig } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { withConnection } from "../../connect.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { readTime } from "../../io/arguments.ts";
import type { Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { texts } from "../../texts.ts";
import type { Moment } from "./decision-text.ts";
import { type Explanation, explainSource, type SetHomes } from "./explanation.ts";
import { readSources } from "./read-sources.ts";

interface Flags {
	readonly config?: string;
	readonly now?: string;
	readonly lastActivity?: string;
	readonly messages?: string;
	readonly activeProcess?: boolean;
	readonly suspended?: boolean;
	readonly interrupted?: string;
	readonly prompt?: boolean;
}

export function addExplain(parent: Command, context: CliContext): void {
	parent
		.command("explain")
		.allowExcessArguments(false)
		.description(texts.explain.about)
		.argument("<source.json>", texts.explain.source)
		.option("--now <time>", texts.explain.now)
		.option("--last-activity <time>", texts.explain.lastActivity)
		.option("--messages <count>", texts.explain.count)
		.option("--active-process", texts.explain.process)
		.option("--suspended", texts.explain.suspended)
		.option("--interrupted <time>", texts.explain.interruptedAt)
		.option("--prompt", texts.explain.prompt)
		.option("--config <file>", texts.config.file)
		.addHelpText("after", texts.explain.help)
		.action((path: string, flags: Flags) => runExplain(context, path, flags));
}

async function runExplain(context: CliContext, path: string, flags: Flags): Promise<void> {
	const moment = readMoment(flags, context.now());
	const { config, output } = openConfig(context, flags.config);
	const { shape, sources } = await readSources(path, context);
	// The installation's key comes with the gateway; until then each run has its own pseudonyms.
	const prompt = flags.prompt
		? { pseudonymKey: randomBytes(32), homes: await homesSet(context, flags) }
		: undefined;
	const options = { config, moment, prompt };
	if (shape === "one") {
		const explanation = explainSource(sources[0], options);
		if (output.json) output.value(explanation);
		else printExplanation(output, explanation);
		return;
	}
	const results = sources.map((source) => attempt(() => explainSource(source, options)));
	if (results.some((result) => result instanceof KeryxError)) context.exitWith(EXIT.usage);
	if (output.json) printJson(output, shape, results);
	else printAll(output, results);
}

/** Those in this home's store, if there is one; another configuration is explained without them. */
async function homesSet(context: CliContext, flags: Flags): Promise<SetHomes> {
	const home = keryxHome(context.env);
	if (
		flags.config !== undefined ||
		!mayHaveStore(homeAt(home), loadConfig({ home, env: context.env }).values)
	)
		return [];
	return withConnection(context, "read", async ({ client }) =>
		(await client.homeChannels({})).home_channels.map(({ platform, chat_id, thread_id, name }) => ({
			platform,
			chatId: chat_id,
			name,
			...(thread_id !== null && { threadId: thread_id }),
		})),
	);
}

/** One bad source does not hide the results for the others. */
function attempt(explain: () => Explanation): Explanation | KeryxError {
	try {
		return explain();
	} catch (error) {
		if (error instanceof KeryxError) return error;
		throw error;
	}
}

function printJson(
	output: Output,
	shape: "array" | "lines",
	results: readonly (Explanation | KeryxError)[],
): void {
	const values = results.map((result) => (result instanceof KeryxError ? { error: result } : result));
	if (shape === "array") output.value(values);
	else for (const value of values) output.value(value, "line");
}

function printAll(output: Output, results: readonly (Explanation | KeryxError)[]): void {
	for (const [index, result] of results.entries()) {
		if (index > 0) output.line();
		if (result instanceof KeryxError) {
			output.heading(texts.explain.refused(index + 1, result.message));
			output.line(texts.explain.refusedHint(result.hint));
		} else printExplanation(output, result);
	}
}

export function printExplanation(output: Output, explanation: Explanation): void {
	const { source, description, key, digest, shared, address, policy, decision, prompt } = explanation;
	output.heading(`${source.platform}: ${description}`);
	output.pairs([
		["key", key],
		["digest", digest],
		["shared", shared ? texts.explain.shared : texts.explain.private],
	]);
	output.line("Address");
	output.pairs(
		Object.entries(address).map(([part, value]) => [part.replace("_", " "), value || "-"] as const),
	);
	output.line("Policy");
	output.pairs(
		policy.map(({ field, value, key: decidedBy, origin }) => {
			const own = decidedBy === `session_reset.${field}`;
			return [field, show(value), own ? origin : `${decidedBy}, ${origin}`] as const;
		}),
	);
	output.line("Message");
	output.line(`  ${decision.text}`);
	if (prompt === undefined) return;
	output.line("Prompt");
	for (const line of prompt.split("\n")) output.line(`  ${line}`);
}

function show(value: unknown): string {
	return Array.isArray(value) ? value.join(", ") || "-" : String(value);
}

function readMoment(flags: Flags, present: number): Moment {
	const now = flags.now === undefined ? present : readTime("--now", flags.now);
	const { lastActivity, messages, activeProcess, suspended, interrupted } = flags;
	const given = [lastActivity, messages, activeProcess, suspended, interrupted].some(
		(flag) => flag !== undefined,
	);
	if (!given) return { now };
	return {
		now,
		session: {
			lastActivityAt: lastActivity === undefined ? now : readTime("--last-activity", lastActivity),
			messageCount: messages === undefined ? 0 : readCount("--messages", messages),
			activeProcess: activeProcess ?? false,
			suspended: suspended ?? false,
			interruptedAt: interrupted === undefined ? null : readTime("--interrupted", interrupted),
		},
	};
}

function readCount(option: string, text: string): number {
	const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
	if (!Number.isNaN(count)) return count;
	throw new KeryxError("argument.invalid", texts.explain.wholeNumber(option, JSON.stringify(text)), {
		field: option,
	});
}
