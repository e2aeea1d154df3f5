// Whether an invocation only reads. A closed list: anything else changes things. A wrong yes is a hole in readonly mode.
// So an option not known to be safe, or an unseen word where options may be, is a no.
// Never here: a reason why something is dangerous: those are the rules.

import { mayBeOption } from "../field.ts";
import { SHELLS } from "../launch/index.ts";
import { operands } from "../options.ts";
import type { Field, Invocation, Redirection } from "../types.ts";
import { COMMANDS } from "./commands.ts";
import { gitReads } from "./git.ts";
import { awkReads, sedReads } from "./programs.ts";

const OPEN_DEVICES = /^\/dev\/(null|stdout|stderr|stdin|tty|zero|random|urandom|fd\/.*)$/;
const LANGUAGE =
	/^(LC_\w+|LANG|LANGUAGE|TZ|NO_COLOR|CLICOLOR|COLUMNS|LINES|GREP_COLORS?|GIT_PAGER|PAGER|GIT_OPTIONAL_LOCKS|IFS)$/;
/** They run only what is judged on its own. */
const PREFIXES: ReadonlySet<string> = new Set([
	"timeout",
	"gtimeout",
	"nice",
	"stdbuf",
	"command",
	"builtin",
	"eval",
	"noglob",
	"xargs",
]);
/** Tools that tell their version without running anything that a project brings along. */
const VERSIONED =
	/^(node|npm|python|python3|pip|pip3|ruby|java|javac|gcc|clang|make|cmake|docker|git|php|perl|bash|zsh|curl|jq|rg|sqlite3|psql|kubectl|terraform) (--version)$|^(node|npm|git) -v$|^(python|python3|pip|curl|rg) -V$|^(docker|kubectl|terraform) version$/;

export function isHarmless(invocation: Invocation): boolean {
	const { name, path, args, redirections, sets } = invocation;
	if (!redirections.every(onlyReads)) return false;
	if (!sets.every((set) => LANGUAGE.test(set.name) || (name === "" && isOwnVariable(set.name)))) return false;
	if (name === "") return true;
	if (path !== name && !/^(\/usr(\/local)?)?\/s?bin\/[^/]+$/.test(path)) return false;
	if (args.some(namesDevice)) return false;
	if (name === "git") return gitReads(args);
	if (/^g?sed$/.test(name)) return sedReads(args);
	if (/^[gmn]?awk$/.test(name)) return awkReads(args);
	if (SHELLS.has(name)) return /^-[lec]*c$/.test(args[0]?.text ?? "");
	if (PREFIXES.has(name)) return prefixReads(name, args);
	if (args.length === 1 && VERSIONED.test(`${name} ${args[0]?.text}`)) return true;
	return COMMANDS.get(name)?.(args) ?? false;
}

/** A variable of the command itself, which no program looks at. */
function isOwnVariable(name: string): boolean {
	return (
		/^([a-z_][a-z0-9_]*|[A-Z])$/.test(name) && !/_?proxy$|^(path|prompt|status|argv)$|^npm_|^git_/.test(name)
	);
}

function onlyReads({ operator, target }: Redirection): boolean {
	if (operator === "<") return !namesDevice(target);
	if (/^[<>]&$/.test(operator)) return /^(\d+-?|-)$/.test(target.text);
	return operator !== "<>" && /^\/dev\/(null|stdout|stderr)$/.test(target.text);
}

function namesDevice({ text }: Field): boolean {
	return /(^|=|@)\/+dev\/+/.test(text) && !OPEN_DEVICES.test(text.replace(/^[^/]*=/, ""));
}

function prefixReads(name: string, args: readonly Field[]): boolean {
	if (name === "eval") return true;
	const [first] = operands(args);
	// Anything but an operand must be a visible option.
	if (args.some((arg) => mayBeOption(arg) && arg === first)) return false;
	if (name === "xargs")
		return first !== undefined && !args.some((arg) => /^(-a|--arg-file|-p|-o)/.test(arg.text));
	return first !== undefined;
}
