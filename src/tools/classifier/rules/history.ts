// Git commands that rewrite or drop history, or discard uncommitted work.
import { hasLong, hasShort, names, operands, optionTexts } from "../options.ts";
import type { Field, Rule } from "../types.ts";

const REWRITES: readonly string[] = [
	"filter-branch",
	"filter-repo",
	"reflog expire",
	"reflog delete",
	"stash drop",
	"stash clear",
	"update-ref",
	"replace",
	"prune",
	"fast-import",
	"worktree prune",
];

export const historyRule: Rule = {
	class: "history",
	action: "run_command",
	look({ name, args }) {
		if (name === "bfg" || name === "git-filter-repo") return { why: "rewrites the history of a repository" };
		if (name !== "git") return null;
		if (names(args, ["push"]))
			return pushes(args) ? { why: "overwrites or deletes shared history in a repository" } : null;
		if (names(args, REWRITES)) return { why: "rewrites or drops parts of a repository's history" };
		if (names(args, ["gc"]) && hasLong(args, "prune"))
			return { why: "drops commits that only the reflog still has" };
		if (names(args, ["reset"]) && (hasLong(args, "hard", 1) || hasLong(args, "merge", 2)))
			return { why: "discards uncommitted changes" };
		if (names(args, ["branch"]) && deletesUnmerged(args)) return { why: "force-deletes a branch" };
		return discards(args) ? { why: "discards uncommitted changes" } : null;
	},
};

function pushes(args: readonly Field[]): boolean {
	const flags = optionTexts(args);
	if (flags.includes("-n") || flags.includes("--dry-run")) return false;
	if (hasShort(args, "fd")) return true;
	if (flags.some((flag) => /^--(f(o(r(c(e.*)?)?)?)?|m(i(r(r(or?)?)?)?)?|del.*|prune)$/.test(flag)))
		return true;
	return operands(args).some((arg) => /^\+|^:./.test(arg.text));
}

function deletesUnmerged(args: readonly Field[]): boolean {
	if (hasShort(args, "D")) return true;
	const forced = hasShort(args, "f") || hasLong(args, "force", 1);
	return forced && !hasShort(args, "mM");
}

/** checkout, restore and switch over whole folders, or by force. */
function discards(args: readonly Field[]): boolean {
	const whole = operands(args).some((arg) => /^(\.|\.\/|:\/|:|\*|\.\.)$/.test(arg.text));
	if (names(args, ["checkout"])) return whole || hasShort(args, "f") || hasLong(args, "force", 1);
	if (names(args, ["switch"]))
		return hasShort(args, "f") || hasLong(args, "force", 2) || hasLong(args, "discard-changes");
	if (names(args, ["restore"])) return whole && !(hasLong(args, "staged") && !hasLong(args, "worktree"));
	return false;
}
