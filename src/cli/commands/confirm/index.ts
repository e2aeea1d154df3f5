// `keryx confirm`: requests waiting for a human, and the answers.
// A file per subcommand; the running Keryx or confirmd resolves them.
// Never here: a rule about who may decide.

import type { Command } from "commander";
import type { CliContext } from "../../context.ts";
import { addGroup } from "../../io/group.ts";
import { texts } from "../../texts.ts";
import { addAudit } from "./audit.ts";
import { addApprove, addDeny } from "./decide.ts";
import { addGrants } from "./grants.ts";
import { addList } from "./list.ts";
import { addShow } from "./show.ts";

export function addConfirm(program: Command, context: CliContext): void {
	const confirm = addGroup(program, "confirm", texts.confirm.about);
	addList(confirm, context);
	addShow(confirm, context);
	addApprove(confirm, context);
	addDeny(confirm, context);
	addGrants(confirm, context);
	addAudit(confirm, context);
}
