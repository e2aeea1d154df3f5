// `keryx confirmd`: confirmations alone, for programs that have an agent of their own. No gateway, no conversation.
import type { Command } from "commander";
import { openHome } from "../../../app/home.ts";
import { keryxHome } from "../../../config/index.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { atOnceIfToldAgain, untilTold } from "../../io/until-told.ts";
import { openConfirmd, serveConfirmd } from "./host.ts";
import { type ConfirmdFlags, DEFAULT_HOST, DEFAULT_PORT, readOptions } from "./options.ts";

export function addConfirmd(program: Command, context: CliContext): void {
	program
		.command("confirmd")
		.allowExcessArguments(false)
		.description("run confirmations alone, for agents of other programs")
		.option("--host <address>", `where it listens; ${DEFAULT_HOST}, or CONFIRMATION_HOST`)
		.option("--port <n>", `${DEFAULT_PORT}, or CONFIRMATION_PORT; 0 is any free one`)
		.option("--db-path <file>", "its database; confirmations.db in Keryx's home")
		.option("--rate-limit <n>", "requests of one token for one action in an hour, or CONFIRMATION_RATE_LIMIT")
		.option("--webhook <address>", "tell this address of every request, signed")
		.option("--webhook-secret-env <name>", "the variable that holds the secret of the signature")
		.option(
			"--compat-port <n>",
			"a second port, on loopback, that takes requests and tells their status without a token",
		)
		.addHelpText("after", EXAMPLES)
		.action((flags: ConfirmdFlags) => runConfirmd(context, flags));
}

const EXAMPLES = `
Options win over the variables. The rest (which actions are always asked about, deadlines, webhooks) is the section
confirmations of config.yaml. It ends on SIGTERM and SIGINT; what waits for an answer is there at the next start.

Commands reach it, running or not, by its database:
  $ keryx token create ci --role agent --db-path ~/.keryx/confirmations.db
  $ keryx confirm list --db-path ~/.keryx/confirmations.db

Examples:
  $ keryx confirmd
  $ keryx confirmd --port 8080 --db-path ./confirmations.db --rate-limit 30
  $ HOOK_SECRET=... keryx confirmd --webhook https://example.org/asked --webhook-secret-env HOOK_SECRET
  $ keryx confirmd --compat-port 6000

Exit codes: 0 told to end, 1 failure (the port or the database is taken), 2 wrong usage.`;

async function runConfirmd(context: CliContext, flags: ConfirmdFlags): Promise<void> {
	const { config, output } = openConfig(context);
	const { path: home } = openHome(keryxHome(context.env));
	const { dbPath, rateLimit, webhook, ...ports } = readOptions(flags, context.env, home);
	const host = await openConfirmd({ context, config, output, dbPath, as: "run", rateLimit, webhook });
	try {
		const served = await serveConfirmd(host, ports, output);
		// Who reads that it runs may stop it at once.
		const stopAsked = untilTold();
		try {
			if (output.json)
				output.value({ url: served.url, compat_url: served.compatUrl, db_path: dbPath }, "line");
			else {
				output.line(`confirmd listens on ${served.url}; its database is ${dbPath}`);
				if (served.compatUrl !== null)
					output.line(`Without a token, requests and their status only: ${served.compatUrl}`);
				output.line(`A token for an agent: keryx token create <name> --role agent --db-path ${dbPath}`);
			}
			await stopAsked;
			atOnceIfToldAgain();
		} finally {
			await served.close();
		}
	} finally {
		await host.close();
	}
}
