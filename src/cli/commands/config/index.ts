// `keryx config`: shows, checks and changes the configuration.
// Which settings there are, and which of them hold, says src/config.
// Never here: a setting, or its default.

import type { Command } from "commander";
import type { CliContext } from "../../context.ts";
import { addGroup } from "../../io/group.ts";
import { texts } from "../../texts.ts";
import { addConfigCheck } from "./check.ts";
import { addConfigSet } from "./set.ts";
import { addConfigShow } from "./show.ts";

export function addConfig(program: Command, context: CliContext): void {
	const config = addGroup(program, "config", texts.config.about);
	addConfigCheck(config, context);
	addConfigShow(config, context);
	addConfigSet(config, context);
}
