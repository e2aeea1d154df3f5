// Options and words by which git hands a line to the shell.
import { operands } from "../options.ts";
import type { Field, Invocation } from "../types.ts";
import type { Inner } from "./inner.ts";
import { joined, scriptOf, unseen } from "./shells.ts";

const ATTACHED =
	/^--(exec|extcmd|upload-pack|receive-pack|open-files-in-pager|sendmail-cmd|to-cmd|cc-cmd|header-cmd|httpd|browser|tool)=/;
const SEPARATE = /^--(extcmd|upload-pack|receive-pack|sendmail-cmd|exec|httpd)$|^-[xu]$/;

export function gitInner({ args }: Invocation): Inner[] {
	const lines: Field[] = [];
	const words = operands(args).map((arg) => arg.text);
	for (const [index, arg] of args.entries()) {
		const next = args[index + 1];
		const { text } = arg;
		if (/^-x./.test(text) && words.includes("rebase")) lines.push({ ...arg, text: text.slice(2) });
		if (ATTACHED.test(text) && !/^--tool=[\w-]+$/.test(text))
			lines.push({ ...arg, text: text.replace(/^[^=]*=/, "") });
		if (SEPARATE.test(text) && next && takesCommand(text, words)) lines.push(next);
		if (words.includes("grep") && /^(-O|--open-files-in-pager)/.test(text)) {
			const pager = text.replace(/^-O|^--open-files-in-pager=?/, "");
			return [
				...(pager === "" ? [] : [scriptOf({ ...arg, text: pager })]),
				unseen([], "opens each file that it finds with a program"),
			];
		}
	}
	const each = args.findIndex((arg) => arg.text === "foreach");
	if (each > 0 && args[each - 1]?.text === "submodule")
		lines.push(joined(args.slice(each + 1).filter((arg) => arg.text !== "--recursive")));
	return lines.filter((line) => line.text !== "").map((line) => scriptOf(line));
}

function takesCommand(option: string, words: readonly string[]): boolean {
	const has = (...verbs: readonly string[]): boolean => verbs.some((verb) => words.includes(verb));
	if (option === "-u") return has("clone");
	if (option === "-x") return has("rebase", "difftool");
	return option !== "--exec" || has("rebase", "difftool", "archive", "push", "send-pack");
}
