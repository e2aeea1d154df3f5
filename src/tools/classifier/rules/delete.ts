// Commands that delete files or overwrite them beyond recovery.
import { isDark, isKnown } from "../field.ts";
import { absolutePath, isWithin } from "../files/paths.ts";
import { hasLong, hasShort, names, operands } from "../options.ts";
import { BELOW, shownOperand } from "../text.ts";
import type { CommandFacts, Field, Finding, Invocation, Rule } from "../types.ts";

const REMOVERS: ReadonlySet<string> = new Set(["rm", "grm", "zf_rm", "unlink", "trash", "trash-put"]);

export const deleteRule: Rule = {
	class: "delete",
	action: "delete_data",
	look(invocation, facts) {
		const { name, args } = invocation;
		if (REMOVERS.has(name)) return removal(invocation);
		switch (name) {
			case "shred":
			case "srm":
			case "wipe":
				return { why: `overwrites files beyond recovery: ${listed(operands(args))}` };
			case "find":
			case "gfind":
			case "bfs":
				return args.some((arg) => arg.text === "-delete")
					? { why: `deletes every file it finds in ${listed(operands(args).slice(0, 1))}` }
					: null;
			case "rsync":
				return args.some((arg) => /^--(del|delete.*|remove-source-files)$/.test(arg.text))
					? { why: "deletes files that the source does not have" }
					: null;
			case "rclone":
				return names(args, ["delete", "purge", "sync", "rmdirs", "deletefile", "cleanup", "move", "moveto"])
					? { why: "deletes files in remote storage" }
					: null;
			case "git":
				return gitDeletes(args);
			case "mv":
			case "gmv":
				return movedAway(invocation, facts);
			case "truncate":
				return emptied(invocation);
			case "tar":
			case "gtar":
			case "bsdtar":
				return hasLong(args, "remove-files", 6) ? { why: "deletes the files it packs" } : null;
			case "zip":
				return hasShort(args, "m") || hasLong(args, "move") ? { why: "deletes the files it packs" } : null;
			case "7z":
			case "7za":
				return args.some((arg) => arg.text === "-sdel") ? { why: "deletes the files it packs" } : null;
			case "gio":
				return names(args, ["trash", "remove"]) ? { why: "deletes files" } : null;
			case "rimraf":
			case "del-cli":
			case "trash-empty":
			case "nix-collect-garbage":
				return { why: `deletes a folder and everything in it: ${listed(operands(args))}` };
			default:
				return null;
		}
	},
};

function removal({ args, many }: Invocation): Finding | null {
	const files = operands(args);
	if (hasShort(args, "rR") || hasLong(args, "recursive", 1))
		return { why: `deletes a folder and everything in it: ${listed(files)}` };
	if (many) return { why: "deletes every file it is given" };
	if (files.some((file) => file.splits || isDark(file.text) || file.text.includes(BELOW)))
		return { why: "deletes files that cannot be checked before it runs" };
	const all = files.find((file) => file.glob && /(^|\/)[*.?]+$/.test(file.text));
	if (all) return { why: `deletes all files in a folder: ${shownOperand(all.text)}` };
	return null;
}

function gitDeletes(args: readonly Field[]): Finding | null {
	const forced = hasShort(args, "f") || hasLong(args, "force", 1);
	if (names(args, ["clean"]) && forced && !hasShort(args, "n") && !hasLong(args, "dry-run", 1))
		return { why: "deletes every file that git does not track" };
	if (names(args, ["worktree remove"]) && forced) return { why: "deletes a folder and everything in it" };
	if (
		!names(args, ["rm"]) ||
		hasLong(args, "cached", 1) ||
		hasShort(args, "n") ||
		hasLong(args, "dry-run", 1)
	)
		return null;
	return forced || hasShort(args, "r") ? { why: "deletes a folder, or files with changes in them" } : null;
}

/** Into nothing, or the folder itself that the command works in. */
function movedAway({ args, cwd }: Invocation, facts: CommandFacts): Finding | null {
	const given = operands(args);
	if (given.at(-1)?.text === "/dev/null") return { why: "moves files to nowhere" };
	const away = given.slice(0, -1).find(({ text }) => {
		const path = isKnown(text) ? absolutePath(text, cwd) : null;
		return path !== null && (isWithin(facts.cwd, path) || isWithin(facts.home, path));
	});
	return away ? { why: `moves its own working folder away: ${shownOperand(away.text)}` } : null;
}

function emptied({ args, many }: Invocation): Finding | null {
	const all = operands(args).some((file) => file.glob && /(^|\/)[*.?]+$/.test(file.text));
	return many || all ? { why: "empties every file it is given" } : null;
}

function listed(files: readonly Field[]): string {
	const shown = files
		.slice(0, 3)
		.map((file) => (isKnown(file.text) ? shownOperand(file.text) : "something that is not known yet"));
	if (files.length > 3) shown.push(`and ${files.length - 3} more`);
	return shown.join(", ") || "whatever it is given";
}
