// Programs that run a command as a part of what they do: find, xargs, parallel, ssh, tar, git and others.
import { isDark, isKnown, plainField, unknownField } from "../field.ts";
import { hasShort, operands, optionValue, optionValues } from "../options.ts";
import { BELOW, UNKNOWN } from "../text.ts";
import type { Field, Invocation } from "../types.ts";
import { gitInner } from "./git.ts";
import type { Inner } from "./inner.ts";
import { evalInner, joined, scriptOf, unseen } from "./shells.ts";

type Spawner = (invocation: Invocation) => Inner[];

export const SPAWNERS: ReadonlyMap<string, Spawner> = new Map<string, Spawner>([
	["find", findInner],
	["gfind", findInner],
	["bfs", findInner],
	["fd", fdInner],
	["fdfind", fdInner],
	["xargs", xargsInner],
	["gxargs", xargsInner],
	["parallel", parallelInner],
	["watch", ({ args }) => rest(args, ["-n", "-q", "--interval"], (words) => [scriptOf(joined(words))])],
	["entr", ({ args }) => (hasShort(args, "s") ? scripts(operands(args)) : [])],
	["su", cOption],
	["runuser", cOption],
	["sg", cOption],
	[
		"script",
		(invocation) => [
			...cOption(invocation),
			...rest(invocation.args, ["-c", "-E", "-O"], (words) => [command(words.slice(1))]),
		],
	],
	["vagrant", cOption],
	["capsh", capshInner],
	["flock", flockInner],
	["env", envSplit],
	["ssh", sshInner],
	["trap", ({ args }) => evalInner(operands(args).slice(0, 1))],
	["jobs", ({ args }) => (args[0]?.text === "-x" ? [command(args.slice(1))] : [])],
	["tmux", tmuxInner],
	["screen", screenInner],
	[
		"hyperfine",
		({ args }) =>
			scripts([
				...operands(args),
				...optionValues(args, "--prepare", "-p", "--setup", "-s", "--cleanup", "-c"),
			]),
	],
	["concurrently", ({ args }) => scripts(operands(args))],
	["nodemon", ({ args }) => scripts(optionValues(args, "--exec", "-x"))],
	["nix-shell", ({ args }) => scripts(optionValues(args, "--run", "--command"))],
	["nix", ({ args }) => afterWord(args, /^(-c|--command)$/)],
	["npx", ({ args }) => scripts(optionValues(args, "-c", "--call"))],
	["npm", ({ args }) => scripts([...optionValues(args, "-c", "--call"), ...packageScripts(args)])],
	["emulate", ({ args }) => scripts(optionValues(args, "-c"))],
	["tar", tarInner],
	["gtar", tarInner],
	["bsdtar", tarInner],
	["rsync", ({ args }) => scripts(optionValues(args, "-e", "--rsh", "--rsync-path"))],
	["git", gitInner],
	["cmake", cmakeInner],
	["vim", editorInner],
	["vi", editorInner],
	["nvim", editorInner],
	["ex", editorInner],
	["view", editorInner],
	["ed", ({ stdin }) => (stdin.kind === "text" && /^\s*!|[rwe]\s*!/m.test(stdin.text) ? [unseen([])] : [])],
	["gdb", gdbInner],
	["lldb", gdbInner],
	["man", ({ args }) => scripts(optionValues(args, "-P", "--pager", "-H"))],
	["split", ({ args }) => scripts(optionValues(args, "--filter"))],
	["less", ({ args }) => (args.some((arg) => /^\+.*!/.test(arg.text)) ? [unseen([])] : [])],
	[
		"start-stop-daemon",
		({ args }) =>
			[...optionValues(args, "--exec", "-x", "--startas", "-a"), ...operands(args)].map((word) =>
				command([word, ...afterDashes(args)]),
			),
	],
	[
		"zargs",
		({ args }) => args.flatMap((arg, index) => (arg.text === "--" ? [command(args.slice(index + 1))] : [])),
	],
	["trash-empty", () => []],
]);

/** The dynamic loader, with any version in its name. */
export function loaderInner({ name, args }: Invocation): Inner[] {
	if (!/^ld(-linux[\w.-]*|-musl[\w.-]*|\.so|-\d[\w.]*)?\.?so(\.\d+)?$|^ld\.so$/.test(name)) return [];
	return rest(args, ["--library-path", "--argv0", "--preload", "--audit"], (words) => [command(words)]);
}

function command(words: readonly Field[], many = false): Inner {
	return { kind: "command", words, many };
}

function scripts(fields: readonly Field[]): Inner[] {
	return fields.map((field) => scriptOf(field));
}

function afterDashes(args: readonly Field[]): readonly Field[] {
	const at = args.findIndex((arg) => arg.text === "--");
	return at < 0 ? [] : args.slice(at + 1);
}

function afterWord(args: readonly Field[], word: RegExp): Inner[] {
	const at = args.findIndex((arg) => word.test(arg.text));
	return at < 0 ? [] : [command(args.slice(at + 1))];
}

