// `keryx checkpoints`: snapshots of a conversation's folder, and restores.
// A file per subcommand; the running Keryx does the work.
// Never here: reading or writing a file of the agent.

import type { Command } from "commander";
import type { CliContext } from "../../context.ts";
import { addGroup } from "../../io/group.ts";
import { texts } from "../../texts.ts";
import { addDiff } from "./diff.ts";
import { addList } from "./list.ts";
import { addRestore } from "./restore.ts";

export function addCheckpoints(program: Command, context: CliContext): void {
	const checkpoints = addGroup(program, "checkpoints", texts.checkpoints.about);
	addList(checkpoints, context);
	addDiff(checkpoints, context);
	addRestore(checkpoints, context);
}
