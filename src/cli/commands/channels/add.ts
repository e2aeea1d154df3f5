// `keryx channels add`: asks for what the platform needs, tries it, and saves it.
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { openHome } from "../../../app/home.ts";
import { missingPackages, PLATFORM_PACKAGES } from "../../../app/packages.ts";
import type { ChannelPlatform } from "../../../app/platforms/index.ts";
import { addChannel, type GivenToken, type NewChannel } from "../../../app/setup/channel-setup.ts";
import {
	APP_TOKEN_PLATFORMS,
	CHANNEL_PLATFORMS,
	isNetwork,
	keryxHome,
	NETWORKS,
	type Network,
	type NetworkField,
} from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { running } from "../../connect.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { readOneOf } from "../../io/arguments.ts";
import { readText } from "../../io/read-text.ts";
import { texts } from "../../texts.ts";

interface AddFlags {
	readonly name?: string;
	readonly account?: string;
	readonly tokenEnv?: string;
	readonly appTokenEnv?: string;
	readonly signingSecret?: true;
	readonly signingSecretEnv?: string;
	readonly webhookUrl?: string;
	readonly apiRoot?: string;
	readonly serverPassword?: true;
	readonly serverPasswordEnv?: string;
	readonly install?: true;
	/** The fields of networks. */
	readonly [field: string]: unknown;
}

export function addAdd(channels: Command, context: CliContext): void {
	const add = channels
		.command("add")
		.allowExcessArguments(false)
		.description(texts.channels.add.about)
		.argument("<platform>", CHANNEL_PLATFORMS.join(", "))
		.option("--name <name>", texts.channels.add.name)
		.option("--account <name>", texts.channels.add.account)
		.option("--token-env <variable>", texts.channels.add.tokenEnv)
		.option("--app-token-env <variable>", texts.channels.add.appTokenEnv)
		.option("--signing-secret", texts.channels.add.signingSecretFlag)
		.option("--signing-secret-env <variable>", texts.channels.add.signingSecretEnv)
		.option("--webhook-url <address>", texts.channels.add.webhookUrl)
		.option("--api-root <address>", texts.channels.add.apiRoot);
	for (const [key, uses] of fieldsByKey()) add.option(optionOf(key, uses[0].field), aboutOf(uses));
	add
		.option("--server-password", texts.channels.add.serverPasswordFlag)
		.option("--server-password-env <variable>", texts.channels.add.serverPasswordEnv)
		.option("--install", texts.channels.add.install)
		.addHelpText("after", texts.channels.add.help)
		.action((platform: string, flags: AddFlags) =>
			connectChannel(context, readOneOf("platform", platform, CHANNEL_PLATFORMS), flags),
		);
}

interface Use {
	readonly label: string;
	readonly field: NetworkField;
}

/** One option serves every network that has the field. */
function fieldsByKey(): ReadonlyMap<string, readonly [Use, ...Use[]]> {
	const found = new Map<string, [Use, ...Use[]]>();
	for (const { label, fields } of Object.values(NETWORKS))
		for (const field of fields) {
			const others = found.get(field.key);
			if (others) others.push({ label, field });
			else found.set(field.key, [{ label, field }]);
		}
	return found;
}

function optionOf(key: string, { kind }: NetworkField): string {
	const name = key.replaceAll("_", "-");
	if (kind === "switch") return `--no-${name}`;
	return kind === "list" ? `--${name} <value...>` : `--${name} <value>`;
}

function aboutOf(uses: readonly Use[]): string {
	return uses.map(({ label, field }) => `${label}: ${field.about}`).join("; ");
}

/** Asks for what is missing, tries it and saves it. */
export async function connectChannel(
	context: CliContext,
	platform: ChannelPlatform,
	flags: AddFlags,
	{ isStarting = false }: { readonly isStarting?: boolean } = {},
): Promise<void> {
	const { config, output } = openConfig(context);
	const { path: home } = openHome(keryxHome(context.env));
	const network = isNetwork(platform) ? NETWORKS[platform] : null;
	const section = network && sectionOf(network, flags);
	const install = flags.install === true || (await agrees(platform, home, context));
	const tokens = await (network ? passwordsOf(network, flags, context) : tokensOf(platform, flags, context));
	const added = await addChannel(
		{
			platform,
			...tokens,
			install,
			...(section && { network: section }),
			...(flags.webhookUrl !== undefined && { webhookUrl: flags.webhookUrl }),
			...(flags.name !== undefined && { name: flags.name }),
			...(flags.account !== undefined && { account: flags.account }),
			...(flags.apiRoot !== undefined && { apiRoot: flags.apiRoot }),
		},
		{ home, env: context.env, secrets: config.secrets },
	);
	if (output.json) return output.value(added);
	output.line(texts.channels.add.done(added.who, added.name));
	for (const remark of added.remarks) output.note(remark);
	if (!isStarting && (await running(context)) === null) output.note(texts.channels.add.startKeryx);
	output.note(texts.channels.add.nobodyYet(platform));
}

