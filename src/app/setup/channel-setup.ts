// Adds and removes a channel: tries the token, writes the key file and the entry of config.yaml. For `keryx channels` and the page; a
// running Keryx follows the file. Nothing is written unless the platform accepts the token.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KERYX } from "../../called.ts";
import {
	APP_TOKEN_PLATFORMS,
	CHANNEL_PLATFORMS,
	type ChannelSettings,
	checkConfig,
	editConfig,
	isNetwork,
	NETWORK_PLATFORMS,
	NETWORKS,
	writeConfig,
	writeSecretFile,
} from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { ChannelSetup } from "../../http/index.ts";
import { installPackages, missingPackages, PLATFORM_PACKAGES } from "../packages.ts";
import { type ChannelPlatform, PLATFORMS } from "../platforms/index.ts";
import type { ChannelIdentity } from "../platforms/types.ts";
import type { TokenContext } from "./channel-token.ts";
import type { ConfigChanges, ConfigFile } from "./config-file.ts";

export interface NewChannel {
	readonly platform: ChannelPlatform;
	/** The entry's name; default: the platform's. */
	readonly name?: string;
	readonly account?: string;
	/** Absent: a network without a login. */
	readonly token?: GivenToken;
	/** The app's token, if the platform also needs one. */
	readonly appToken?: GivenToken;
	/** Instead of the app's token: Slack posts its events to Keryx, signed with this. */
	readonly signingSecret?: GivenToken;
	/** Telegram posts its updates to this address. Without a path, the channel's is added. */
	readonly webhookUrl?: string;
	readonly apiRoot?: string;
	/** An IRC server's password. */
	readonly serverPassword?: GivenToken;
	/** The section of a network, as in the configuration. */
	readonly network?: Readonly<Record<string, NetworkValue>>;
	/** Consent to install the packages that the platform needs. */
	readonly install?: boolean;
}

export type NetworkValue = string | number | boolean | readonly string[];

/** The token itself, for a key file; or its variable. */
export type GivenToken = { readonly value: string } | { readonly variable: string };

/** The same for the page. */
export function channelSetup(context: TokenContext & { readonly writer: ConfigFile }): ChannelSetup {
	return {
		platforms: CHANNEL_PLATFORMS,
		appTokenPlatforms: [...APP_TOKEN_PLATFORMS],
		networks: () =>
			NETWORK_PLATFORMS.map((platform) => ({
				platform,
				...NETWORKS[platform],
				packages: missingPackages(platform, context.home),
				megabytes: PLATFORM_PACKAGES[platform]?.megabytes ?? 0,
			})),
		add: ({ by, platform, name, account, token, serverPassword, ...given }) => {
			const { appToken, signingSecret, webhookUrl, apiRoot, network, install } = given;
			return addChannel(
				{
					platform: known(platform),
					...(token !== undefined && { token: { value: token } }),
					...(serverPassword !== undefined && { serverPassword: { value: serverPassword } }),
					...(network !== undefined && { network }),
					...(install !== undefined && { install }),
					...(appToken !== undefined && { appToken: { value: appToken } }),
					...(signingSecret !== undefined && { signingSecret: { value: signingSecret } }),
					...(webhookUrl !== undefined && { webhookUrl }),
					...(name !== undefined && { name }),
					...(account !== undefined && { account }),
					...(apiRoot !== undefined && { apiRoot }),
				},
				context,
				(changes) => context.writer.change({ changes: () => changes, by }),
			);
		},
		test: async (name) => ({ name, ...(await testChannel(name, context)) }),
		remove: (name, by) =>
			removeChannel(name, context, (changes) => context.writer.change({ changes: () => changes, by })),
	};
}

/** Asks the platform who the bot is, with the current token. */
export async function testChannel(name: string, context: TokenContext): Promise<ChannelIdentity> {
	const settings = checkConfig(context).config?.values.channels[name];
	if (!settings) throw noChannel(name);
	return tryChannel(name, settings, context);
}

/** Throws channel.refused if the platform does not accept the token. */
async function tryChannel(
	name: string,
	settings: ChannelSettings,
	context: TokenContext,
): Promise<ChannelIdentity> {
	return PLATFORMS[known(settings.platform)].identify(name, settings, context);
}

