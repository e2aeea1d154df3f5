// Guards I12 for commands: a secret is written as ${secret:NAME} wherever the command is stored, shown or asked about, and reaches the
// shell as an environment variable. So the process list does not show it, unless the command passes it to another program as an argument.

export interface WithSecrets {
	readonly command: string;
	readonly env: Readonly<Record<string, string>>;
}

const PLACEHOLDER = /\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}/g;

const HEREDOC = /<<-?\s*[\w'"\\]/;

/** The command for the shell, or what is wrong with its secret names. Values are inserted whole: the shell never parses them. */
export function withSecrets(
	command: string,
	secret: (name: string) => string | undefined,
): WithSecrets | { readonly problem: string } {
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
