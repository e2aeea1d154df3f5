// Keryx's own: what could let a program answer its own confirmations. A program of the same user can reach these files, so
// naming them at all is asked about.
import { baseName, isKnown, subcommands } from "../field.ts";
import { absolutePath, isKeryxPath } from "../paths.ts";
import { shownOperand } from "../text.ts";
import type { CommandFacts, Invocation, Rule } from "../types.ts";

/** Commands of keryx that only tell. */
const TELLING = /^(doctor|ps|why|explain|version|--version|-V|help|--help|-h|completion)$/;
const ANSWERS = /\/confirm\/[^/\s"']+\/(approve|deny)/;
const NAMED = /(^|[/\s"'=:@,(`~])\.keryx($|[/\s"':,)`])|\bKERYX_HOME\b/;

export const keryxRule: Rule = {
	name: "keryx",
	action: "modify_permissions",
	look(invocation, facts) {
		const set = invocation.sets.find(({ name }) => name.startsWith("KERYX_"));
		if (set) return { why: `sets a variable of Keryx: ${shownOperand(set.name)}` };
		if (commands(invocation)) return { why: "gives orders to Keryx itself" };
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
		return texts.some((text) => ANSWERS.test(unescaped(text))) ? { why: "answers a confirmation" } : null;
	},
};

/** As a server reads a path; twice, as something in between may. */
function unescaped(text: string): string {
	const once = (escaped: string) =>
		escaped.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	return once(once(text));
}

function commands({ path, args }: Invocation): boolean {
	const words = [path, ...args.map((arg) => arg.text)];
	const at = words.findIndex((word) => /^keryx(d|\.m?js|\.cmd)?$/i.test(baseName(word)));
	if (at < 0) return false;
	// Elsewhere the word is only a word, unless a program is started by it.
	if (
		at > 0 &&
		!/^(node|nodejs|bun|deno|npx|bunx|tsx|exec|run|x|dlx)$/.test(baseName(words[at - 1] ?? "")) &&
		!/\.m?js$/.test(words[at] ?? "")
	)
		return false;
	const rest = args.slice(at);
	const [first] = rest;
	if (!first) return false;
	if (TELLING.test(first.text)) return false;
	const tails = subcommands(rest);
	if (tails.some(([verb, next]) => verb === "config" && (next === "show" || next === "check"))) return false;
	return (
		!tails.every(([verb]) => verb !== undefined && isKnown(verb) && TELLING.test(verb)) || tails.length === 0
	);
}

function namesHome(text: string, cwd: string | null, facts: CommandFacts): boolean {
	if (text === "") return false;
	if (NAMED.test(text)) return true;
	const home = facts.keryxHome.replace(/\/+$/, "");
	const inside = facts.cwd !== home && facts.cwd.startsWith(`${home}/`);
	if (home.length > 1 && text.includes(home) && !(inside && text.includes(facts.cwd))) return true;
	for (const candidate of new Set([text, text.replace(/^.*[=@]/s, ""), text.replace(/^[^/]*:/, "")])) {
		if (candidate === "" || /\s/.test(candidate)) continue;
		const path = absolutePath(candidate, cwd);
		if (path !== null && path !== "/" && /[/.~*?[]/.test(candidate) && isKeryxPath(path, facts)) return true;
	}
	return false;
}
