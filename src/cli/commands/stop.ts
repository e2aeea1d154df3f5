// `keryx stop`: asks the Keryx that runs in this home to stop, and waits until it has. It ends in order: answers under way get their
// time (shutdown.drain_seconds), and what is left goes on at the next start.
import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { isAlive } from "../../store/index.ts";
import { running } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import { assertOutside } from "../inside.ts";

const LOOK_MS = 100;
/** Beyond the time that answers under way are given. */
const SPARE_MS = 30_000;

export function addStop(program: Command, context: CliContext): void {
	program
		.command("stop")
		.allowExcessArguments(false)
		.description("stop the Keryx that is running here")
		.addHelpText("after", EXAMPLES)
		.action(() => runStop(context));
}

const EXAMPLES = `
Keryx finishes the answers it is working on first (setting: shutdown.drain_seconds). Nothing is lost: whatever is left
continues at the next start.

Examples:
  $ keryx stop
  $ keryx stop --timeout 120

Exit codes: 0 stopped, also if it was not running, 1 failure.`;

async function runStop(context: CliContext): Promise<void> {
	const { config, output } = openConfig(context);
	assertOutside(context);
	const client = await running(context);
	if (!client) return output.json ? output.value({ stopped: null }) : output.line("Keryx is not running.");
	const { pid } = await client.health();
	const waitMs = context.timeoutMs?.() ?? config.values.shutdown.drain_seconds * 1000 + SPARE_MS;
	end(pid);
	const until = context.now() + waitMs;
	while (isAlive(pid)) {
		if (context.now() > until)
			throw new KeryxError("gateway.not_stopped", `Keryx (process ${pid}) has not stopped yet`, {
				hint: `wait a little longer; if it hangs, end it with \`kill -9 ${pid}\`: nothing is lost`,
			});
		await pause(LOOK_MS);
	}
	if (output.json) return output.value({ stopped: pid });
	output.line(`Keryx has stopped (process ${pid}).`);
}

function end(pid: number): void {
	try {
		process.kill(pid, "SIGTERM");
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		if (code === "ESRCH") return;
		throw new KeryxError(
			"gateway.not_stopped",
			`process ${pid} cannot be stopped: ${(cause as Error).message}`,
			{
				hint: "stop it as the user who started it",
				cause,
			},
		);
	}
}