/** The arguments after the options; if an option may have taken a value, also those after it. */
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

/** Each found file is below the folder where find starts. */
function findInner({ args }: Invocation): Inner[] {
	const found: Inner[] = [];
	const start = args.findIndex((arg) => /^[-(!]/.test(arg.text));
	const roots = (start < 0 ? args : args.slice(0, start)).map((arg) => arg.text);
	const elsewhere = args.some((arg) => arg.text === "-files0-from");
	const inputs = elsewhere
		? [UNKNOWN]
		: (roots.length > 0 ? roots : ["."]).slice(0, 4).map((root) => `${root.replace(/\/+$/, "")}/${BELOW}`);
	for (let index = 0; index < args.length; index++) {
		if (!FIND_EXEC.test(args[index]?.text ?? "")) continue;
		const length = args.slice(index + 1).findIndex((arg) => arg.text === ";" || arg.text === "+");
		const words = args.slice(index + 1, length < 0 ? args.length : index + 1 + length);
		for (const input of inputs)
			found.push(
				command(
					words.map((word) => filledIn(word, "{}", input)),
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
	const input = `./${BELOW}`;
	return [
		command([...args.slice(start + 1).map((word) => filledIn(word, "{}", input)), plainField(input)], true),
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
	"--arg-file",
];

/** The incoming arguments have the shape of the input, if that is known. */
function xargsInner({ args, stdin }: Invocation): Inner[] {
	const from = stdin.kind === "pipe" || stdin.kind === "text" ? stdin.from : [];
	const fromFile = args.some((arg) => /^(-a|--arg-file)/.test(arg.text));
	const shape = stdin.kind === "pipe" && !fromFile ? stdin.each : null;
	const text = stdin.kind === "text" && isKnown(stdin.text) && !fromFile ? stdin.text : null;
	const parts = (separator: RegExp): string[] | null =>
		text?.split(separator).filter((part) => part !== "") ?? null;
	const mark = optionValue(args, "-I", "--replace")?.text || (hasShort(args, "i") ? "{}" : undefined);
	return rest(args, XARGS_VALUES, (words) => {
		if (mark !== undefined)
			return (parts(/\n+/) ?? [shape ?? UNKNOWN]).slice(0, 8).map((input) =>
				command(
					words.map((word) => filledIn(word, mark, input, from)),
					true,
				),
			);
		const added =
			text !== null
				? (parts(/\s+/) ?? []).slice(0, 64).map(plainField)
				: [{ text: shape ?? UNKNOWN, splits: true, glob: false, from }];
		return [command([...words, ...added], true)];
	});
}

function parallelInner({ args, stdin }: Invocation): Inner[] {
	const found = rest(args, ["-j", "-a", "--jobs", "-n", "-N", "-S", "--colsep"], (words) => {
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
	if (found.length > 0 || args.some((arg) => /^(--version|--help|--citation)$/.test(arg.text))) return found;
	return stdin.kind === "text" ? scripts([plainField(stdin.text)]) : [unseen([])];
}

function cOption({ args }: Invocation): Inner[] {
	const attached = args.find((arg) => /^--(session-)?command=/.test(arg.text));
	if (attached) return [scriptOf({ ...attached, text: attached.text.replace(/^[^=]*=/, "") })];
	const index = args.findIndex((arg) => /^-[A-Za-z]*c$|^--(session-)?command$/.test(arg.text));
	return scripts(index < 0 ? [] : args.slice(index + 1, index + 2));
}

/** After `--` come words for bash. */
function capshInner({ args }: Invocation): Inner[] {
	const at = args.findIndex((arg) => /^(--|==)$/.test(arg.text));
	return at < 0 ? [] : [command([plainField("bash"), ...args.slice(at + 1)])];
}

function flockInner(invocation: Invocation): Inner[] {
	const inner = cOption(invocation);
	if (inner.length > 0) return inner;
	return rest(invocation.args, ["-w", "-E", "--timeout"], (words) =>
		words.length > 1 ? [command(words.slice(1))] : [],
	);
}

/** -S splits its text as a shell would; in a cluster it is the last letter. */
function envSplit({ args }: Invocation): Inner[] {
	const field = optionValue(args, "-S", "--split-string");
	if (field) return [scriptOf(field)];
	const at = args.findIndex((arg) => /^-[a-zA-Z0]+S/.test(arg.text));
	const cluster = args[at];
	if (!cluster) return [];
	const attached = cluster.text.slice(cluster.text.indexOf("S") + 1);
	return scripts(attached === "" ? args.slice(at + 1, at + 2) : [{ ...cluster, text: attached }]);
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

/** Keys are text for a shell, with names of keys between them. */
function tmuxInner({ args }: Invocation): Inner[] {
	const at = args.findIndex((arg) => /^(send-keys|send)$/.test(arg.text));
	if (at < 0) return scripts(args.filter((arg) => /\s/.test(arg.text)));
	const keys = rest(args.slice(at + 1), ["-t", "-N"], (words) => [command(words)]);
	const [typed] = keys;
	if (typed?.kind !== "command") return [];
	const words = typed.words.map((word) => ({
		...word,
		text: word.text.replace(/^(Enter|C-m|KPEnter)$/, "\n").replace(/^Space$/, " "),
	}));
	return scripts([{ ...joined(words), text: words.map((word) => word.text).join("") }]);
}

/** `npm pkg set scripts.test=…` writes what `npm test` runs. */
function packageScripts(args: readonly Field[]): Field[] {
	if (!args.some((arg) => /^(pkg|set-script)$/.test(arg.text))) return [];
	return args
		.filter((arg) => /^scripts[.[]/.test(arg.text))
		.map((arg) => ({ ...arg, text: arg.text.slice(arg.text.indexOf("=") + 1) }));
}

function screenInner({ args }: Invocation): Inner[] {
	if (args.some((arg) => /^(stuff|exec)$/.test(arg.text))) return [unseen([], "types into another terminal")];
	return rest(args, ["-S", "-L", "-X", "-c", "-t", "-p"], (words) => [command(words)]);
}

const TAR_EXEC = [
	"--to-command",
	"--use-compress-program",
	"--info-script",
	"--new-volume-script",
	"--rsh-command",
	"--rmt-command",
	"--checkpoint-action",
];

/** Long options may be shortened, and their value attached or not. What it runs gets more words, so it is never seen whole. */
function tarInner({ args }: Invocation): Inner[] {
	const found: Field[] = [...optionValues(args, "-I", "-F")];
	for (const [index, arg] of args.entries()) {
		const written = /^(--[a-z-]{5,})(=|$)/.exec(arg.text);
		const option = written ? TAR_EXEC.find((name) => name.startsWith(written[1] ?? "")) : undefined;
		if (!option || !written) continue;
		const value = written[2] === "=" ? { ...arg, text: arg.text.slice(written[0].length) } : args[index + 1];
		if (!value) continue;
		if (option !== "--checkpoint-action") found.push(value);
		else if (/^exec=/.test(value.text)) found.push({ ...value, text: value.text.slice("exec=".length) });
		if (option === "--to-command")
			return [...scripts(found), unseen([], "gives each file of an archive to a command")];
	}
	return scripts(
		found.filter(
			({ text }) => !/^(gzip|pigz|bzip2|pbzip2|xz|pixz|zstd|lz4|lzma|lzop|brotli)( -[\w-]+)*$/.test(text),
		),
	);
}

/** `cmake -E` has a small shell's commands; -P runs a script. */
function cmakeInner({ args }: Invocation): Inner[] {
	const script = optionValue(args, "-P");
	if (script && (isDark(script.text) || /^\/dev\//.test(script.text))) return [unseen(script.from)];
	const at = args.findIndex((arg) => arg.text === "-E");
	if (at < 0) return [];
	const [verb = plainField(""), ...words] = args.slice(at + 1);
	switch (verb.text) {
		case "rm":
		case "env":
		case "time":
		case "touch":
		case "rename":
			return [command([verb.text === "rename" ? plainField("mv") : verb, ...words])];
		case "remove_directory":
		case "remove":
			return [command([plainField("rm"), plainField("-r"), ...words])];
		case "chdir":
			return [{ kind: "command", words: words.slice(1), ...(words[0] ? { folder: words[0] } : {}) }];
		default:
			return [];
	}
}

/** `-c ':!ls'` and `+!ls` run a shell from inside the editor, and `w` writes elsewhere. */
function editorInner({ args }: Invocation): Inner[] {
	const runs =
		/!|\b(system|term|terminal|python3?|py3?|perl|ruby|lua|luado|job_start|delete|source|writefile|w(rite)?\s+\S|sav(eas)?)\b/;
	return args.some((arg, index) => {
		const given = /^(-c|--cmd|-S|-s)$/.test(args[index - 1]?.text ?? "") || /^(\+|-c|--cmd=)/.test(arg.text);
		return given && (runs.test(arg.text) || !isKnown(arg.text));
	})
		? [unseen([])]
		: [];
}

function gdbInner({ args }: Invocation): Inner[] {
	const at = args.findIndex((arg) => /^--?args$/.test(arg.text));
	const inner = at < 0 ? [] : [command(args.slice(at + 1))];
	return args.some((arg) => /\b(shell|system|python|pipe|call)\b|^!/.test(arg.text))
		? [...inner, unseen([])]
		: inner;
}

/** Each input replaces the mark. */
function filledIn(word: Field, mark: string, input: string, from: readonly string[] = []): Field {
	if (!word.text.includes(mark)) return word;
	return { ...plainField(word.text.replaceAll(mark, () => input)), from: [...word.from, ...from] };
}
