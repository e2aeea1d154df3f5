// `keryx channels`: connects a chat platform, shows the connections there are, tries one, takes one out.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { addChannel, type GivenToken, removeChannel, testChannel } from "../../app/channel-setup.ts";
import { openHome } from "../../app/home.ts";
import { APP_TOKEN_PLATFORMS, CHANNEL_PLATFORMS, keryxHome } from "../../config/index.ts";
import { running } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";

import { readOneOf } from "../io/arguments.ts";
import { addGroup } from "../io/group.ts";
import { readText } from "../io/read-text.ts";
import { ago } from "../io/words.ts";

interface AddFlags {
	readonly name?: string;
	readonly account?: string;
	readonly tokenEnv?: string;
	readonly appTokenEnv?: string;
	readonly apiRoot?: string;
}

export function addChannels(program: Command, context: CliContext): void {
	const channels = addGroup(program, "channels", "connections to chat platforms");
	channels
		.command("add")
		.allowExcessArguments(false)
		.description("connect a platform: asks for the bot's token, tries it, and writes config.yaml")
		.argument("<platform>", CHANNEL_PLATFORMS.join(", "))
		.option("--name <name>", "the entry's name in config.yaml (the platform's name)")
		.option("--account <name>", "tells this bot apart from another one of the same platform")
		.option("--token-env <variable>", "the environment variable that holds the token, instead of a key file")
		.option(
			"--app-token-env <variable>",
			"the same for the app-level token, which Slack needs beside the bot's",
		)
		.option("--api-root <address>", "another server that speaks the platform's protocol")
		.addHelpText("after", ADD_EXAMPLES)
		.action((platform: string, flags: AddFlags) => runAdd(context, platform, flags));
	channels
		.command("list")
		.allowExcessArguments(false)
		.description("each connection, whether it is there, and what waits to be sent")
		.addHelpText("after", LIST_EXAMPLES)
		.action(() => runList(context));
	channels
		.command("test")
		.allowExcessArguments(false)
		.description("ask the platform who the bot is, with the token as it is now")
		.argument("<name>", "of the entry in config.yaml")
		.action((name: string) => runTest(context, name));
	channels
		.command("remove")
		.allowExcessArguments(false)
		.description("take a connection out of config.yaml, and delete its key file")
		.argument("<name>", "of the entry in config.yaml")
		.action((name: string) => runRemove(context, name));
}

const ADD_EXAMPLES = `
The token is kept in a file in Keryx's home that only you can read. A Keryx that runs connects at once.

Examples:
  $ keryx channels add telegram
  $ keryx channels add telegram < token.txt
  $ keryx channels add telegram --token-env TELEGRAM_TOKEN
  $ keryx channels add telegram --name second --account second
  $ keryx channels add slack
  $ printf '%s\\n%s\\n' "$BOT_TOKEN" "$APP_TOKEN" | keryx channels add slack

Exit codes: 0 connected, 1 the platform refused the token, 2 wrong usage.`;

const LIST_EXAMPLES = `
States: connected, starting, degraded, down (no sign of life), needs_attention (it says what to do), stopped.

Examples:
  $ keryx channels list
  $ keryx channels list --json

Exit codes: 0 done, 1 failure.`;

async function runAdd(context: CliContext, given: string, flags: AddFlags): Promise<void> {
	const platform = readOneOf("platform", given, CHANNEL_PLATFORMS);
	const { output } = openConfig(context);
	const { path: home } = openHome(keryxHome(context.env));
	const { token, appToken } = await tokensOf(platform, flags, context);
	const added = await addChannel(
		{
			platform,
			token,
			...(appToken && { appToken }),
			...(flags.name !== undefined && { name: flags.name }),
			...(flags.account !== undefined && { account: flags.account }),
			...(flags.apiRoot !== undefined && { apiRoot: flags.apiRoot }),
		},
		{ home, env: context.env },
	);
	if (output.json) return output.value(added);
	output.line(`${added.who} is connected as channels.${added.name}.`);
	for (const remark of added.remarks) output.warn(remark);
	if ((await running(context)) === null) output.note("Start Keryx, and it answers there.");
	output.note(
		`Nobody may talk to it yet. Write to it: you are sent a code, and \`keryx pair approve ${platform} <code> --role owner\` lets you in.`,
	);
}

/** A pipe gives them on stdin, a line each. */
async function tokensOf(
	platform: string,
	flags: AddFlags,
	context: CliContext,
): Promise<{ readonly token: GivenToken; readonly appToken?: GivenToken }> {
	const isPiped = context.stdin.isTTY !== true;
	const needsApp = APP_TOKEN_PLATFORMS.has(platform);
	const isAsked = flags.tokenEnv === undefined || (needsApp && flags.appTokenEnv === undefined);
	const piped = isPiped && isAsked ? (await readText("-", context)).trim().split(/\s*\n\s*/) : [];
	const given = async (variable: string | undefined, what: string): Promise<GivenToken> => {
		if (variable !== undefined) return { variable };
		return { value: isPiped ? (piped.shift() ?? "") : await askForToken(what, context) };
	};
	const token = await given(flags.tokenEnv, `Token of the ${platform} bot`);
	if (!needsApp) return { token };
	return { token, appToken: await given(flags.appTokenEnv, "App-level token (xapp-)") };
}

/** Not shown while it is typed. */
async function askForToken(what: string, context: CliContext): Promise<string> {
	const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
	context.stderr.write(`${what} (it is not shown): `);
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
			state: live === null ? "not running" : (found?.state ?? "not connected"),
			alive_at: found?.alive_at ?? null,
			pending: found?.pending ?? null,
			detail: found?.detail ?? null,
		};
	});
	if (output.json) return output.value({ channels });
	if (channels.length === 0)
		return output.note("No chat platform is connected: `keryx channels add telegram`.");
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
	output.line(`${identity.who} answers: the token of channels.${name} is accepted.`);
	for (const remark of identity.remarks) output.warn(remark);
}

async function runRemove(context: CliContext, name: string): Promise<void> {
	const { output } = openConfig(context);
	await removeChannel(name, { home: keryxHome(context.env), env: context.env });
	if (output.json) return output.value({ name, removed: true });
	output.line(
		`channels.${name} is removed. What was to be sent there waits until a channel of that platform is back.`,
	);
}
