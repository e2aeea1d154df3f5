// Commands that write to system folders.
import { absolutePath } from "../files/paths.ts";
import { isSystemPath } from "../files/system.ts";
import { fileUse } from "../files/use.ts";
import { shownOperand } from "../text.ts";
import type { Rule } from "../types.ts";

export const systemRule: Rule = {
	class: "system",
	action: "run_command",
	look(invocation, facts) {
		for (const field of fileUse(invocation).writes) {
			const path = absolutePath(field.text, invocation.cwd);
			if (path !== null && isSystemPath(path, facts))
				return { why: `writes to a system folder: ${shownOperand(path)}` };
		}
		return null;
	},
};
