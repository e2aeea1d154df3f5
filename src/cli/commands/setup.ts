// `keryx setup`: connects a model. Asks on a terminal, takes options elsewhere; tries the model before it writes anything.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { createModelAgent, type ModelCheck } from "../../agents/index.ts";
import { openHome } from "../../app/home.ts";
import {
	editConfig,
	keryxHome,
	MODEL_PROVIDERS,
	type ModelProvider,
	nearest,
	USUAL_KEY_VARIABLES,
	writeConfig,
} from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { type CliContext, openConfig } from "../context.ts";
import type { Output } from "../io/output.ts";

interface Flags {
	readonly provider?: string;
	readonly model?: string;
	readonly baseUrl?: string;
	readonly apiKeyEnv?: string;
	/** False with --no-test. */
	readonly test: boolean;
}

interface Choice {
	readonly provider: ModelProvider;
	readonly model: string;
	readonly baseUrl: string | undefined;
	readonly apiKeyEnv: string | null;
}

/** What most people take; a suggestion, never a default that is written unasked. */
const SUGGESTED: Readonly<Record<ModelProvider, string>> = {
	openai: "gpt-5.1",
	anthropic: "claude-sonnet-4-5",
	google: "gemini-2.5-pro",
	openrouter: "anthropic/claude-sonnet-4.5",
	ollama: "llama3.1",
	"openai-compatible": "",
};

const CHECK_MS = 60_000;

export function addSetup(program: Command, context: CliContext): void {
	program
		.command("setup")
		.allowExcessArguments(false)
		.description("connect a model: asks, tries it, and writes config.yaml")
		.option("--provider <name>", `one of ${MODEL_PROVIDERS.join(", ")}`)
		.option("--model <name>", "the model, as its provider writes it")
		.option("--base-url <address>", "where the provider's API is, for openai-compatible and ollama")
		.option("--api-key-env <name>", "the environment variable that holds the key")
		.option("--no-test", "do not call the model")
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => runSetup(context, flags));
}

const EXAMPLES = `
The key itself is never asked for and never written: only the name of the variable that holds it.

Examples:
  $ keryx setup
  $ keryx setup --provider anthropic --model claude-sonnet-4-5
  $ keryx setup --provider ollama --model llama3.1
  $ keryx setup --provider openai-compatible --base-url http://127.0.0.1:8080/v1 --model any

Exit codes: 0 written, 1 the model did not answer, 2 wrong usage.`;

async function runSetup(context: CliContext, flags: Flags): Promise<void> {
	const { config, output } = openConfig(context);
	const asks = process.stdin.isTTY === true && !context.json;
	const choice = await choose(flags, asks ? asking(output) : refusing);
	const file = join(openHome(keryxHome(context.env)).path, "config.yaml");
	const before = existsSync(file) ? readFileSync(file, "utf8") : "";
	const after = editConfig(before, {
		"agent.kind": "ai-sdk",
		"agent.provider": choice.provider,
		"agent.model": choice.model,
		"agent.base_url": choice.baseUrl,
		"agent.api_key_env": choice.apiKeyEnv ?? undefined,
	});
	const check = flags.test ? await tryModel(choice, context, config.values.agent.prices) : null;
	if (check && !check.ok)
		throw new KeryxError(
			"model.unreachable",
			`${choice.provider} ${choice.model} did not answer: ${check.failure.kind}, ${check.failure.detail}`,
		);
	writeConfig(file, after);
	if (output.json) output.value({ file, ...choice, check });
	else {
		if (check) output.line(`${check.model} answered in ${check.ms} ms.`);
		output.line(`Written to ${file}. A Keryx that runs must be started again to use it.`);
		tellOfKey(choice, context, output);
	}
}

/** Puts a question and answers the line; a default stands where nothing is written. */
type Ask = (option: string, question: string, usual: string) => Promise<string>;

function asking(output: Output): Ask {
	return async (_option, question, usual) => {
		const lines = createInterface({ input: process.stdin, output: process.stdout });
		try {
			const answer = (await lines.question(`${question}${usual === "" ? "" : ` [${usual}]`}: `)).trim();
			if (answer === "" && usual === "") output.line("Please write something.");
			return answer || usual;
		} finally {
			lines.close();
		}
	};
}

const refusing: Ask = (option) => {
	throw new KeryxError("usage.invalid", `--${option} must be given where nobody can be asked`);
};

async function choose(flags: Flags, ask: Ask): Promise<Choice> {
	const provider = providerOf(
		flags.provider ?? (await ask("provider", `Provider (${MODEL_PROVIDERS.join(", ")})`, "anthropic")),
	);
	const baseUrl =
		flags.baseUrl ??
		(provider === "openai-compatible"
			? await ask("base-url", "Address of its API, such as http://127.0.0.1:8080/v1", "")
			: undefined);
	if (baseUrl !== undefined && !URL.canParse(baseUrl))
		throw new KeryxError(
			"argument.invalid",
			`--base-url must be an address, not ${JSON.stringify(baseUrl)}`,
			{
				field: "base-url",
			},
		);
	const model = flags.model ?? (await ask("model", "Model", SUGGESTED[provider]));
	if (model === "") throw new KeryxError("argument.invalid", "--model must not be empty", { field: "model" });
	const usual = USUAL_KEY_VARIABLES[provider];
	const apiKeyEnv =
		flags.apiKeyEnv ??
		(usual === null || flags.provider !== undefined
			? usual
			: await ask("api-key-env", "Environment variable that holds the key", usual));
	if (apiKeyEnv !== null && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(apiKeyEnv))
		throw new KeryxError(
			"argument.invalid",
			"--api-key-env must be the name of a variable, never the key itself",
			{
				field: "api-key-env",
			},
		);
	return { provider, model, baseUrl, apiKeyEnv };
}

function providerOf(name: string): ModelProvider {
	const known = MODEL_PROVIDERS.find((provider) => provider === name);
	if (known) return known;
	const near = nearest(name, [...MODEL_PROVIDERS]);
	throw new KeryxError(
		"argument.invalid",
		`--provider must be one of ${MODEL_PROVIDERS.join(", ")}${near ? `; did you mean ${near}?` : ""}`,
		{ field: "provider" },
	);
}

function tryModel(
	{ provider, model, baseUrl, apiKeyEnv }: Choice,
	{ env }: CliContext,
	prices: Parameters<typeof createModelAgent>[0]["settings"]["prices"],
): Promise<ModelCheck> {
	const agent = createModelAgent({
		settings: {
			provider,
			model,
			...(baseUrl !== undefined && { base_url: baseUrl }),
			...(apiKeyEnv !== null && { api_key_env: apiKeyEnv }),
			failover: [],
			retries: 0,
			prices,
		},
		env,
		clock: systemClock,
		readBlob: () => Promise.resolve(null),
	});
	return agent.check(AbortSignal.timeout(CHECK_MS));
}

function tellOfKey({ apiKeyEnv }: Choice, { env }: CliContext, output: Output): void {
	if (apiKeyEnv === null || env[apiKeyEnv]) return;
	output.line(`${apiKeyEnv} is not set here: set it where Keryx is started.`);
}
