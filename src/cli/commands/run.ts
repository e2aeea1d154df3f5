// `keryx`: the gateway in this process, until it is told to stop. On a terminal one can talk to it.

import { type Host, openHost } from "../../app/host.ts";
import { apiTransport, createClient } from "../../http/index.ts";
import { asOperator } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import type { Output } from "../io/output.ts";
import { atOnceIfToldAgain, untilTold } from "../io/until-told.ts";
import { chat } from "./chat.ts";

export async function runGateway(context: CliContext): Promise<void> {
	const { config, output } = openConfig(context);
	const host = await openHost({ context, config, output, as: "run", onPorts: true });
	if (process.stdin.isTTY === true && !context.json) {
		tellWhere(host, output);
		const client = createClient(apiTransport(host.api, asOperator(context)));
		const connection = { client, config: config.values, output, isRemote: false, close: () => host.close() };
		try {
			await Promise.race([chat(context, connection, {}), untilTold()]);
		} finally {
			atOnceIfToldAgain();
			await host.close();
		}
		return;
	}
	// Who reads that it runs may stop it at once.
	const stopAsked = untilTold();
	output.line(`Keryx is running; its socket is ${host.home.socketPath}`);
	tellWhere(host, output);
	await stopAsked;
	atOnceIfToldAgain();
	await host.close();
}

/** The link comes last: it is what somebody new looks for. */
function tellWhere({ url, hasPage, api }: Host, output: Output): void {
	if (url === null) return;
	output.note(
		hasPage
			? `Keryx has a page for your browser: ${url}`
			: `Keryx listens on ${url}. Its page is not built: \`npm start\` builds it.`,
	);
	// Whoever reads a log must not be able to log in.
	if (!output.notesAreSeen) {
		output.note("`keryx link` prints a link that logs your browser in.");
		return;
	}
	output.note("Open this link to log in. It works once, within ten minutes; `keryx link` prints another:");
	output.note(`${url}${api.loginPath()}`);
}
