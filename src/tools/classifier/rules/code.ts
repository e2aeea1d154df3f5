// Programs given as text on the command line or on standard input. What names deletion, other programs or the network is asked
// about, and so is what builds its names at run time: a list of words cannot follow that.
import { isKnown, operands } from "../field.ts";
import { isDownload } from "../launch/index.ts";
import { UNKNOWN } from "../text.ts";
import type { Field, Finding, Invocation, Rule } from "../types.ts";

interface Language {
	/** Options whose value is code. */
	readonly inline: RegExp;
	/** Without a file, the program comes from standard input. */
	readonly stdin: boolean;
	/** Backticks are text and no command. */
	readonly templates?: boolean;
}

const SCRIPTING: Language = { inline: /^-[A-Za-z0-9]*[eE]$/, stdin: true };
const LANGUAGES: readonly (readonly [RegExp, Language])[] = [
	[
		/^(python[\d.]*|pypy[\d.]*|ipython\d?|jython)$/,
		{ inline: /^-[A-Za-z]*c$/, stdin: true, templates: true },
	],
	[
		/^(node|nodejs|bun|tsx|ts-node)$/,
		{ inline: /^(-[a-z]*[ep]|--eval|--print|-pe)$/, stdin: true, templates: true },
	],
	[/^deno$/, { inline: /^(eval|repl|--eval)$/, stdin: false }],
	[/^(perl[\d.]*|ruby[\d.]*|jruby)$/, SCRIPTING],
	[/^php[\d.]*$/, { inline: /^-[rBREF]$/, stdin: true }],
	[
		/^(lua[\d.]*|luajit|rscript|r|julia|elixir|erl|groovy|scala|osascript|swift|raku|guile|racket|sbcl|clojure|ghc|octave|tclsh|expect|jshell)$/,
		{ inline: /^(-e|-l|-E|--eval|--eval=.*|-eval|-c|-s)$/, stdin: true },
	],
];