function known(platform: string): ChannelPlatform {
	const found = CHANNEL_PLATFORMS.find((one) => one === platform);
	if (found) return found;
	throw new KeryxError(
		"argument.invalid",
		`platform must be one of ${CHANNEL_PLATFORMS.join(", ")}; set up a channel from a module in config.yaml`,
		{ field: "platform" },
	);
}

/** Returns the entry's name and the bot. */
export async function addChannel(
	wanted: NewChannel,
	context: TokenContext,
	write: WriteChanges = unrecorded(context),
): Promise<ChannelIdentity & { readonly name: string }> {
	const { platform, apiRoot, name = wanted.platform, account, network } = wanted;
	const webhookUrl = wanted.webhookUrl === undefined ? undefined : withPath(wanted.webhookUrl, name);
	refuseMissing(wanted);
	const secrets = SECRETS.flatMap((secret) => {
		const given = wanted[secret.option];
		return given ? [{ ...secret, given, value: readGiven(given, secret.called, context) }] : [];
	});
	const { token } = wanted;
	const file = join(context.home, "config.yaml");
	const before = existsSync(file) ? readFileSync(file, "utf8") : "";
	const changes = {
		[`channels.${name}`]: {
			platform,
			...(account && { account }),
			...Object.fromEntries(
				secrets.map(({ setting, ending, given }) =>
					"value" in given ? [`${setting}_file`, keyFile(name, ending)] : [`${setting}_env`, given.variable],
				),
			),
			...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
			...(apiRoot !== undefined && { api_root: apiRoot }),
			...(network !== undefined && { [platform]: { ...network } }),
		},
	};
	const after = editConfig(before, changes);
	refuseTaken(before, name, context);
	refuseInvalid(after, context);
	await installAllowed(wanted, context);
	const { exchange } = PLATFORMS[platform];
	if (exchange && token && "value" in token)
		for (const secret of secrets) secret.value = await exchange(secret.value, network);
	// Key files are written after the platform has accepted what they will hold: until then, their values come from variables.
	const entry = { ...entryOf(after, name, context) };
	const given: Record<string, string> = {};
	for (const { setting, value } of secrets) {
		const variable = `KERYX_GIVEN_${setting.toUpperCase()}`;
		entry[`${setting}_file`] = undefined;
		entry[`${setting}_env`] = variable;
		given[variable] = value;
	}
	const identity = await tryChannel(name, entry, { ...context, env: { ...context.env, ...given } });
	for (const { ending, given, value } of secrets)
		if ("value" in given) writeSecretFile(join(context.home, keyFile(name, ending)), value);
	await write(changes);
	return { ...identity, remarks: [...identity.remarks, ...nextSteps(name, wanted, webhookUrl)], name };
}

/** The secrets of an entry: their keys in the configuration, and their file suffix. */
const SECRETS = [
	{ option: "token", setting: "token", ending: "token", called: "the token" },
	{ option: "appToken", setting: "app_token", ending: "app-token", called: "the app-level token" },
	{
		option: "signingSecret",
		setting: "signing_secret",
		ending: "signing-secret",
		called: "the signing secret",
	},
	{
		option: "serverPassword",
		setting: "server_password",
		ending: "server-password",
		called: "the server's password",
	},
] as const;

function keyFile(name: string, ending: string): string {
	return join("keys", `${name}.${ending}`);
}

/** Throws channel.packages if there are packages to install, and no consent. */
async function installAllowed(
	{ platform, install, network }: NewChannel,
	{ home, env }: TokenContext,
): Promise<void> {
	if (PLATFORMS[platform].needsPackages?.(network) === false) return;
	const missing = missingPackages(platform, home);
	if (missing.length === 0) return;
	if (install !== true)
		throw new KeryxError("channel.packages", `${platform} needs packages that are not installed yet`, {
			hint: `agree to install ${missing.join(", ")}: --install, or \`${KERYX} channels install ${platform}\``,
		});
	await installPackages(platform, home, env);
}

