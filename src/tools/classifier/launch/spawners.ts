// Programs that run a command as a part of what they do: find, xargs, parallel, ssh, tar, git and others.
import { hasShort, isKnown, operands, optionValue, plainField, unknownField } from "../field.ts";
import type { Inner } from "../inner.ts";
import { UNKNOWN } from "../text.ts";
import type { Field, Invocation } from "../types.ts";
import { evalInner, joined, scriptOf, unseen } from "./shells.ts";

type Spawner = (invocation: Invocation) => Inner[];

export const SPAWNERS: ReadonlyMap<string, Spawner> = new Map<string, Spawner>([
	["find", findInner],
	["gfind", findInner],
	["fd", fdInner],
	["fdfind", fdInner],
	["xargs", xargsInner],
	["gxargs", xargsInner],
	["parallel", parallelInner],
	["watch", ({ args }) => rest(args, ["-n", "-q", "--interval"], (words) => [scriptOf(joined(words))])],
	["su", cOption],
	["runuser", cOption],
	["sg", cOption],
	["script", cOption],
	["flock", flockInner],
	["env", envSplit],
	["ssh", sshInner],
	["trap", ({ args }) => evalInner(operands(args).slice(0, 1))],
	["tmux", ({ args }) => scripts(args.filter((arg) => /\s/.test(arg.text)))],
	["screen", ({ args }) => rest(args, ["-S", "-L", "-X", "-c", "-t", "-p"], (words) => [command(words)])],
	["hyperfine", ({ args }) => scripts(operands(args))],
	["concurrently", ({ args }) => scripts(operands(args))],
	["nodemon", ({ args }) => scripts(present(optionValue(args, "--exec", "-x")))],
	["nix-shell", ({ args }) => scripts(present(optionValue(args, "--run", "--command")))],
	["npx", ({ args }) => scripts(present(optionValue(args, "-c", "--call")))],
	["npm", ({ args }) => scripts(present(optionValue(args, "-c", "--call")))],
	["emulate", ({ args }) => scripts(present(optionValue(args, "-c")))],
	["tar", tarInner],
	["gtar", tarInner],
	["bsdtar", tarInner],
	["rsync", ({ args }) => scripts(present(optionValue(args, "-e", "--rsh", "--rsync-path")))],
	["git", gitInner],
	["make", ({ args }) => (optionValue(args, "--eval", "-E") ? [unseen([])] : [])],
	["gmake", ({ args }) => (optionValue(args, "--eval", "-E") ? [unseen([])] : [])],
	["vim", editorInner],
	["vi", editorInner],
	["nvim", editorInner],
	["ex", editorInner],
	["view", editorInner],
	["ed", ({ stdin }) => (stdin.kind === "text" && /^\s*!|[rwe]\s*!/m.test(stdin.text) ? [unseen([])] : [])],
	["emacs", ({ args }) => (hasCode(args, /^--?(eval|execute|f|funcall|l|load)\b/) ? [unseen([])] : [])],
	[
		"gdb",
		({ args }) =>
			args.some((arg) => /\b(shell|system|python|pipe)\b|^!/.test(arg.text)) ? [unseen([])] : [],
	],
	["man", ({ args }) => scripts(present(optionValue(args, "-P", "--pager", "-H")))],
	["split", ({ args }) => scripts(present(optionValue(args, "--filter")))],
	["sort", ({ args }) => scripts(present(optionValue(args, "--compress-program")))],
	["rg", ({ args }) => present(optionValue(args, "--pre", "--hostname-bin")).map((word) => command([word]))],
	["less", ({ args }) => (args.some((arg) => /^\+.*!/.test(arg.text)) ? [unseen([])] : [])],
]);

function command(words: readonly Field[], many = false): Inner {
	return { kind: "command", words, many };
}

function scripts(fields: readonly Field[]): Inner[] {
	return fields.map((field) => scriptOf(field));
}

