import type { Rule } from "../types.ts";

const TOOLS: ReadonlySet<string> = new Set([
	"sudo",
	"sudoedit",
	"doas",
	"su",
	"pkexec",
	"run0",
	"runuser",
	"gosu",
	"su-exec",
	"chroot",
	"nsenter",
	"unshare",
	"setpriv",
	"sg",
	"gksudo",
	"please",
]);

export const privilegeRule: Rule = {
	name: "privilege",
	action: "run_command",
	look({ name }) {
		return TOOLS.has(name) ? { why: `runs a command with other rights (${name})` } : null;
	},
};