function refuseMissing({ platform, token, appToken, signingSecret, network, ...rest }: NewChannel): void {
	if (!isNetwork(platform) && !token)
		throw new KeryxError("argument.invalid", `${platform} needs a token`, { field: "token" });
	if (isNetwork(platform)) {
		const { label, fields, secrets } = NETWORKS[platform];
		for (const { key, needed } of fields)
			if (needed && network?.[key] === undefined)
				throw new KeryxError("argument.invalid", `${label} needs ${key}`, { field: `network.${key}` });
		for (const { option, when, about } of secrets) {
			const isNeeded = when === "always" || (when !== "asked" && network?.[when.given] !== undefined);
			if (isNeeded && !(option === "token" ? token : rest.serverPassword))
				throw new KeryxError("argument.invalid", `${label} needs ${about}`, { field: option });
		}
	}
	const needsApp = APP_TOKEN_PLATFORMS.has(platform);
	const isGiven = appToken !== undefined || signingSecret !== undefined;
	if (needsApp && !isGiven)
		throw new KeryxError("argument.invalid", `${platform} also needs an app-level token`, {
			field: "app_token",
			hint: "or give the signing secret, if Slack posts its events to your address",
		});
	if (!needsApp && appToken !== undefined)
		throw new KeryxError("argument.invalid", `${platform} does not use an app-level token`, {
			field: "app_token",
		});
}

/** An address without a path means Keryx itself, so the channel's path is added. */
function withPath(address: string, name: string): string {
	const url = URL.canParse(address) ? new URL(address) : null;
	if (url?.pathname !== "/" || url.search !== "" || url.hash !== "") return address;
	return `${url.href}${eventsPath(name).slice(1)}`;
}

function eventsPath(name: string): string {
	return `/channels/${name}/events`;
}

/** What remains to be done if the platform posts to Keryx. */
function nextSteps(name: string, { signingSecret }: NewChannel, webhookUrl: string | undefined): string[] {
	const path = eventsPath(name);
	if (signingSecret)
		return [
			`Slack posts events to Keryx at ${path}. At api.slack.com/apps, turn Socket Mode off, and enter your address with this path under Event Subscriptions, under Interactivity & Shortcuts and at the slash command.`,
		];
	if (webhookUrl === undefined || new URL(webhookUrl).pathname.endsWith(path)) return [];
	return [`Your proxy must pass ${webhookUrl} on to Keryx as ${path}.`];
}

/** Removes the entry, and the key files that `addChannel` wrote. */
export async function removeChannel(
	name: string,
	context: Pick<TokenContext, "home" | "env">,
	write: WriteChanges = unrecorded(context),
): Promise<void> {
	const file = join(context.home, "config.yaml");
	const before = existsSync(file) ? readFileSync(file, "utf8") : "";
	const settings = checkConfig({ ...context, text: before }).config?.values.channels[name];
	if (!settings) throw noChannel(name);
	await write({ [`channels.${name}`]: undefined });
	for (const { setting, ending } of SECRETS)
		if (settings[`${setting}_file`] === keyFile(name, ending))
			rmSync(join(context.home, keyFile(name, ending)), { force: true });
}

/** Default: written at once, without a record of who did it. */
type WriteChanges = (changes: ConfigChanges) => Promise<unknown>;

function unrecorded({ home }: Pick<TokenContext, "home">): WriteChanges {
	const file = join(home, "config.yaml");
	return async (changes) =>
		writeConfig(file, editConfig(existsSync(file) ? readFileSync(file, "utf8") : "", changes));
}

function readGiven(token: GivenToken, called: string, { env }: Pick<TokenContext, "env">): string {
	const value = "value" in token ? token.value.trim() : env[token.variable]?.trim();
	if (value) return value;
	throw new KeryxError(
		"channel.token_missing",
		"variable" in token ? `${token.variable} is not set here` : `${called} is empty`,
	);
}

export function noChannel(name: string): KeryxError {
	return new KeryxError("store.not_found", `there is no channels.${name} in config.yaml`, {
		field: "name",
		hint: `\`${KERYX} channels list\` shows their names`,
	});
}

function entryOf(text: string, name: string, context: TokenContext): ChannelSettings {
	const entry = checkConfig({ ...context, text }).config?.values.channels[name];
	if (!entry) throw noChannel(name);
	return entry;
}

function refuseTaken(text: string, name: string, context: Pick<TokenContext, "home" | "env">): void {
	if (checkConfig({ ...context, text }).config?.values.channels[name])
		throw new KeryxError("argument.invalid", `channels.${name} already exists`, {
			field: "name",
			hint: "choose another --name, or remove that one first",
		});
}

function refuseInvalid(text: string, context: Pick<TokenContext, "home" | "env">): void {
	const [first] = checkConfig({ ...context, text }).problems;
	if (first)
		throw new KeryxError("config.invalid", first.message, { ...(first.key && { field: first.key }) });
}
