import { hasLong, hasShort, isKnown, mayBeOption, names, operands } from "../field.ts";
import { shownOperand } from "../text.ts";
import type { Field, Finding, Invocation, Rule } from "../types.ts";

const REMOVERS: ReadonlySet<string> = new Set(["rm", "grm", "zf_rm", "unlink", "trash-empty"]);

export const deleteRule: Rule = {
	name: "delete",
	action: "delete_data",
	look(invocation) {
		const { name, args } = invocation;
		if (REMOVERS.has(name)) return removal(invocation);
		switch (name) {
			case "shred":
			case "srm":
			case "wipe":
				return { why: `overwrites files so that they cannot be had back: ${listed(operands(args))}` };
			case "find":
			case "gfind":
				return args.some((arg) => arg.text === "-delete")
					? { why: `deletes every file that it finds in ${listed(operands(args).slice(0, 1))}` }
					: null;
			case "rsync":
				return args.some((arg) => /^--(del|delete.*|remove-source-files)$/.test(arg.text))
					? { why: "deletes files that are not on the other side" }
					: null;
			case "rclone":
				return names(args, ["delete", "purge", "sync", "rmdirs", "deletefile", "cleanup"])
					? { why: "deletes files in remote storage" }
					: null;
			case "git":
				return cleans(args) ? { why: "deletes every file that git does not know" } : null;
			case "mv":
				return operands(args).at(-1)?.text === "/dev/null" ? { why: "moves files into nothing" } : null;
			case "rimraf":
			case "del-cli":
				return { why: `deletes a folder and all in it: ${listed(operands(args))}` };
			default:
				return null;
		}
	},
};

function removal({ args, many }: Invocation): Finding | null {
	const files = operands(args);
	if (hasShort(args, "rR") || hasLong(args, "recursive", 1))
		return { why: `deletes a folder and all in it: ${listed(files)}` };
	if (many) return { why: "deletes every file that it is given" };
	if (files.some((file) => file.splits || (mayBeOption(file) && file.from.length > 0)))
		return { why: "deletes files that cannot be seen before it runs" };
	const all = files.find((file) => file.glob && /(^|\/)[*.?]+$/.test(file.text));
	if (all) return { why: `deletes all files of a folder: ${shownOperand(all.text)}` };
	return null;
}

function cleans(args: readonly Field[]): boolean {
	if (!names(args, ["clean"])) return false;
	return (
		(hasShort(args, "f") || hasLong(args, "force", 1)) && !hasShort(args, "n") && !hasLong(args, "dry-run", 1)
	);
}

function listed(files: readonly Field[]): string {
	const shown = files
		.slice(0, 3)
		.map((file) => (isKnown(file.text) ? shownOperand(file.text) : "what cannot be seen yet"));
	if (files.length > 3) shown.push(`and ${files.length - 3} more`);
	return shown.join(", ") || "what it is given";
}
