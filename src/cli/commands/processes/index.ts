// `keryx ps`, `logs`, `attach` and `kill`: the programs that the agent started, for the user of this machine.
import type { Command } from "commander";
import type { CliContext } from "../../context.ts";
import { addAttach } from "./attach.ts";
import { addKill } from "./kill.ts";
import { addLogs } from "./logs.ts";
import { addPs } from "./ps.ts";

export function addProcesses(program: Command, context: CliContext): void {
	addPs(program, context);
	addLogs(program, context);
	addAttach(program, context);
	addKill(program, context);
}
