// `keryx setup`: connects a model. Asks on a terminal, otherwise takes options; tries the model before it writes anything.

import type { Command } from "commander";
import { openHome } from "../../app/home.ts";
import {
	type ModelContext,
	type ModelWanted,
	modelsOf,
	SUGGESTED_MODELS,
	takeModel,
	writeModel,
} from "../../app/setup/model-setup.ts";
import {
	keryxHome,
	MODEL_PROVIDERS,
	type ModelProvider,
	nearest,
	USUAL_KEY_VARIABLES,
} from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { type CliContext, openConfig } from "../context.ts";
import { type Asker, openAsker } from "../io/ask.ts";
import type { Output } from "../io/output.ts";
import { texts } from "../texts.ts";

interface Flags {
	readonly provider?: string;
	readonly model?: string;
	readonly baseUrl?: string;
	readonly apiKeyEnv?: string;
	/** False with --no-test. */
	readonly test: boolean;
}

/** More than a screenful does not help. */
const LISTED = 20;

export function addSetup(program: Command, context: CliContext): void {
	program
		.command("setup")
		.allowExcessArguments(false)
		.description(texts.setup.about)
		.option("--provider <name>", texts.setup.provider(MODEL_PROVIDERS.join(", ")))
		.option("--model <name>", texts.setup.model)
		.option("--base-url <address>", texts.setup.baseUrl)
		.option("--api-key-env <name>", texts.setup.apiKeyEnv)
		.option("--no-test", texts.setup.noTest)
		.addHelpText("after", EXAMPLES)
		.action((flags: Flags) => setUpModel(context, flags));
}

const EXAMPLES = texts.setup.help;

export async function setUpModel(context: CliContext, flags: Flags): Promise<void> {
	const { config, output } = openConfig(context);
	const home = openHome(keryxHome(context.env)).path;
	const modelContext: ModelContext = { home, env: context.env, secrets: config.secrets };
	const terminal = process.stdin.isTTY === true && !context.json ? openAsker() : null;
	try {
		const wanted = terminal ? await ask(flags, terminal, modelContext, output) : given(flags);
		const check = flags.test ? await tried(wanted, modelContext, terminal, output) : null;
		const file = check ? `${home}/config.yaml` : writeModel(wanted, modelContext);
		const { key: _key, variable, ...choice } = wanted;
		if (output.json) return output.value({ file, ...choice, apiKeyEnv: variable ?? null, check });
		if (check) output.line(texts.setup.answered(check.model, check.ms));
		output.line(texts.setup.saved(file));
		tellOfKey(wanted, modelContext, output);
	} finally {
		terminal?.close();
	}
}

/** On a terminal, a model that does not answer can be corrected. */
async function tried(
	wanted: ModelWanted,
	modelContext: ModelContext,
	terminal: Asker | null,
	output: Output,
) {
	for (let now = wanted; ; ) {
		try {
			return await takeModel(now, modelContext);
		} catch (error) {
			if (!(error instanceof KeryxError) || error.code !== "model.unreachable") throw error;
			if (!terminal)
				throw new KeryxError(error.code, error.message, {
					cause: error,
					hint: texts.setup.orUntried(error.hint),
				});
			output.line(error.message);
			if (!/^y/i.test(await terminal.ask(texts.setup.again, "y"))) throw error;
			now = await ask({ test: true }, terminal, modelContext, output);
		}
	}
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
	terminal: Asker,
	modelContext: ModelContext,
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
				? await asked(async () => addressOf(await terminal.ask(texts.setup.askAddress)), output)
				: undefined;
	const usual = USUAL_KEY_VARIABLES[provider];
	const variable = flags.apiKeyEnv === undefined ? undefined : variableOf(flags.apiKeyEnv);
	const question =
		usual !== null
			? texts.setup.askKey(provider, usual)
			: provider === "openai-compatible"
				? texts.setup.askServerKey(provider)
				: null;
	const key = variable !== undefined || question === null ? undefined : await terminal.askSecretly(question);
	const wanted = {
		provider,
		...(baseUrl !== undefined && { baseUrl }),
		...(variable !== undefined && { variable }),
		...(key && { key }),
	};
	const model = flags.model ?? (await chooseModel(wanted, terminal, modelContext, output));
	return { ...wanted, model };
}

async function chooseModel(
	wanted: Omit<ModelWanted, "model">,
	terminal: Asker,
	modelContext: ModelContext,
	output: Output,
): Promise<string> {
	const models: readonly string[] = await modelsOf(wanted, modelContext).catch((error: Error) => {
		output.line(texts.setup.noList(error.message));
		return [];
	});
	for (const [n, name] of models.slice(0, LISTED).entries()) output.line(`  ${n + 1}. ${name}`);
	if (models.length > LISTED) output.line(`  and ${models.length - LISTED} more`);
	const suggested = SUGGESTED_MODELS[wanted.provider];
	const usual = models.length === 0 || models.includes(suggested) ? suggested : (models[0] ?? "");
	return asked(async () => {
		const answer = await terminal.ask(models.length > 0 ? texts.setup.askModelOrNumber : "Model", usual);
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
	return new KeryxError("usage.invalid", texts.setup.required(option));
}

function addressOf(text: string): string {
	if (URL.canParse(text)) return text;
	throw new KeryxError("argument.invalid", texts.setup.badAddress(JSON.stringify(text)), {
		field: "base-url",
	});
}

function modelOf(text: string): string {
	if (text !== "") return text;
	throw new KeryxError("argument.invalid", "--model must not be empty", { field: "model" });
}

function variableOf(text: string): string {
	if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return text;
	throw new KeryxError("argument.invalid", texts.setup.badVariable, { field: "api-key-env" });
}

function providerOf(name: string): ModelProvider {
	const known = MODEL_PROVIDERS.find((provider) => provider === name);
	if (known) return known;
	const near = nearest(name, [...MODEL_PROVIDERS]);
	throw new KeryxError(
		"argument.invalid",
		texts.setup.badProvider(MODEL_PROVIDERS.join(", "), near ? texts.didYouMean(near) : ""),
		{ field: "provider" },
	);
}

function tellOfKey({ provider, key, variable }: ModelWanted, { env }: ModelContext, output: Output): void {
	const name = variable ?? USUAL_KEY_VARIABLES[provider];
	if (key !== undefined || name === null || env[name]) return;
	output.line(texts.setup.notSet(name));
}
