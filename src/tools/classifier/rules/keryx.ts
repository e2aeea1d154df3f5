// Keryx's own files and commands: they could let a program answer its own confirmations. A program of the same user can reach these files, so
// even naming them needs approval.
import { baseName, isKnown } from "../field.ts";
import { absolutePath, isKeryxPath, isKeryxProgram } from "../files/paths.ts";
import { fileUse } from "../files/use.ts";
import { optionValues, subcommands } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { CommandFacts, Field, Invocation, Rule } from "../types.ts";

/** Commands of keryx that only tell. */
const TELLING = /^(doctor|ps|why|explain|version|--version|-V|help|--help|-h|completion)$/;
/** Subcommands that only Keryx has, after any program name. */
const ORDERS = /^(confirm|token|link|confirmd)$/;
const ANSWERS = /\/confirm\/[^/\s"']+\/(approve|deny)/;
/** Keryx's usual ports. Anybody may ask for its health. */
const PORTS =
	/(?:^|\/\/|@|\s)(?:localhost|127(?:\.\d{1,3}){1,3}|0\.0\.0\.0|\[::1?\]|)(?::771[67])(?!\d)(?!\/health\b)/;
const NAMED = /(^|[/\s"'=:@,(`~])\.keryx($|[/\s"':,)`])|\bKERYX_HOME\b/;
/** The same file by any path: the published program, and the one in the sources. */
const PROGRAM = /(^|\/)(keryx(d|\.m?js|\.cmd)?|(dist|src)\/cli\/main\.[jt]s)$/i;
const STARTERS =
	/^(node|nodejs|bun|deno|npx|bunx|pnpx|tsx|ts-node|exec|run|x|dlx|yarn|pnpm|start|npm:keryx.*|-y|--yes|--)$/;

export const keryxRule: Rule = {
	class: "keryx",
	action: "modify_permissions",
	look(invocation, facts) {
		const set = invocation.sets.find(({ name }) => name.startsWith("KERYX_"));
		if (set) return { why: `sets a variable of Keryx: ${shownOperand(set.name)}` };
		if (commands(invocation)) return { why: "controls Keryx itself" };
		if (usesProgram(invocation, facts)) return { why: "runs or changes Keryx's own program" };
		const texts = [
			...invocation.args.map((arg) => arg.text),
			...invocation.redirections.map(({ target }) => target.text),
			...invocation.sets.map(({ value }) => value.text),
			...(invocation.stdin.kind === "text" ? [invocation.stdin.text] : []),
			...(invocation.stdin.kind === "file" ? [invocation.stdin.path.text] : []),
			invocation.path,
		];
		if (texts.some((text) => namesHome(text, invocation.cwd, facts)))
			return { why: "touches Keryx's own folder" };
		if (texts.some((text) => ANSWERS.test(unescaped(text)))) return { why: "answers a confirmation" };
		return /^(curl|wget2?|http|https|xh|nc|ncat|telnet|socat)$/.test(invocation.name) &&
			texts.some((text) => PORTS.test(text))
			? { why: "calls Keryx's own port" }
			: null;
	},
};

/** As a server decodes a path; twice, because something in between may, too. */
function unescaped(text: string): string {
	const once = (escaped: string) =>
		escaped.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	return once(once(text));
}

function commands({ path, args }: Invocation): boolean {
	const words = [path, ...args.map((arg) => arg.text)];
	const at = words.findIndex((word) => PROGRAM.test(word.replace(/^npm:/, "").replace(/(.)@[\w.-]+$/, "$1")));
	if (at < 0) return false;
	const rest = args.slice(at);
	const tails = subcommands(rest);
	const ordered = tails.some(([verb = ""]) => ORDERS.test(verb));
	// Elsewhere the word is only a word, unless a program is started by it.
	const before = baseName(words[at - 1] ?? "");
	const named = /^keryx(d|\.m?js|\.cmd)?$/i.test(baseName(words[at] ?? "").replace(/@.*$/, ""));
	const started = at === 0 || STARTERS.test(before) || /\.m?js$/.test(words[at] ?? "");
	if (!started && !ordered) return false;
	if (!named) return ordered;
	const [first] = rest;
	if (!first || TELLING.test(first.text)) return false;
	if (tails.some(([verb, next]) => verb === "config" && (next === "show" || next === "check"))) return false;
	return (
		!tails.every(([verb]) => verb !== undefined && isKnown(verb) && TELLING.test(verb)) || tails.length === 0
	);
}

/** Reading its documents is fine; starting, changing or building it is not. */
function usesProgram(invocation: Invocation, facts: CommandFacts): boolean {
	const { name, path, args, cwd } = invocation;
	const inside = (text: string): boolean => {
		const at = absolutePath(text, cwd);
		return at !== null && isKeryxProgram(at, facts);
	};
	if (path.includes("/") && inside(path)) return true;
	const { writes, maybe } = fileUse(invocation);
	if (writes.some(({ text }) => inside(text))) return true;
	const builds = /^(npm|pnpm|yarn|bun|npx|node|nodejs|deno|tsx|ts-node|make|gmake|cmake|git)$/.test(name);
	const folders: Field[] = optionValues(
		args,
		"-C",
		"--prefix",
		"--cwd",
		"--dir",
		"--directory",
		"--import",
		"--require",
		"-r",
	);
	if (builds && name !== "git" && cwd !== null && isKeryxProgram(cwd, facts)) return true;
	if (folders.some(({ text }) => inside(text)) && builds) return true;
	return maybe.some(({ text }) => /^[/.]/.test(text) && inside(text));
}

function namesHome(text: string, cwd: string | null, facts: CommandFacts): boolean {
	if (text === "") return false;
	if (NAMED.test(text)) return true;
	const home = facts.keryxHome.replace(/\/+$/, "");
	const inside = facts.cwd !== home && facts.cwd.startsWith(`${home}/`);
	if (home.length > 1 && text.includes(home) && !(inside && text.includes(facts.cwd))) return true;
	const equals = Math.max(text.lastIndexOf("="), text.lastIndexOf("@"));
	for (const candidate of new Set([text, text.slice(equals + 1), ...text.split(":").slice(0, 8)])) {
		if (candidate === "" || /\s/.test(candidate)) continue;
		if (!/[/.~*?[]/.test(candidate)) continue;
		const path = absolutePath(candidate, cwd);
		if (path !== null && path !== "/" && isKeryxPath(path, facts)) return true;
	}
	return false;
}
