// Completion scripts for three shells. Each finds the current command from the words before the cursor, and offers its completions. Pure.
// Descriptions are quoted: they never become part of the script.
import type { CommandNode, Word } from "./tree.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, nodes: readonly CommandNode[]): string {
	return { bash, zsh, fish }[shell](nodes);
}

function bash(nodes: readonly CommandNode[]): string {
	const offers = nodes.map(
		({ path, words, options }) =>
			`\t\t${quoted(keyOf(path))}) words=${quoted(words.map(nameOf).join(" "))}; options=${quoted(options.map(nameOf).join(" "))} ;;`,
	);
	return `# Completion of keryx for bash. To load it: source <(keryx completion bash)
_keryx() {
	local cur place word words options i
	cur="\${COMP_WORDS[COMP_CWORD]}"
	place=""
	for ((i = 1; i < COMP_CWORD; i++)); do
		word="\${COMP_WORDS[i]}"
		case "$place $word" in
		${followed(nodes)}) place="$place $word" ;;
		esac
	done
	case "$place" in
${offers.join("\n")}
	esac
	if [[ "$cur" == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
	else
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _keryx keryx
`;
}

function zsh(nodes: readonly CommandNode[]): string {
	const listed = (words: readonly Word[]) =>
		words.map(({ word, about }) => quoted(`${word.replaceAll(":", "\\:")}:${about}`)).join(" ");
	const offers = nodes.map(
		({ path, words, options }) =>
			`\t\t${quoted(keyOf(path))}) entries=(${listed(words)}); options=(${listed(options)}) ;;`,
	);
	return `#compdef keryx
# Completion of keryx for zsh. To load it: source <(keryx completion zsh)
_keryx() {
	local place="" word
	local -a entries options
	for word in "\${(@)words[2,CURRENT-1]}"; do
		case "$place $word" in
		${followed(nodes)}) place="$place $word" ;;
		esac
	done
	case "$place" in
${offers.join("\n")}
	esac
	if [[ "$PREFIX" == -* ]]; then
		_describe 'option' options
	elif (( \${#entries} )); then
		_describe 'command' entries
	else
		_files
	fi
}
compdef _keryx keryx
`;
}

function fish(nodes: readonly CommandNode[]): string {
	const lines = nodes.flatMap(({ path, words, options }) => {
		const here = `complete -c keryx -n ${fishQuoted(`__keryx_at ${fishQuoted(keyOf(path))}`)}`;
		return [
			...words.map(({ word, about }) => `${here} -f -a ${fishQuoted(word)} -d ${fishQuoted(about)}`),
			...options.map(({ word, about }) => `${here} -l ${fishQuoted(word.slice(2))} -d ${fishQuoted(about)}`),
		];
	});
	return `# Completion of keryx for fish. To load it: keryx completion fish | source
function __keryx_at
	set -l place ''
	for word in (commandline -opc)[2..-1]
		if contains -- "$place $word" ${pathsOf(nodes).map(fishQuoted).join(" ")}
			set place "$place $word"
		end
	end
	test "$place" = "$argv[1]"
end
${lines.join("\n")}
`;
}

/** The patterns of a case: the paths that a word may lead to. */
function followed(nodes: readonly CommandNode[]): string {
	return pathsOf(nodes).map(quoted).join(" | ");
}

function pathsOf(nodes: readonly CommandNode[]): readonly string[] {
	return nodes.filter(({ path }) => path.length > 0).map(({ path }) => keyOf(path));
}

/** As the scripts build it: a space before each word. */
function keyOf(path: readonly string[]): string {
	return path.map((word) => ` ${word}`).join("");
}

function nameOf({ word }: Word): string {
	return word;
}

/** For bash and zsh. */
function quoted(text: string): string {
	return `'${text.replaceAll("'", `'\\''`)}'`;
}

function fishQuoted(text: string): string {
	return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
