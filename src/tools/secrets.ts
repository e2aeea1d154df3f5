// Guards I12 for commands: a secret is written as ${secret:NAME} wherever the command is stored, shown or asked about, and reaches the
// shell as an environment variable. So the process list does not show it, unless the command passes it to another program as an argument.

export interface WithSecrets {
	readonly command: string;
	readonly env: Readonly<Record<string, string>>;
}

const PLACEHOLDER = /\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}/g;

const HEREDOC = /<<-?\s*[\w'"\\]/;

/**
 * Whether `***` stands where a shell would take it for a pattern, which means every name. It is what someone sees who may not see a
 * secret's name, and so a model may repeat it: nobody means all files by it.
 */
export function hasMask(command: string): boolean {
	// Not every shell knows $'...'.
	return [true, false].some((knowsAnsi) => unquoted(command, knowsAnsi).includes("***"));
}

/** A here-document's beginning; not a here-string. */
const HERE = /^<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([^\s;&|()<>'"\\`]+))/;

/** What is outside of quotes and here-documents, also in a command inside of them; without comments, whose quotes are none. */
function unquoted(command: string, knowsAnsi: boolean): string {
	let text = "";
	const outer: { readonly by: "(" | "`"; readonly at: number; readonly quotes: Quotes | "ansi" }[] = [];
	const bodies: RegExp[] = [];
	let quotes: Quotes | "ansi" = "none";
	const isArithmetic = () => outer.some(({ at }, n) => outer[n + 1]?.at === at + 1);
	for (let at = 0; at < command.length; ) {
		const character = command.charAt(at);
		const taken = character === "\\" && quotes !== "single" ? command.slice(at, at + 2) : character;
		const before = command.charAt(at - 1);
		if (taken === "\\\n") {
			at += 2;
			continue;
		}
		if (taken === "#" && quotes === "none" && /^[\s;&|()]?$/.test(before)) {
			const end = command.indexOf("\n", at);
			at = end < 0 ? command.length : end;
			continue;
		}
		if (taken === "\n" && quotes === "none" && bodies.length > 0) {
			for (const end of bodies.splice(0)) {
				const found = end.exec(command.slice(at));
				const body = command.slice(at, found ? at + found.index : undefined);
				// It is text, but for the commands in it.
				text += `\n${unquoted(`"${body.replaceAll('"', " ")}"`, knowsAnsi)}`;
				at = found ? at + found.index + found[0].length : command.length;
			}
			continue;
		}
		const here = taken === "<" && quotes === "none" && before !== "<" ? HERE.exec(command.slice(at)) : null;
		if (here && !isArithmetic()) {
			const [whole, dash, ...names] = here;
			const name = names.find((one) => one !== undefined) ?? "";
			bodies.push(new RegExp(`\n${dash ? "\\t*" : ""}${name.replace(/\W/g, "\\$&")}(?=\n|$)`));
			text += " ";
			at += whole.length;
			continue;
		}
		if (taken === "'" && quotes !== "double")
			quotes = quotes !== "none" ? "none" : knowsAnsi && before === "$" ? "ansi" : "single";
		else if (taken === '"' && (quotes === "none" || quotes === "double"))
			quotes = quotes === "double" ? "none" : "double";
		else if (taken === "`" && (quotes === "none" || quotes === "double") && outer.at(-1)?.by === "`")
			quotes = outer.pop()?.quotes ?? "none";
		else if (
			(taken === "`" && (quotes === "none" || quotes === "double")) ||
			(taken === "(" && (quotes === "none" || (quotes === "double" && before === "$")))
		) {
			outer.push({ by: taken, at, quotes });
			quotes = "none";
		} else if (taken === ")" && quotes === "none" && outer.at(-1)?.by === "(")
			quotes = outer.pop()?.quotes ?? "none";
		else if (quotes === "none" && taken.length === 1) text += taken;
		else text += " ";
		at += taken.length;
	}
	return text;
}

/** The command for the shell, or what is wrong with its secret names. Values are inserted whole: the shell never parses them. */
export function withSecrets(
	command: string,
	secret: (name: string) => string | undefined,
): WithSecrets | { readonly problem: string } {
	if (hasMask(command))
		return {
			problem:
				"*** stands for a secret that is hidden here. For the shell it would be a pattern that means every name, so nothing was run. Put it in quotes if you mean it.",
		};
	const names = [...new Set([...command.matchAll(PLACEHOLDER)].map((match) => match[1] as string))];
	if (names.length === 0) return { command, env: {} };
	const unknown = names.filter((name) => secret(name) === undefined);
	if (unknown.length > 0)
		return {
			problem: `There is no secret named ${unknown.join(", ")}, or it is not set. The operator lists secrets in the setting secrets.`,
		};
	const heredoc = HEREDOC.exec(command);
	if (heredoc && command.slice(heredoc.index).search(PLACEHOLDER) >= 0)
		return {
			problem:
				"A secret cannot be used in or after a here-document. Use it in an argument, or with printf and a pipe.",
		};
	const variable = (name: string) => `KERYX_SECRET_${names.indexOf(name) + 1}`;
	return {
		command: withVariables(command, variable),
		env: Object.fromEntries(names.map((name) => [variable(name), secret(name) as string])),
	};
}

type Quotes = "none" | "single" | "double";

/** Each name as a separately quoted variable, inside any quotes. */
function withVariables(command: string, variable: (name: string) => string): string {
	const matches = new Map([...command.matchAll(PLACEHOLDER)].map((match) => [match.index, match]));
	let written = "";
	// $( ) has its own quotes.
	const outer: Quotes[] = [];
	let quotes: Quotes = "none";
	for (let at = 0; at < command.length; ) {
		const match = matches.get(at);
		if (match) {
			written += QUOTED[quotes](variable(match[1] as string));
			at += match[0].length;
			continue;
		}
		const character = command.charAt(at);
		const taken = character === "\\" && quotes !== "single" ? command.slice(at, at + 2) : character;
		if (taken === "'" && quotes !== "double") quotes = quotes === "single" ? "none" : "single";
		else if (taken === '"' && quotes !== "single") quotes = quotes === "double" ? "none" : "double";
		else if (taken === "(" && quotes !== "single" && (quotes === "none" || command.charAt(at - 1) === "$")) {
			outer.push(quotes);
			quotes = "none";
		} else if (taken === ")" && quotes === "none") quotes = outer.pop() ?? "none";
		written += taken;
		at += taken.length;
	}
	return written;
}

const QUOTED: Readonly<Record<Quotes, (name: string) => string>> = {
	none: (name) => `"\${${name}}"`,
	double: (name) => `\${${name}}`,
	single: (name) => `'"\${${name}}"'`,
};
