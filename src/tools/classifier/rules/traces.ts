// Commands that remove records of what was done: shell history and logs.
import { absolutePath } from "../files/paths.ts";
import { fileUse } from "../files/use.ts";
import { hasShort, operands } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { Rule } from "../types.ts";

const RECORDS =
	/\.(bash|zsh|sh|python|psql|mysql|node_repl|lesshst)_?history$|^\/var\/log(\/|$)|\/(wtmp|btmp|utmp|lastlog)$/;
const VARIABLES = /^HIST(FILE|SIZE|FILESIZE|CONTROL|IGNORE)$|^SAVEHIST$/;

export const tracesRule: Rule = {
	class: "traces",
	action: "run_command",
	look(invocation) {
		const { name, args, sets } = invocation;
		const why = "removes records of what was done";
		if (name === "history" && hasShort(args, "cdwr")) return { why };
		if (name === "fc" && hasShort(args, "pWR")) return { why };
		if (name === "unset" && operands(args).some((arg) => VARIABLES.test(arg.text))) return { why };
		if (name === "set" && args.some((arg, index) => arg.text === "+o" && args[index + 1]?.text === "history"))
			return { why };
		if (sets.some((set) => VARIABLES.test(set.name))) return { why };
		if (name === "journalctl" && args.some((arg) => /^--(vacuum|rotate|flush)/.test(arg.text)))
			return { why };
		if (name === "dmesg" && (hasShort(args, "cC") || args.some((arg) => /^--(read-)?clear$/.test(arg.text))))
			return { why };
		if (name === "logrotate" && hasShort(args, "f")) return { why };
		if (/^(auditctl|wevtutil|utmpdump)$/.test(name)) return { why };
		const path = fileUse(invocation).writes.find((field) =>
			RECORDS.test(absolutePath(field.text, invocation.cwd) ?? field.text),
		);
		return path ? { why: `${why}: ${shownOperand(path.text)}` } : null;
	},
};