/** Asks whether the platform's packages may be installed, if there are any and someone can answer. */
async function agrees(platform: string, home: string, context: CliContext): Promise<boolean> {
	const missing = missingPackages(platform, home);
	if (missing.length === 0 || context.stdin.isTTY !== true) return false;
	const size = PLATFORM_PACKAGES[platform]?.megabytes ?? 0;
	context.stderr.write(texts.channels.add.mayInstall(missing.join(", "), size));
	const lines = createInterface({ input: process.stdin });
	try {
		return /^y(es)?$/i.test((await lines.question("")).trim());
	} finally {
		lines.close();
	}
}

/** Throws argument.invalid if a needed field was not given. */
function sectionOf({ label, fields }: Network, flags: AddFlags): NonNullable<NewChannel["network"]> {
	const section: Record<string, string | number | boolean | readonly string[]> = {};
	for (const { key, kind, needed, example = "" } of fields) {
		const value = flags[camelCase(key)] as string | boolean | readonly string[] | undefined;
		if (value === undefined && needed) throw missingOption(label, key, example);
		if (value === undefined || value === true) continue;
		section[key] = typeof value !== "string" ? value : read(kind, value);
	}
	return section;
}

function read(kind: NetworkField["kind"], value: string): string | number {
	if (kind === "number") return Number(value);
	return kind === "file" ? resolve(value) : value;
}

function camelCase(key: string): string {
	return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function missingOption(label: string, key: string, example: string): KeryxError {
	const option = `--${key.replaceAll("_", "-")}`;
	return new KeryxError("argument.invalid", texts.channels.add.networkNeeds(label, option), {
		field: option,
		hint: texts.channels.add.networkExample(option, example),
	});
}

/** The account's password first, then the server's. A pipe gives them on stdin, a line each. */
async function passwordsOf(
	{ secrets }: Network,
	flags: AddFlags,
	context: CliContext,
): Promise<Pick<NewChannel, "token" | "serverPassword">> {
	const variables = { token: flags.tokenEnv, serverPassword: flags.serverPasswordEnv };
	const wanted = secrets.filter(({ option, when }) => {
		if (variables[option] !== undefined || when === "always") return true;
		return when === "asked" ? flags[option] === true : flags[camelCase(when.given)] !== undefined;
	});
	const isPiped = context.stdin.isTTY !== true;
	const isAsked = wanted.some(({ option }) => variables[option] === undefined);
	const piped = isPiped && isAsked ? (await readText("-", context)).split("\n") : [];
	const found: { token?: GivenToken; serverPassword?: GivenToken } = {};
	for (const { option, label } of wanted) {
		const variable = variables[option];
		if (variable !== undefined) found[option] = { variable };
		else if (isPiped) found[option] = { value: (piped.shift() ?? "").trim() };
		else found[option] = { value: await askForToken(label, context) };
	}
	return found;
}

/** A pipe gives them on stdin, a line each. */
async function tokensOf(
	platform: string,
	flags: AddFlags,
	context: CliContext,
): Promise<Pick<NewChannel, "token" | "appToken" | "signingSecret">> {
	const isPiped = context.stdin.isTTY !== true;
	const isPosted = flags.signingSecret === true || flags.signingSecretEnv !== undefined;
	const needsSecond = isPosted || APP_TOKEN_PLATFORMS.has(platform);
	const secondEnv = isPosted ? flags.signingSecretEnv : flags.appTokenEnv;
	const isAsked = flags.tokenEnv === undefined || (needsSecond && secondEnv === undefined);
	const piped = isPiped && isAsked ? (await readText("-", context)).trim().split(/\s*\n\s*/) : [];
	const given = async (variable: string | undefined, what: string): Promise<GivenToken> => {
		if (variable !== undefined) return { variable };
		return { value: isPiped ? (piped.shift() ?? "") : await askForToken(what, context) };
	};
	const token = await given(flags.tokenEnv, texts.channels.add.token(platform));
	if (!needsSecond) return { token };
	if (isPosted) return { token, signingSecret: await given(secondEnv, texts.channels.add.signingSecret) };
	return { token, appToken: await given(secondEnv, texts.channels.add.appToken) };
}

/** Not shown while it is typed. */
async function askForToken(what: string, context: CliContext): Promise<string> {
	const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
	context.stderr.write(texts.channels.add.notShown(what));
	const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
	try {
		return (await lines.question("")).trim();
	} finally {
		lines.close();
		context.stderr.write("\n");
	}
}
