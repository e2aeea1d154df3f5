// A channel's token: in an environment variable, or a file that only its owner can read. Read at every connect, so that a new one needs
// no restart, and hidden from the moment it is read (I12).
import { type ChannelSettings, type Environment, readSecretFile } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Secrets } from "../../secrets/index.ts";

export interface TokenContext {
	readonly env: Environment;
	/** Relative names of files are looked for here. */
	readonly home: string;
	readonly secrets: Pick<Secrets, "learn">;
}

/** Throws channel.token_missing or channel.token_exposed, with the entry and the remedy. */
export async function readToken(
	name: string,
	settings: Pick<ChannelSettings, "token_env" | "token_file">,
	{ env, home, secrets }: TokenContext,
): Promise<string> {
	return read(`channels.${name}`, settings, { env, home, secrets });
}

/** The same for the app's token, which some platforms also need. */
export async function readAppToken(
	name: string,
	{ app_token_env, app_token_file }: Pick<ChannelSettings, "app_token_env" | "app_token_file">,
	context: TokenContext,
): Promise<string> {
	const where = { token_env: app_token_env, token_file: app_token_file };
	return read(`the app of channels.${name}`, where, context);
}

/** The same for Slack's signing secret. */
export async function readSigningSecret(
	name: string,
	{
		signing_secret_env,
		signing_secret_file,
	}: Pick<ChannelSettings, "signing_secret_env" | "signing_secret_file">,
	context: TokenContext,
): Promise<string> {
	const where = { token_env: signing_secret_env, token_file: signing_secret_file };
	return read(`the signing secret of channels.${name}`, where, context);
}

/** The password of an IRC server. */
export async function readServerPassword(
	name: string,
	{
		server_password_env,
		server_password_file,
	}: Pick<ChannelSettings, "server_password_env" | "server_password_file">,
	context: TokenContext,
): Promise<string> {
	const where = { token_env: server_password_env, token_file: server_password_file };
	return read(`the server password of channels.${name}`, where, context);
}

/** The key of a channel on IRC, or a certificate with its key. */
export function readSecret(
	owner: string,
	where: Pick<ChannelSettings, "token_env" | "token_file">,
	context: TokenContext,
): string {
	return read(owner, where, context);
}

/** Whether Slack posts the channel's events to Keryx. */
export function isPostedTo(
	settings: Pick<ChannelSettings, "signing_secret_env" | "signing_secret_file">,
): boolean {
	return (settings.signing_secret_env ?? settings.signing_secret_file) !== undefined;
}

function read(
	owner: string,
	{ token_env, token_file }: Pick<ChannelSettings, "token_env" | "token_file">,
	{ env, home, secrets }: TokenContext,
): string {
	const token = (token_file === undefined ? env[token_env ?? ""] : fromFile(owner, token_file, home))?.trim();
	if (!token)
		throw new KeryxError(
			"channel.token_missing",
			`${owner} has no token: ${token_file === undefined ? `${token_env} is not set` : `${token_file} is empty`}`,
		);
	secrets.learn(new Map([[owner, token]]));
	return token;
}

function fromFile(owner: string, file: string, home: string): string {
	const found = readSecretFile(file, home);
	if (found.kind === "read") return found.value;
	const { path } = found;
	if (found.kind === "missing")
		throw new KeryxError("channel.token_missing", `${owner} has no token: there is no file ${path}`);
	throw new KeryxError("channel.token_exposed", `others can read ${path}, the token of ${owner}`, {
		hint: `run \`chmod 600 ${path}\``,
	});
}
