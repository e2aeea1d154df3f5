// `keryx`: the gateway in this process, until it is told to stop. On a terminal one can talk to it.
import { apiTransport, createClient } from "../http/index.ts";
import { chat } from "./chat-command.ts";
import { asOperator } from "./connect.ts";
import { type CliContext, openConfig } from "./context.ts";
import { openHost } from "./host.ts";
import { atOnceIfToldAgain, untilTold } from "./until-told.ts";

export async function runGateway(context: CliContext): Promise<void> {
	const { config, output } = openConfig(context);
	const host = await openHost({ context, config, output, as: "run", onPorts: true });
	if (host.url !== null)
		output.note(
			`Keryx listens on ${host.url}. Log a browser in, once and within ten minutes: ${host.url}${host.api.loginPath()}`,
		);
	if (process.stdin.isTTY === true && !context.json) {
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
	const told = untilTold();
	output.line(`Keryx is running; its socket is ${host.home.socketPath}`);
	await told;
	atOnceIfToldAgain();
	await host.close();
}
