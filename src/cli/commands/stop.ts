// `keryx stop`: asks the running Keryx to stop, and waits. It stops cleanly: running answers get their time (shutdown.drain_seconds), and
// the rest continues at the next start.

import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { isAlive } from "../../store/index.ts";
import { running } from "../connect.ts";
import { type CliContext, openConfig } from "../context.ts";
import { assertOutside } from "../inside.ts";
import { texts } from "../texts.ts";

const LOOK_MS = 100;
/** In addition to the time for running answers. */
const SPARE_MS = 30_000;

export function addStop(program: Command, context: CliContext): void {
	program
		.command("stop")
		.allowExcessArguments(false)
		.description(texts.stop.about)
		.addHelpText("after", EXAMPLES)
		.action(() => runStop(context));
}

const EXAMPLES = texts.stop.help;

async function runStop(context: CliContext): Promise<void> {
	const { config, output } = openConfig(context);
	assertOutside(context);
	const client = await running(context);
	if (!client) return output.json ? output.value({ stopped: null }) : output.line(texts.stop.notRunning);
	const { pid } = await client.health();
	const waitMs = context.timeoutMs?.() ?? config.values.shutdown.drain_seconds * 1000 + SPARE_MS;
	end(pid);
	const until = context.now() + waitMs;
	while (isAlive(pid)) {
		if (context.now() > until)
			throw new KeryxError("gateway.not_stopped", texts.stop.notYet(pid), {
				hint: texts.stop.notYetHint(pid),
			});
		await pause(LOOK_MS);
	}
	if (output.json) return output.value({ stopped: pid });
	output.line(texts.stop.done(pid));
}

function end(pid: number): void {
	try {
		process.kill(pid, "SIGTERM");
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		if (code === "ESRCH") return;
		throw new KeryxError("gateway.not_stopped", texts.stop.refused(pid, (cause as Error).message), {
			hint: texts.stop.refusedHint,
			cause,
		});
	}
}
