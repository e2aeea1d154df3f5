import { hasShort, isKnown, names, operands } from "../field.ts";
import { absolutePath, isWithin } from "../paths.ts";
import { writtenPaths } from "../targets.ts";
import { shownOperand } from "../text.ts";
import type { CommandFacts, Rule } from "../types.ts";

/** What runs later by itself, in the user's home. */
const IN_HOME =
	/^\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|inputrc|xinitrc|xsession|xprofile|vimrc|gitconfig|npmrc|ssh\/.*|vim\/.*|config\/(fish|autostart|systemd|git|nvim|environment\.d)(\/.*)?|local\/(bin|share\/systemd)(\/.*)?)$|^Library\/LaunchAgents/;
const ANYWHERE =
	/\/\.git\/(hooks(\/|$)|config$)|^\/etc\/(cron|systemd|init|profile|rc|ld\.so|pam|ssh|xdg|environment|bash|zsh|crontab|anacrontab|update-motd)|^\/var\/spool\/(cron|at)|^\/(usr\/)?lib\/systemd|^\/Library\/Launch|\/\.envrc$/;

const ENABLERS: ReadonlyMap<string, readonly string[]> = new Map([
	[
		"systemctl",
		[
			"enable",
			"link",
			"edit",
			"set-default",
			"preset",
			"unmask",
			"set-property",
			"start",
			"daemon-reload",
			"import-environment",
		],
	],
	["launchctl", ["load", "bootstrap", "enable", "submit", "setenv", "start", "kickstart"]],
	["loginctl", ["enable-linger"]],
	["update-rc.d", []],
	["rc-update", ["add"]],
	["pm2", ["startup", "save"]],
	["brew", ["services start"]],
]);

export const persistenceRule: Rule = {
	name: "persistence",
	action: "run_command",
	look(invocation, facts) {
		const { name, args } = invocation;
		if (name === "crontab" && !(hasShort(args, "l") && operands(args).length === 0))
			return { why: "changes what runs by the clock" };
		if (/^(at|batch|systemd-run|update-rc\.d|chkconfig|schtasks|sched)$/.test(name) && !hasShort(args, "l"))
			return { why: "has a command run later or on its own" };
		if (names(args, ENABLERS.get(name) ?? [])) return { why: "has a service run on its own" };
		const path = writtenPaths(invocation).find((field) => startsLater(field.text, invocation.cwd, facts));
		return path ? { why: `writes a file that runs later by itself: ${shownOperand(path.text)}` } : null;
	},
};

function startsLater(text: string, cwd: string | null, facts: CommandFacts): boolean {
	const path = absolutePath(text, cwd) ?? text;
	if (ANYWHERE.test(path)) return true;
	if (isWithin(path, facts.home)) return IN_HOME.test(path.slice(facts.home.replace(/\/+$/, "").length + 1));
	// In a folder that is not known, the usual names count.
	return (
		(cwd === null || !isKnown(text) || /^~/.test(text)) && IN_HOME.test(text.replace(/^.*?(?=\.\w)/, ""))
	);
}
