// `keryx sessions`: list, search, export, import and resume sessions.
// A file per subcommand.
// Never here: a query of the store.

import type { Command } from "commander";
import type { CliContext } from "../../context.ts";
import { addGroup } from "../../io/group.ts";
import { addExport } from "./export.ts";
import { addImport } from "./import.ts";
import { addList } from "./list.ts";
import { addPuttingAway } from "./put-away.ts";
import { addResume } from "./resume.ts";
import { addSearch } from "./search.ts";
import { addShow } from "./show.ts";
import { addTitle } from "./title.ts";

export function addSessions(program: Command, context: CliContext): void {
	const sessions = addGroup(
		program,
		"sessions",
		"list, read, search, export, import, resume, name, archive, delete",
	);
	addList(sessions, context);
	addShow(sessions, context);
	addSearch(sessions, context);
	addExport(sessions, context);
	addImport(sessions, context);
	addResume(sessions, context);
	addTitle(sessions, context);
	addPuttingAway(sessions, context);
}
