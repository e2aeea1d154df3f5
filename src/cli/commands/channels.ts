// `keryx channels`: connects a chat platform, lists, tests and removes connections.

import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { openHome } from "../../app/home.ts";
import {
	addChannel,
	type ChannelPlatform,
	type GivenToken,
	type NewChannel,
	type NewIrc,
	removeChannel,
	testChannel,
} from "../../app/setup/channel-setup.ts";
import { APP_TOKEN_PLATFORMS, CHANNEL_PLATFORMS, keryxHome } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { running } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import { readOneOf } from "../io/arguments.ts";
import { addGroup } from "../io/group.ts";
import { readText } from "../io/read-text.ts";
import { ago } from "../io/words.ts";
import { texts } from "../texts.ts";

interface AddFlags {
	readonly name?: string;
	readonly account?: string;
	readonly tokenEnv?: string;
	readonly appTokenEnv?: string;
	readonly signingSecret?: true;
	readonly signingSecretEnv?: string;
	readonly webhookUrl?: string;
	readonly apiRoot?: string;
	readonly server?: string;
	readonly port?: string;
	readonly tls: boolean;
	readonly caFile?: string;
	readonly nick?: string;
	readonly login?: string;
	readonly join?: readonly string[];
	readonly serverPassword?: true;
	readonly serverPasswordEnv?: string;
}

export function addChannels(program: Command, context: CliContext): void {
	const channels = addGroup(program, "channels", texts.channels.about);
	channels
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
		.option("--api-root <address>", texts.channels.add.apiRoot)
		.option("--server <host>", texts.channels.add.server)
		.option("--port <number>", texts.channels.add.port)
		.option("--no-tls", texts.channels.add.noTls)
		.option("--ca-file <file>", texts.channels.add.caFile)
		.option("--nick <nick>", texts.channels.add.nick)
		.option("--login <account>", texts.channels.add.login)
		.option("--join <channel...>", texts.channels.add.join)
		.option("--server-password", texts.channels.add.serverPasswordFlag)
		.option("--server-password-env <variable>", texts.channels.add.serverPasswordEnv)
		.addHelpText("after", ADD_EXAMPLES)
		.action((platform: string, flags: AddFlags) =>
			connectChannel(context, readOneOf("platform", platform, CHANNEL_PLATFORMS), flags),
		);
	channels
		.command("list")
		.allowExcessArguments(false)
		.description(texts.channels.list.about)
		.addHelpText("after", LIST_EXAMPLES)
		.action(() => runList(context));
	channels
		.command("test")
		.allowExcessArguments(false)
		.description(texts.channels.test.about)
		.argument("<name>", texts.channels.entry)
		.action((name: string) => runTest(context, name));
	channels
		.command("remove")
		.allowExcessArguments(false)
		.description(texts.channels.remove.about)
		.argument("<name>", texts.channels.entry)
		.action((name: string) => runRemove(context, name));
}

const ADD_EXAMPLES = texts.channels.add.help;

const LIST_EXAMPLES = texts.channels.list.help;

/** Asks for what is missing, tries it and saves it. */
export async function connectChannel(
	context: CliContext,
	platform: ChannelPlatform,
	flags: AddFlags,
	{ isStarting = false }: { readonly isStarting?: boolean } = {},
): Promise<void> {
	const { output } = openConfig(context);
	const { path: home } = openHome(keryxHome(context.env));
	const tokens = await (platform === "irc"
		? ircTokensOf(flags, context)
		: tokensOf(platform, flags, context));
	const added = await addChannel(
		{
			platform,
			...tokens,
			...(platform === "irc" && { irc: ircOf(flags) }),
			...(flags.webhookUrl !== undefined && { webhookUrl: flags.webhookUrl }),
			...(flags.name !== undefined && { name: flags.name }),
			...(flags.account !== undefined && { account: flags.account }),
			...(flags.apiRoot !== undefined && { apiRoot: flags.apiRoot }),
		},
		{ home, env: context.env },
	);
	if (output.json) return output.value(added);
	output.line(texts.channels.add.done(added.who, added.name));
	for (const remark of added.remarks) output.note(remark);
	if (!isStarting && (await running(context)) === null) output.note(texts.channels.add.startKeryx);
	output.note(texts.channels.add.nobodyYet(platform));
}