function present(field: Field | undefined): Field[] {
	return field ? [field] : [];
}

function hasCode(args: readonly Field[], pattern: RegExp): boolean {
	return args.some((arg) => pattern.test(arg.text));
}

/** What stands after the options; where an option may have taken a word, the words after that one too. */
function rest(
	args: readonly Field[],
	values: readonly string[],
	made: (words: readonly Field[]) => Inner[],
): Inner[] {
	for (let index = 0; index < args.length; index++) {
		const text = args[index]?.text ?? "";
		if (values.includes(text)) index++;
		else if (!/^-./.test(text)) {
			const before = args[index - 1]?.text ?? "";
			const doubtful =
				/^-[^-]$|^--[^=]+$/.test(before) && !values.includes(before) && index + 1 < args.length;
			return [...made(args.slice(index)), ...(doubtful ? made(args.slice(index + 1)) : [])];
		}
	}
	return [];
}

const FIND_EXEC = /^-(exec|execdir|ok|okdir)$/;

function findInner({ args }: Invocation): Inner[] {
	const found: Inner[] = [];
	for (let index = 0; index < args.length; index++) {
		if (!FIND_EXEC.test(args[index]?.text ?? "")) continue;
		const length = args.slice(index + 1).findIndex((arg) => arg.text === ";" || arg.text === "+");
		const words = args.slice(index + 1, length < 0 ? args.length : index + 1 + length);
		found.push(
			command(
				words.map((word) => placed(word, "{}", "./")),
				true,
			),
		);
		index += words.length;
	}
	return found;
}

function fdInner({ args }: Invocation): Inner[] {
	const start = args.findIndex((arg) => /^(-[A-Za-z]*[xX]|--exec|--exec-batch)$/.test(arg.text));
	if (start < 0) return hasShort(args, "xX") ? [unseen([])] : [];
	return [
		command(
			[...args.slice(start + 1).map((word) => placed(word, "{}", "./")), unknownField([], false)],
			true,
		),
	];
}

const XARGS_VALUES = [
	"-I",
	"-n",
	"-P",
	"-L",
	"-d",
	"-E",
	"-s",
	"-a",
	"--max-args",
	"--max-procs",
	"--delimiter",
];

function xargsInner({ args, stdin }: Invocation): Inner[] {
	const from = stdin.kind === "pipe" || stdin.kind === "text" ? stdin.from : [];
	const mark = optionValue(args, "-I", "--replace")?.text || (hasShort(args, "i") ? "{}" : undefined);
	return rest(args, XARGS_VALUES, (words) => [
		command(
			mark === undefined
				? [...words, unknownField(from, true)]
				: words.map((word) => placed(word, mark, "", from)),
			true,
		),
	]);
}

function parallelInner({ args }: Invocation): Inner[] {
	return rest(args, ["-j", "-a", "--jobs", "-n", "-N", "-S", "--colsep"], (words) => {
		const end = words.findIndex((word) => /^:::/.test(word.text));
		const template = joined(end < 0 ? words : words.slice(0, end));
		// No command: the inputs are the commands.
		if (template.text === "") return scripts(end < 0 ? [unknownField([], true)] : words.slice(end + 1));
		const line = template.text.replace(/\{[^{}\s]*\}/g, () => '"$1"');
		return [
			{ kind: "script", script: { ...template, text: line } },
			command([...words.slice(0, 1), unknownField([], true)], true),
		];
	});
}

function cOption({ args }: Invocation): Inner[] {
	const attached = args.find((arg) => /^--(session-)?command=/.test(arg.text));
	if (attached) return [scriptOf({ ...attached, text: attached.text.replace(/^[^=]*=/, "") })];
	const index = args.findIndex((arg) => /^-[A-Za-z]*c$|^--(session-)?command$/.test(arg.text));
	return scripts(index < 0 ? [] : args.slice(index + 1, index + 2));
}