const DANGEROUS =
	/\b(system|popen|popen\d|subprocess|spawn\w*|exec\w*|fork|pty|shutil|rmtree|unlink\w*|rmdir\w*|removedirs|remove|rmSync|rm_rf|rm_r|rimraf|truncate\w*|child_process|execa|zx|shell_exec|passthru|proc_open|pcntl_\w+|FileUtils|Kernel|IO\.popen|Open3|socket\w*|urllib\d?|urlopen|requests|httpx|aiohttp|http|https|http2|net|dgram|tls|fetch|XMLHttpRequest|WebSocket|ftplib|smtplib|telnetlib|paramiko|LWP|Net|TCPSocket|open-uri|curl\w*|fsockopen|file_get_contents|stream_socket\w*|chmod\w*|chown\w*|kill|killpg|setuid|ctypes|cffi|dlopen|mmap|marshal|pickle|doShellScript|NSTask|do\s+shell\s+script|ptrace)\b|\bos\s*\.\s*(remove|rename|replace|kill)|\bfs\s*\.\s*(promises\s*\.\s*)?(rm|unlink|rmdir|chmod|chown|truncate)|\brm\s*\(|\.delete\s*\(|process\s*\.\s*(kill|binding|dlopen)/;
/** Names that are put together when it runs. */
const BUILT =
	/\b(eval|(?<!re\.)compile|getattr|setattr|__import__|importlib|globals|locals|vars|__builtins__|__subclasses__|__class__|__dict__|__globals__|builtins|constantize|const_get|instance_eval|class_eval|send|public_send|__send__|call_user_func|create_function|Function|Reflect|fromCharCode|fromCodePoint|atob|unescape|decodeURIComponent|base64\w*|b64decode|unhexlify|fromhex|chr|pack|unpack|codecs|rot13|globalThis|constructor|createRequire|runInThisContext|runInNewContext|loadstring|dofile|require_relative|vm)\b|\\x[0-9a-f]{2}|\\u\{?[0-9a-f]{2}|\brequire\s*\(\s*(?!['"][\w@./:-]+['"]\s*\))|\bimport\s*\(|\]\s*\(|[^}\s]\)\s*\(|['"]\s*[+.]\s*['"]/;
/** Where these do not run a program they are at least text that is put together. */
const SHELL_QUOTES = /`|%x|\bqx\b|\$\{/;

export const codeRule: Rule = {
	name: "code",
	action: "run_command",
	look(invocation) {
		const language = LANGUAGES.find(([name]) => name.test(invocation.name))?.[1];
		if (!language) return awk(invocation);
		const texts = inlineCode(invocation, language);
		for (const field of texts) {
			if (!isKnown(field.text)) return hidden(field.from);
			const found = judged(field.text, language);
			if (found) return found;
		}
		return null;
	},
};

function inlineCode({ args, stdin }: Invocation, language: Language): Field[] {
	const found: Field[] = [];
	let file = false;
	for (const [index, arg] of args.entries()) {
		const before = args[index - 1]?.text ?? "";
		if (language.inline.test(before)) {
			found.push(arg);
			continue;
		}
		if (/^--(eval|print)=/.test(arg.text)) found.push({ ...arg, text: arg.text.replace(/^[^=]*=/, "") });
		// -e'code' and -c'code' with no space between.
		else if (
			/^-[a-zA-Z]*[ecrE][^a-zA-Z0-9-]/.test(arg.text) ||
			(/^-[ecrE]./.test(arg.text) && /[\s(;'"]/.test(arg.text))
		)
			found.push({ ...arg, text: arg.text.slice(2) });
		else if (/^-m$/.test(before) || /^-m./.test(arg.text) || (!/^-/.test(arg.text) && arg.text !== "run")) {
			if (arg.text.startsWith("/dev/fd/") || /^\/dev\/stdin$/.test(arg.text))
				found.push({ ...arg, text: isKnown(arg.text) ? UNKNOWN : arg.text });
			else if (!isKnown(arg.text) && !file && arg.splits) found.push(arg);
			file = true;
		}
	}
	if (found.length > 0 || file || !language.stdin) return found;
	if (operands(args).length === 0 && args.some((arg) => /^(--version|--help|-V|-v|-h)$/.test(arg.text)))
		return [];
	if (stdin.kind !== "text" && stdin.kind !== "pipe") return [];
	const text = stdin.kind === "text" ? stdin.text : UNKNOWN;
	return [{ text, splits: false, glob: false, from: stdin.from }];
}

function judged(code: string, language: Language): Finding | null {
	if (DANGEROUS.test(code)) return { why: "runs code that names deletion, other programs or the network" };
	return BUILT.test(code) || (!language.templates && SHELL_QUOTES.test(code))
		? { why: "runs code whose effect cannot be seen before it runs" }
		: null;
}

function hidden(from: readonly string[]): Finding {
	return isDownload(from)
		? { rule: "download", why: "runs code that comes from the network, unseen" }
		: { why: "runs code that cannot be seen before it runs" };
}

function awk({ name, args }: Invocation): Finding | null {
	if (!/^([gmn]?awk|original-awk)$/.test(name)) {
		// GNU sed runs commands with e.
		if (!/^g?sed$/.test(name)) return null;
		const script = args.find(
			(arg, index) => !/^-/.test(arg.text) || /^-e$/.test(args[index - 1]?.text ?? ""),
		);
		return script &&
			/(^|[;{}\n\d$/])[ \t]?e([ \t]|$)|^s(.)(?:(?!\3).)*\3(?:(?!\3).)*\3[gpiImM0-9]*e/s.test(script.text)
			? { why: "has sed run a command" }
			: null;
	}
	return args.some((arg) => /\bsystem\b|(^|[^|])\|([^|]|$)|\/inet|@load/.test(arg.text))
		? { why: "has awk run a command or use the network" }
		: null;
}
