// The closed table of rules. Each looks at one invocation.
// The order is the order of the reasons.
// Never here: parsing: a rule sees words, not text.

import type { Rule } from "../types.ts";
import { codeRule } from "./code.ts";
import { credentialsRule } from "./credentials.ts";
import { databaseRule } from "./database.ts";
import { deleteRule } from "./delete.ts";
import { diskRule } from "./disk.ts";
import { environmentRule } from "./environment.ts";
import { historyRule } from "./history.ts";
import { infrastructureRule } from "./infrastructure.ts";
import { keryxRule } from "./keryx.ts";
import { networkRule } from "./network.ts";
import { packagesRule } from "./packages.ts";
import { permissionsRule } from "./permissions.ts";
import { persistenceRule } from "./persistence.ts";
import { privilegeRule } from "./privilege.ts";
import { publishRule } from "./publish.ts";
import { remoteRule } from "./remote.ts";
import { stopRule } from "./stop.ts";
import { systemRule } from "./system.ts";
import { tracesRule } from "./traces.ts";
import { unseenRule } from "./unseen.ts";
import { uploadRule } from "./upload.ts";

export const RULES: readonly Rule[] = [
	keryxRule,
	deleteRule,
	diskRule,
	databaseRule,
	permissionsRule,
	stopRule,
	historyRule,
	publishRule,
	credentialsRule,
	remoteRule,
	uploadRule,
	infrastructureRule,
	persistenceRule,
	systemRule,
	tracesRule,
	networkRule,
	packagesRule,
	environmentRule,
	codeRule,
	privilegeRule,
	unseenRule,
];
