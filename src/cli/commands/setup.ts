// `keryx setup`: connects a model. Asks on a terminal, takes options elsewhere; tries the model before it writes anything.

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { openHome } from "../../app/home.ts";
import {
	type ModelPlace,
	type ModelWanted,
	modelsOf,
	SUGGESTED_MODELS,
	takeModel,
	writeModel,
} from "../../app/model-setup.ts";
import {
	keryxHome,
	MODEL_PROVIDERS,
	type ModelProvider,
	nearest,
	USUAL_KEY_VARIABLES,
} from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
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

/** More than fits a screen helps nobody choose. */
const LISTED = 20;

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
On a terminal you can paste the key. It is stored in a file that only you can read, never in config.yaml. Or name the variable that
holds it. A Keryx that is running uses the new model from the next message on.

Examples:
  $ keryx setup
  $ keryx setup --provider anthropic --model claude-sonnet-4-5
  $ keryx setup --provider ollama --model llama3.1
  $ keryx setup --provider openai-compatible --base-url http://127.0.0.1:8080/v1 --model any

Exit codes: 0 written, 1 the model did not answer, 2 wrong usage.`;

async function runSetup(context: CliContext, flags: Flags): Promise<void> {
	const { config, output } = openConfig(context);
	const home = openHome(keryxHome(context.env)).path;
	const place: ModelPlace = { home, env: context.env, secrets: config.secrets };
	const terminal = process.stdin.isTTY === true && !context.json ? openTerminal() : null;
	try {
		const wanted = terminal ? await ask(flags, terminal, place, output) : given(flags);
		const check = flags.test ? await tried(wanted, place, terminal, output) : null;
		const file = check ? `${home}/config.yaml` : writeModel(wanted, place);
		const { key: _key, variable, ...choice } = wanted;
		if (output.json) return output.value({ file, ...choice, apiKeyEnv: variable ?? null, check });
		if (check) output.line(`${check.model} answered in ${check.ms} ms.`);
		output.line(`Saved in ${file}. A Keryx that is running uses it from the next message on.`);
		tellOfKey(wanted, place, output);
	} finally {
		terminal?.close();
	}
}

/** Where somebody can be asked, a model that does not answer can be corrected. */
async function tried(wanted: ModelWanted, place: ModelPlace, terminal: Terminal | null, output: Output) {
	for (let now = wanted; ; ) {
		try {
			return await takeModel(now, place);
		} catch (error) {
			if (!terminal || !(error instanceof KeryxError) || error.code !== "model.unreachable") throw error;
			output.line(error.message);
			if (!/^y/i.test(await terminal.ask("Try again with other answers? (y/n)", "y"))) throw error;
			now = await ask({ test: true }, terminal, place, output);
		}
	}
}

interface Terminal {
	/** Answers the line; a default stands where nothing is written. */
	ask(question: string, usual?: string): Promise<string>;
	/** The same without showing what is typed. */
	askSecretly(question: string): Promise<string>;
	close(): void;
}

function openTerminal(): Terminal {
	let isHidden = false;
	const output = new Writable({
		write: (chunk, _encoding, done) => {
			if (!isHidden) process.stdout.write(chunk);
			done();
		},
	});
	const lines = createInterface({ input: process.stdin, output, terminal: true });
	return {
		ask: async (question, usual = "") =>
			(await lines.question(`${question}${usual === "" ? "" : ` [${usual}]`}: `)).trim() || usual,
		askSecretly: async (question) => {
			process.stdout.write(`${question}: `);
			isHidden = true;
			try {
				return (await lines.question("")).trim();
			} finally {
				isHidden = false;
				process.stdout.write("\n");
			}
		},
		close: () => lines.close(),
	};
}

/** Until an answer is right. */
async function asked<Value>(put: () => Promise<Value>, output: Output): Promise<Value> {
	for (;;) {
		try {
			return await put();
		} catch (error) {
			if (!(error instanceof KeryxError) || error.code !== "argument.invalid") throw error;
			output.line(error.message.replace(/^--/, ""));
		}
	}
}

async function ask(
	flags: Flags,
	terminal: Terminal,
	place: ModelPlace,
	output: Output,
): Promise<ModelWanted> {
	const provider = flags.provider
		? providerOf(flags.provider)
		: await asked(
				async () => providerOf(await terminal.ask(`Provider (${MODEL_PROVIDERS.join(", ")})`, "anthropic")),
				output,
			);
	const baseUrl =
		flags.baseUrl !== undefined
			? addressOf(flags.baseUrl)
			: provider === "openai-compatible"
				? await asked(
						async () => addressOf(await terminal.ask("Address of its API, such as http://127.0.0.1:8080/v1")),
						output,
					)
				: undefined;
	const usual = USUAL_KEY_VARIABLES[provider];
	const variable = flags.apiKeyEnv === undefined ? undefined : variableOf(flags.apiKeyEnv);
	const key =
		variable !== undefined || usual === null
			? undefined
			: await terminal.askSecretly(`Key (stored in keys/${provider}.key; leave it empty to use ${usual})`);
	const wanted = {
		provider,
		...(baseUrl !== undefined && { baseUrl }),
		...(variable !== undefined && { variable }),
		...(key && { key }),
	};
	const model = flags.model ?? (await chooseModel(wanted, terminal, place, output));
	return { ...wanted, model };
}

async function chooseModel(
	wanted: Omit<ModelWanted, "model">,
	terminal: Terminal,
	place: ModelPlace,
	output: Output,
): Promise<string> {
	const models: readonly string[] = await modelsOf(wanted, place).catch((error: Error) => {
		output.line(`The list of models could not be fetched: ${error.message}`);
		return [];
	});
	for (const [n, name] of models.slice(0, LISTED).entries()) output.line(`  ${n + 1}. ${name}`);
	if (models.length > LISTED) output.line(`  and ${models.length - LISTED} more`);
	const suggested = SUGGESTED_MODELS[wanted.provider];
	const usual = models.length === 0 || models.includes(suggested) ? suggested : (models[0] ?? "");
	return asked(async () => {
		const answer = await terminal.ask(models.length > 0 ? "Model (name or number)" : "Model", usual);
		return modelOf(models[Number(answer) - 1] ?? answer);
	}, output);
}

function given(flags: Flags): ModelWanted {
	if (flags.provider === undefined) throw lacks("provider");
	const provider = providerOf(flags.provider);
	if (flags.baseUrl === undefined && provider === "openai-compatible") throw lacks("base-url");
	const baseUrl = flags.baseUrl === undefined ? undefined : addressOf(flags.baseUrl);
	if (flags.model === undefined) throw lacks("model");
	return {
		provider,
		model: modelOf(flags.model),
		...(baseUrl !== undefined && { baseUrl }),
		...(flags.apiKeyEnv !== undefined && { variable: variableOf(flags.apiKeyEnv) }),
	};
}

function lacks(option: string): KeryxError {
	return new KeryxError("usage.invalid", `--${option} must be given where nobody can be asked`);
}

function addressOf(text: string): string {
	if (URL.canParse(text)) return text;
	throw new KeryxError("argument.invalid", `--base-url must be an address, not ${JSON.stringify(text)}`, {
		field: "base-url",
	});
}

function modelOf(text: string): string {
	if (text !== "") return text;
	throw new KeryxError("argument.invalid", "--model must not be empty", { field: "model" });
}

function variableOf(text: string): string {
	if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return text;
	throw new KeryxError(
		"argument.invalid",
		"--api-key-env must be the name of a variable, never the key itself",
		{ field: "api-key-env" },
	);
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

function tellOfKey({ provider, key, variable }: ModelWanted, { env }: ModelPlace, output: Output): void {
	const name = variable ?? USUAL_KEY_VARIABLES[provider];
	if (key !== undefined || name === null || env[name]) return;
	output.line(`${name} is not set here: set it where Keryx is started.`);
}
