// The options of `keryx confirmd`: from its arguments, then the earlier daemon's environment variables, then defaults.

import { join, resolve } from "node:path";
import { type Webhook, weakSecret } from "../../../confirmations/index.ts";
import { KeryxError } from "../../../errors.ts";
import type { CliContext } from "../../context.ts";
import { readCount } from "../../io/arguments.ts";
import { texts } from "../../texts.ts";

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 7716;
const MOST_REQUESTS = 100_000;

export interface ConfirmdFlags {
	readonly host?: string;
	readonly port?: string;
	readonly dbPath?: string;
	readonly rateLimit?: string;
	readonly webhook?: string;
	readonly webhookSecretEnv?: string;
	readonly compatPort?: string;
}

export interface ConfirmdOptions {
	readonly host: string;
	/** 0: any free one. */
	readonly port: number;
	readonly dbPath: string;
	/** Default: from the configuration. */
	readonly rateLimit: number | undefined;
	readonly webhook: Webhook | undefined;
	readonly compatPort: number | null;
}

export function readOptions(flags: ConfirmdFlags, env: CliContext["env"], home: string): ConfirmdOptions {
	const given = (option: string, flag: string | undefined, variable: string) =>
		// An empty variable counts as not set.
		flag !== undefined ? { name: option, text: flag } : { name: variable, text: env[variable] || undefined };
	const number = (from: { name: string; text: string | undefined }, bounds: readonly [number, number]) =>
		from.text === undefined ? undefined : readCount(from.name, from.text, bounds);
	return {
		host: given("--host", flags.host, "CONFIRMATION_HOST").text ?? DEFAULT_HOST,
		port: number(given("--port", flags.port, "CONFIRMATION_PORT"), [0, 65_535]) ?? DEFAULT_PORT,
		dbPath: databasePath(flags.dbPath, home),
		rateLimit: number(given("--rate-limit", flags.rateLimit, "CONFIRMATION_RATE_LIMIT"), [1, MOST_REQUESTS]),
		webhook: readWebhook(flags, env),
		compatPort:
			flags.compatPort === undefined ? null : readCount("--compat-port", flags.compatPort, [0, 65_535]),
	};
}

export function databasePath(given: string | undefined, home: string): string {
	if (given === "")
		throw new KeryxError("argument.invalid", "--db-path must not be empty", { field: "--db-path" });
	return given === undefined ? join(home, "confirmations.db") : resolve(given);
}

/** The secret itself is never an option: other users can read a command line. */
function readWebhook(
	{ webhook: url, webhookSecretEnv: name }: ConfirmdFlags,
	env: CliContext["env"],
): Webhook | undefined {
	if (url === undefined && name === undefined) return undefined;
	if (url === undefined || name === undefined)
		throw new KeryxError("usage.invalid", texts.confirmd.webhookTogether);
	if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
		throw new KeryxError("argument.invalid", texts.confirmd.webhookAddress(url), {
			field: "--webhook",
		});
	const secret = env[name];
	const weak = secret ? weakSecret(name, secret) : null;
	if (weak !== null)
		throw new KeryxError("argument.invalid", weak, {
			field: "--webhook-secret-env",
			hint: texts.confirmd.secretHint,
		});
	if (secret) return { url, secret };
	throw new KeryxError("argument.invalid", texts.confirmd.secretMissing(name), {
		field: "--webhook-secret-env",
	});
}

/** Next to the database, so that it can be found. */
export function socketPathOf(dbPath: string): string {
	return `${dbPath}.sock`;
}