function ircOf({ server, port, tls, caFile, nick, login, join }: AddFlags): NewIrc {
	if (server === undefined) throw missing("--server", "irc.libera.chat");
	if (nick === undefined) throw missing("--nick", "keryx");
	return {
		server,
		nick,
		...(port !== undefined && { port: Number(port) }),
		...(!tls && { tls }),
		...(caFile !== undefined && { ca_file: resolve(caFile) }),
		...(login !== undefined && { login }),
		...(join !== undefined && { join }),
	};
}

function missing(option: string, example: string): KeryxError {
	return new KeryxError("argument.invalid", texts.channels.add.ircNeeds(option), {
		field: option,
		hint: texts.channels.add.ircExample(option, example),
	});
}

/** The account's password first, if there is a login; then the server's. */
async function ircTokensOf(
	{ login, tokenEnv, serverPassword, serverPasswordEnv }: AddFlags,
	context: CliContext,
): Promise<Pick<NewChannel, "token" | "serverPassword">> {
	const asksServer = serverPassword === true && serverPasswordEnv === undefined;
	const asksAccount = login !== undefined && tokenEnv === undefined;
	const isPiped = context.stdin.isTTY !== true;
	const piped = isPiped && (asksAccount || asksServer) ? (await readText("-", context)).split("\n") : [];
	const given = async (what: string): Promise<GivenToken> => ({
		value: isPiped ? (piped.shift() ?? "").trim() : await askForToken(what, context),
	});
	const token =
		tokenEnv !== undefined
			? { variable: tokenEnv }
			: asksAccount
				? await given(texts.channels.add.accountPassword)
				: undefined;
	const server =
		serverPasswordEnv !== undefined
			? { variable: serverPasswordEnv }
			: asksServer
				? await given(texts.channels.add.serverPassword)
				: undefined;
	return { ...(token && { token }), ...(server && { serverPassword: server }) };
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

async function runList(context: CliContext): Promise<void> {
	const { config, output } = openConfig(context);
	const entries = Object.entries(config.values.channels);
	const client = await running(context);
	const live = client === null ? null : (await client.channels({})).channels;
	const channels = entries.map(([name, { platform, account }]) => {
		const found = live?.find((one) => one.platform === platform && one.account === account);
		return {
			name,
			platform,
			account,
			state:
				live === null ? texts.channels.list.notRunning : (found?.state ?? texts.channels.list.notConnected),
			alive_at: found?.alive_at ?? null,
			pending: found?.pending ?? null,
			detail: found?.detail ?? null,
		};
	});
	if (output.json) return output.value({ channels });
	if (channels.length === 0) return output.note(texts.channels.list.none);
	output.table(
		["name", "platform", "account", "state", "alive", "waiting", "detail"],
		channels.map(({ name, platform, account, state, alive_at, pending, detail }) => [
			name,
			platform,
			account,
			state,
			alive_at === null ? "" : ago(alive_at, context.now()),
			pending === null ? "" : String(pending),
			detail ?? "",
		]),
		{ elastic: [6] },
	);
}

async function runTest(context: CliContext, name: string): Promise<void> {
	const { config, output } = openConfig(context);
	const place = { home: keryxHome(context.env), env: context.env, secrets: config.secrets };
	const identity = await testChannel(name, place);
	if (output.json) return output.value({ name, ...identity });
	output.line(texts.channels.test.done(identity.who, name));
	for (const remark of identity.remarks) output.note(remark);
}

async function runRemove(context: CliContext, name: string): Promise<void> {
	const { output } = openConfig(context);
	await removeChannel(name, { home: keryxHome(context.env), env: context.env });
	if (output.json) return output.value({ name, removed: true });
	output.line(texts.channels.remove.done(name));
}
