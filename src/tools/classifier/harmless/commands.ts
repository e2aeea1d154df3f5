// Programs that only read, each with what must hold for its words.
import { isKnown, mayBeOption } from "../field.ts";
import { operands } from "../options.ts";
import { SOME } from "../text.ts";
import type { Field } from "../types.ts";

type Check = (args: readonly Field[]) => boolean;

const ANY: Check = () => true;

/** No option of theirs writes, runs or sets anything. */
const PLAIN =
	`ls dir vdir cat tac head tail wc nl cut paste tr rev fold expand unexpand fmt column comm join cmp od hexdump hd
	strings md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum stat du df pgrep pidof free uptime
	uname arch nproc whoami id groups who w tty logname basename dirname realpath readlink pwd echo true false : which whereis type
	sleep seq expr cal grep egrep fgrep zcat diff cd exit return break continue jobs times getconf lscpu lsblk vmstat jq locale
	numfmt tsort factor yes look apropos whatis pathchk`.split(/\s+/);

export const COMMANDS: ReadonlyMap<string, Check> = new Map<string, Check>([
	...PLAIN.map((name): [string, Check] => [name, ANY]),
	["test", testReads],
	["[", testReads],
	["umask", (args) => args.length === 0],
	// Arguments with an e and no dash show the environment of other programs.
	[
		"ps",
		(args) => args.every((arg) => /^-[^E]*$/.test(arg.text) || !/e/i.test(arg.text) || /=/.test(arg.text)),
	],
	["lsof", without(/^-[a-zA-Z]*D/)],
	["printf", printfReads],
	["date", dateReads],
	[
		"hostname",
		(args) =>
			args.every((arg) => /^-[afisdIA]+$|^--(fqdn|short|ip-address|all-ip-addresses)$/.test(arg.text)),
	],
	["find", without(/^-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$/)],
	["gfind", without(/^-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$/)],
	["fd", without(/^-[a-zA-Z]*[xX]|^--exec/)],
	["fdfind", without(/^-[a-zA-Z]*[xX]|^--exec/)],
	["rg", without(/^--(pre|hostname-bin)/)],
	["tree", without(/^-[a-zA-Z]*[oR]|^--output/)],
	["file", without(/^-[a-zA-Z]*C|^--compile/)],
	[
		"sort",
		only(
			/^-[bdfgiMhnRrVcCmsuz]+$|^-[kt].*|^--(key|field-separator|reverse|unique|numeric-sort|human-numeric-sort|version-sort|ignore-case|stable|zero-terminated|check)(=.*)?$/,
		),
	],
	["uniq", (args) => operands(args).length < 2 && !args.some(mayBeOption)],
	[
		"xxd",
		(args) =>
			operands(args).length < 2 &&
			!args.some((arg) => mayBeOption(arg) || /^-[a-z]*r|^--?revert/.test(arg.text)),
	],
	["base64", without(/^-[a-zA-Z]*o|^--output/)],
	["less", (args) => args.every((arg) => !/^[-+]/.test(arg.text)) && !args.some(mayBeOption)],
	["more", (args) => args.every((arg) => !/^[-+]/.test(arg.text)) && !args.some(mayBeOption)],
	["set", (args) => args.length > 0 && args.every((arg) => /^[-+][euxfo]+$|^pipefail$/.test(arg.text))],
	["shift", (args) => args.every((arg) => /^\d+$/.test(arg.text))],
	["wait", (args) => args.every((arg) => /^(\d+|%\S+)$/.test(arg.text))],
	[
		"npm",
		(args) =>
			/^(ls|list|outdated|why|explain)$/.test(args[0]?.text ?? "") &&
			args.slice(1).every((arg) => /^(--(depth=\d+|all|json|long)|[\w@/.-]+)$/.test(arg.text)),
	],
]);

/** None of the arguments may be one of these, and none that could be an option may be unseen. */
function without(pattern: RegExp): Check {
	return (args) => !args.some((arg) => pattern.test(arg.text) || mayBeOption(arg));
}

/** Every option must be one of these. */
function only(pattern: RegExp): Check {
	return (args) =>
		args.every((arg, index) => {
			if (mayBeOption(arg)) return false;
			if (!/^-./.test(arg.text)) return true;
			return pattern.test(arg.text) || /^-[kt]$/.test(args[index - 1]?.text ?? "");
		});
}

/** zsh evaluates what it compares as a number, and -v evaluates an index. */
function testReads(args: readonly Field[]): boolean {
	return args.every((arg, index) => {
		if (arg.text === "-v" || arg.text === "-R") return false;
		if (!/^-(eq|ne|lt|le|gt|ge)$/.test(arg.text)) return true;
		return [args[index - 1], args[index + 1]].every(
			(side) => side === undefined || /^-?\d+$/.test(side.text) || side.text === SOME,
		);
	});
}

/** -v sets a variable; an argument that is not a number may be evaluated. */
function printfReads(args: readonly Field[]): boolean {
	const [format, ...values] = args[0]?.text === "--" ? args.slice(1) : args;
	if (!format || !isKnown(format.text) || format.text.startsWith("-")) return false;
	const texts = /^([^%]|%%|%[-+ #0]*\d*(\.\d+)?[sbqc])*$/s.test(format.text);
	return texts || values.every((value) => /^-?\d+(\.\d+)?$/.test(value.text));
}

/** An operand that is not a format sets the clock. */
function dateReads(args: readonly Field[]): boolean {
	return args.every((arg, index) => {
		const before = args[index - 1]?.text ?? "";
		if (/^(-d|--date|-r|--reference|-f|--file)$/.test(before)) return true;
		return /^(\+.*|-[uRIjn]+|-I\w+|-[dr].*|--(utc|universal|iso-8601|rfc-3339|rfc-email|date|reference)(=.*)?)$/s.test(
			arg.text,
		);
	});
}
