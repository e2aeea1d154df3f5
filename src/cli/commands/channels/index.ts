// `keryx channels`: connects a chat platform, lists, tests and removes connections.
// The work is done in src/app/setup, for the page too.
// Never here: writing config.yaml, or connecting by hand.

import type { Command } from "commander";
import { openHome } from "../../../app/home.ts";
import { installPackages, missingPackages, PLATFORM_PACKAGES } from "../../../app/packages.ts";
import { removeChannel, testChannel } from "../../../app/setup/channel-setup.ts";
import { CHANNEL_PLATFORMS, keryxHome } from "../../../config/index.ts";
import { running } from "../../connect.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { readOneOf } from "../../io/arguments.ts";
import { addGroup } from "../../io/group.ts";
import { ago } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { addAdd } from "./add.ts";

export function addChannels(program: Command, context: CliContext): void {
	const channels = addGroup(program, "channels", texts.channels.about);
	addAdd(channels, context);
	channels
		.command("install")
		.allowExcessArguments(false)
		.description(texts.channels.install.about)
		.argument("<platform>", Object.keys(PLATFORM_PACKAGES).join(", "))
		.action((platform: string) => runInstall(context, platform));
	channels
		.command("list")
		.allowExcessArguments(false)
		.description(texts.channels.list.about)
		.addHelpText("after", texts.channels.list.help)
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

/** Calling it is the consent. */
async function runInstall(context: CliContext, given: string): Promise<void> {
	const platform = readOneOf("platform", given, CHANNEL_PLATFORMS);
	const { output } = openConfig(context);
	const { path: home } = openHome(keryxHome(context.env));
	const packages = missingPackages(platform, home);
	if (packages.length > 0) await installPackages(platform, home, context.env);
	if (output.json) return output.value({ platform, installed: packages });
	output.line(
		packages.length === 0
			? texts.channels.install.nothing(platform)
			: texts.channels.install.done(packages.join(", ")),
	);
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
	const tokens = { home: keryxHome(context.env), env: context.env, secrets: config.secrets };
	const identity = await testChannel(name, tokens);
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
