// `keryx`: the gateway in this process, until it is told to stop. On a terminal one can talk to it.
import { apiTransport, createClient } from "../http/index.ts";
import { chat } from "./chat-command.ts";
import { type CliContext, openConfig } from "./context.ts";
import { openHost } from "./host.ts";

export async function runGateway(context: CliContext): Promise<void> {
	const { config, output } = openConfig(context);
	const host = await openHost({ context, config: config.values, output, as: "run" });
	if (process.stdin.isTTY === true && !context.json) {
		const client = createClient(apiTransport(host.api));
		const connection = { client, config: config.values, output, isRemote: false, close: () => host.close() };
		try {
			await Promise.race([chat(context, connection, {}), told()]);
		} finally {
			atOnceIfToldAgain();
			await host.close();
		}
		return;
	}
	output.line(`Keryx is running; its socket is ${host.home.socketPath}`);
	await told();
	atOnceIfToldAgain();
	await host.close();
}

/** Resolves when the process is told to end. */
function told(): Promise<void> {
	return new Promise((resolve) => {
		// Keeps the process alive while nothing is going on; the gateway's timers alone do not.
		const alive = setInterval(() => {}, 1 << 30);
		const stop = () => {
			clearInterval(alive);
			resolve();
		};
		process.once("SIGTERM", stop);
		process.once("SIGINT", stop);
	});
}

/** Nothing depends on an orderly end. */
function atOnceIfToldAgain(): void {
	process.once("SIGTERM", () => process.exit(1));
	process.once("SIGINT", () => process.exit(1));
}