function flockInner(invocation: Invocation): Inner[] {
	const inner = cOption(invocation);
	if (inner.length > 0) return inner;
	return rest(invocation.args, ["-w", "-E", "--timeout"], (words) =>
		words.length > 1 ? [command(words.slice(1))] : [],
	);
}

function envSplit({ args }: Invocation): Inner[] {
	const field = optionValue(args, "-S", "--split-string");
	return field ? [scriptOf(field)] : [];
}

const SSH_VALUES = [..."bcDEeFIiJLlmoOpQRSWw"].map((letter) => `-${letter}`);

function sshInner({ args }: Invocation): Inner[] {
	const proxies = args
		.filter((arg) => /^(-o)?\s*(proxycommand|localcommand|knownhostscommand)\b/i.test(arg.text))
		.map((arg) => ({ ...arg, text: arg.text.replace(/^[^=\s]*[=\s]+/, "") }));
	const remote = rest(args, SSH_VALUES, (words) =>
		words.length > 1 ? [scriptOf(joined(words.slice(1)))] : [],
	);
	return [...scripts(proxies), ...remote];
}

const TAR_EXEC =
	/^--(to-command|use-compress-program|info-script|new-volume-script|rsh-command|rmt-command)=/;

function tarInner({ args }: Invocation): Inner[] {
	const attached = args
		.filter((arg) => TAR_EXEC.test(arg.text) || /^--checkpoint-action=exec=/.test(arg.text))
		.map((arg) => ({ ...arg, text: arg.text.replace(/^--checkpoint-action=exec=|^[^=]*=/, "") }));
	return scripts([
		...attached,
		...present(
			optionValue(args, "-I", "--use-compress-program", "--to-command", "-F", "--checkpoint-action"),
		),
	]);
}

/** Options of git that hand a line to the shell. */
function gitInner({ args }: Invocation): Inner[] {
	const lines: Field[] = [];
	const words = operands(args).map((arg) => arg.text);
	for (const [index, arg] of args.entries()) {
		const next = args[index + 1];
		if (/^(--exec|-x)$/.test(arg.text) && next && words.includes("rebase")) lines.push(next);
		if (/^-x./.test(arg.text) && words.includes("rebase")) lines.push({ ...arg, text: arg.text.slice(2) });
		if (/^--(exec|extcmd|upload-pack|receive-pack|open-files-in-pager)=/.test(arg.text))
			lines.push({ ...arg, text: arg.text.replace(/^[^=]*=/, "") });
		if (
			/^--(extcmd|upload-pack|receive-pack)$|^-x$|^-u$/.test(arg.text) &&
			next &&
			/difftool|clone|fetch|ls-remote/.test(words[0] ?? "")
		)
			if (arg.text !== "-u" || words[0] === "clone") lines.push(next);
	}
	const each = args.findIndex((arg) => arg.text === "foreach");
	if (each > 0 && args[each - 1]?.text === "submodule")
		lines.push(joined(args.slice(each + 1).filter((arg) => arg.text !== "--recursive")));
	return scripts(lines.filter((line) => line.text !== ""));
}

/** `-c ':!ls'` and `+!ls` run a shell from inside the editor. */
function editorInner({ args }: Invocation): Inner[] {
	const runs = /!|\b(system|term|terminal|python3?|py3?|perl|ruby|lua|luado|job_start|delete|source)\b/;
	return args.some((arg, index) => {
		const given = /^(-c|--cmd|-S|-s)$/.test(args[index - 1]?.text ?? "") || /^(\+|-c|--cmd=)/.test(arg.text);
		return given && (runs.test(arg.text) || !isKnown(arg.text));
	})
		? [unseen([])]
		: [];
}

/** Something unknown comes in the place of the mark. */
function placed(word: Field, mark: string, before: string, from: readonly string[] = []): Field {
	if (!word.text.includes(mark)) return word;
	return { ...plainField(word.text.replaceAll(mark, before + UNKNOWN)), from: [...word.from, ...from] };
}
