// `keryx config`: looks at the configuration.

import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { addGroup } from "../io/group.ts";
import { texts } from "../texts.ts";
import { addConfigCheck } from "./config-check.ts";
import { addConfigSet } from "./config-set.ts";
import { addConfigShow } from "./config-show.ts";

export function addConfig(program: Command, context: CliContext): void {
	const config = addGroup(program, "config", texts.config.about);
	addConfigCheck(config, context);
	addConfigShow(config, context);
	addConfigSet(config, context);
}
