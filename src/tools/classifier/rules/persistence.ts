// Commands that make something run later: services, timers, startup files.
import { baseName, isKnown } from "../field.ts";
import { mayRunLater, runsLater } from "../files/later.ts";
import { absolutePath } from "../files/paths.ts";
import { fileUse } from "../files/use.ts";
import { hasShort, names, operands } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { CommandFacts, Field, Invocation, Rule } from "../types.ts";

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
	["direnv", ["allow", "permit", "grant"]],
]);

export const persistenceRule: Rule = {
	class: "persistence",
	action: "run_command",
	look(invocation, facts) {
		const { name, args } = invocation;
		if (name === "crontab" && !(hasShort(args, "l") && operands(args).length === 0))
			return { why: "changes scheduled jobs" };
		if (/^(at|batch|systemd-run|update-rc\.d|chkconfig|schtasks|sched)$/.test(name) && !hasShort(args, "l"))
			return { why: "schedules a command to run later or automatically" };
		if (names(args, ENABLERS.get(name) ?? [])) return { why: "makes a service run automatically" };
		const written = [...fileUse(invocation).writes, ...copies(invocation)];
		const path = written.find((field) => startsLater(field.text, invocation.cwd, facts));
		return path ? { why: `writes a file that runs automatically later: ${shownOperand(path.text)}` } : null;
	},
};

/** A copy into a folder keeps its name; a whole folder brings unseen names. */
function copies({ name, args }: Invocation): Field[] {
	if (!/^(g?cp|g?mv|ln|g?install|rsync|ditto)$/.test(name)) return [];
	const given = operands(args);
	const target = given.at(-1);
	if (!target || given.length < 2) return [];
	const folder = target.text.replace(/\/+$/, "");
	// Through a link, the file itself is written.
	const links =
		name === "ln" ||
		args.some(({ text }) => /^-[a-z]*[ls]|^--(link|symbolic-link)$/.test(text) && name === "cp");
	if (links) return given;
	return given.slice(0, -1).map((source) => {
		const whole = /(^|\/)\.?\/?$|\/$/.test(source.text);
		return { ...target, text: `${folder}/${whole ? ".profile" : baseName(source.text)}` };
	});
}

function startsLater(text: string, cwd: string | null, facts: CommandFacts): boolean {
	const path = absolutePath(text, cwd) ?? text;
	if (runsLater(path, facts)) return true;
	return (cwd === null || !isKnown(text)) && mayRunLater(text);
}
