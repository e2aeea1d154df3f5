// `keryx confirmd`: confirmations alone, for programs with their own agent.
// src/app/confirmd.ts puts it together; here are its options, and reaching one that runs.
// Never here: a gateway, or a conversation.

import type { Command } from "commander";
import { openConfirmd, serveConfirmd } from "../../../app/confirmd.ts";
import { openHome } from "../../../app/home.ts";
import { keryxHome } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { exitAtNextSignal, untilStopSignal } from "../../io/stop-signal.ts";
import { texts } from "../../texts.ts";
import { type ConfirmdFlags, DEFAULT_HOST, DEFAULT_PORT, readOptions, socketPathOf } from "./options.ts";

export function addConfirmd(program: Command, context: CliContext): void {
	program
		.command("confirmd")
		.allowExcessArguments(false)
		.description(texts.confirmd.about)
		.option("--host <address>", texts.confirmd.host(DEFAULT_HOST))
		.option("--port <n>", texts.confirmd.port(DEFAULT_PORT))
		.option("--db-path <file>", texts.confirmd.dbPath)
		.option("--rate-limit <n>", texts.confirmd.rateLimit)
		.option("--webhook <address>", texts.confirmd.webhook)
		.option("--webhook-secret-env <name>", texts.confirmd.webhookSecret)
		.option("--compat-port <n>", texts.confirmd.compatPort)
		.addHelpText("after", EXAMPLES)
		.action((flags: ConfirmdFlags) => runConfirmd(context, flags));
}

const EXAMPLES = texts.confirmd.help;

async function runConfirmd(context: CliContext, flags: ConfirmdFlags): Promise<void> {
	const { config, output } = openConfig(context);
	const { path: home } = openHome(keryxHome(context.env));
	const { dbPath, rateLimit, webhook, ...ports } = readOptions(flags, context.env, home);
	const host = await openConfirmd({ context, config, output, dbPath, as: "run", rateLimit, webhook });
	try {
		const served = await serveConfirmd(host, { ports, socketPath: socketPathOf(dbPath) }, output).catch(
			inOwnWords,
		);
		// A reader may stop it as soon as it says that it runs.
		const stopAsked = untilStopSignal();
		try {
			if (output.json)
				output.value({ url: served.url, compat_url: served.compatUrl, db_path: dbPath }, "line");
			else {
				output.line(texts.confirmd.listening(served.url, dbPath));
				if (served.compatUrl !== null) output.line(texts.confirmd.compat(served.compatUrl));
				output.line(texts.confirmd.tokenHint(dbPath));
			}
			await stopAsked;
			exitAtNextSignal();
		} finally {
			await served.close();
		}
	} finally {
		await host.close();
	}
}

/** A port that is taken, or a socket that cannot be, in the words of this command. */
function inOwnWords(cause: unknown): never {
	if (!(cause instanceof KeryxError)) throw cause;
	const { code, message } = cause;
	if (code === "home.unusable")
		throw new KeryxError(code, message, {
			field: "--db-path",
			hint: texts.confirmd.socketTooLong,
			cause,
		});
	if (code !== "http.port") throw cause;
	const field = cause.field === "http.port" ? "--port" : "--compat-port";
	const hint = texts.confirmd.portTaken(field);
	throw new KeryxError(code, message, { field, hint, cause });
}
