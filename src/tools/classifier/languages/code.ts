// Code in another language than the shell's. It asks if the code names deletion, other programs or the network, or builds names at run
// time: a word list cannot follow that.
import { mayRunLater, runsLater } from "../files/later.ts";
import { absolutePath, isKeryxPath, isKeryxProgram } from "../files/paths.ts";
import { isSecretPath, SECRET_IN_TEXT } from "../files/secrets.ts";
import { isSystemPath } from "../files/system.ts";
import type { CommandFacts, Finding } from "../types.ts";

const DANGEROUS = new RegExp(
	[
		// Programs.
		String.raw`\b(system|popen|popen\d|\w*subprocess\w*|\w*spawn\w*|exec\w*|startfile|webbrowser|runpy|zipimport|fork|pty|child_process|execa|zx|shell_exec|passthru|proc_open|pcntl_\w+|Kernel|Open3|doShellScript|NSTask|ProcessBuilder|getRuntime)\b`,
		String.raw`\bdo\s+(shell\s+)?script|\bIO\.popen|\bos:cmd|\bsys\.process|\bProcess\s*[.(]|\bDeno\s*\.|\bBun\s*\.\s*(spawn|\$)|\bopen\s*\(?\s*\w*\s*,?\s*["'][|+]|\brun\s*\(\s*\x60|shell/sh`,
		// Files that go away or change hands.
		String.raw`\b(shutil|rmtree|unlink\w*|rmdir\w*|removedirs|remove|removeSync|rmSync|rm_rf!?|rm_r|rimraf|truncate\w*|FileUtils|chmod\w*|chown\w*|symlink\w*|delete_all|destroy_all|deleteMany)\b`,
		String.raw`\bos\s*\.\s*(remove|rename|replace|kill)|\bfs\s*\.\s*(promises\s*\.\s*)?(rm|unlink|rmdir|chmod|chown|truncate|symlink|rename)|\brm\s*\(|\.delete\s*\(|\b(File|Dir|Files)\s*\.\s*(delete|unlink|rm|rmdir)|\bdelete-(file|directory)|\bREMOVE_RECURSE`,
		// Other machines.
		String.raw`\b(socket\w*|urllib\d?|urlopen|requests|httpx|aiohttp|http|https|http2|net|dgram|tls|fetch|XMLHttpRequest|WebSocket|ftplib|smtplib|telnetlib|paramiko|LWP|Net|TCPSocket|open-uri|curl\w*|fsockopen|file_get_contents|stream_socket\w*)\b`,
		// Other processes, and doors out of the language.
		String.raw`\b(kill|killpg|setuid|ctypes|cffi|dlopen|mmap|marshal|pickle|ptrace|mprotect|syscall)\b|process\s*\.\s*(kill|binding|dlopen|mainModule)`,
	].join("|"),
);
/** Names that are composed at run time. */
const BUILT =
	/\b(eval|(?<!re\.)compile|getattr|setattr|__import__|importlib|globals|locals|vars|sys\.modules|methodcaller|attrgetter|__builtins__|__subclasses__|__class__|__dict__|__globals__|builtins|constantize|const_get|instance_eval|class_eval|send|public_send|__send__|call_user_func|create_function|Function|Reflect|fromCharCode|fromCodePoint|atob|unescape|decodeURIComponent|base64\w*|b64decode|unhexlify|fromhex|chr|pack|unpack|codecs|rot13|globalThis|constructor|createRequire|runInThisContext|runInNewContext|loadstring|dofile|require_relative|vm)\b|\\x[0-9a-f]{2}|\\u\{?[0-9a-f]{2}|\brequire\s*\(\s*(?!['"][\w@./:-]+['"]\s*\))|\bimport\s*\(|\]\s*\(|[^}\s]\)\s*\(|\b[fF]["'][~./]|["'][~./][^"'\n]{0,200}(%[sd]|\{\})/;
/** If these do not run a program, they are at least composed text. */
const SHELL_QUOTES = /`|%x|\bqx\b|\$\{/;
/** The whole environment; one variable by its name is everyday work. */
const ENVIRONMENT =
	/\bprocess\s*\.\s*env\b(?!\s*(\.|\[|\?\.))|\bos\s*\.\s*environ\b(?!\s*(\[|\.get\b))|\bENV\s*\.\s*(to_|each|inspect)|\bgetenv\s*\(\s*\)/;
const WRITES =
	/\b(writeFile\w*|appendFile\w*|createWriteStream|copyFile\w*|write_text|write_bytes|file_put_contents|fopen|File\.write|IO\.write)\b|\bopen\s*\([^)]{0,200}['"][rb]?[wax+][b+]?['"]|["']\s*>/;

/** A statement for a database reads or adds; other statements are reported as what they do. */
const STATEMENT =
	/(?<!\bos)\.execute(?:many)?\(\s*(?=["']{1,3}\s*(?:select|insert|pragma|explain|create table)\b)/gi;

export function judgeCode(text: string, facts: CommandFacts, templates = true): Finding | null {
	const code = text.replace(STATEMENT, ".query(");
	if (SECRET_IN_TEXT.test(code))
		return { class: "credentials", why: "runs code that names a file with secrets" };
	const named = namedPath(code, facts);
	if (named) return named;
	if (DANGEROUS.test(code)) return { why: "runs code that names deletion, other programs or the network" };
	if (ENVIRONMENT.test(code))
		return { class: "credentials", why: "runs code that shows the whole environment" };
	return BUILT.test(code) || joinsTexts(code) || (!templates && SHELL_QUOTES.test(code))
		? { why: "runs code whose effect cannot be checked before it runs" }
		: null;
}

/** Texts with + or . between them, side by side as in Python and C, and templates that make a path: they are put together as it runs. */
function joinsTexts(code: string): boolean {
	let end = -1;
	for (let at = 0; at < code.length; at++) {
		const quote = code[at];
		if (quote !== '"' && quote !== "'" && quote !== "`") continue;
		if (quote !== "`" && end > 0 && at - end < 40 && /^([ \t\n\\]+|\s*[+.]\s*)$/.test(code.slice(end, at)))
			return true;
		const close = closing(code, at, quote);
		if (quote === "`" && /^[~./]/.test(code.slice(at + 1)) && code.slice(at, close).includes("${"))
			return true;
		end = quote === "`" ? -1 : close + 1;
		at = close;
	}
	return false;
}

function closing(code: string, from: number, quote: string): number {
	for (let at = from + 1; at < code.length; at++) {
		if (code[at] === "\\") at++;
		else if (code[at] === quote) return at;
		else if (code[at] === "\n" && quote !== "`") return at;
	}
	return code.length;
}

const MOST_PATHS = 100;

/** Texts in quotes that look like paths are looked at as such. */
function namedPath(code: string, facts: CommandFacts): Finding | null {
	const writes = WRITES.test(code);
	let left = MOST_PATHS;
	for (const [, , text = ""] of code.matchAll(/(['"])([~./][^'"\n]{1,300})\1/g)) {
		if (left-- === 0) return { why: "runs code that names too many files to check" };
		const path =
			absolutePath(
				text.replace(/^~(?=\/)/, () => facts.home),
				facts.cwd,
			) ?? text;
		if (isKeryxPath(path, facts) || isKeryxProgram(path, facts))
			return { class: "keryx", why: "runs code that names Keryx's own files" };
		if (isSecretPath(path)) return { class: "credentials", why: "runs code that names a file with secrets" };
		if (writes && (runsLater(path, facts) || mayRunLater(text)))
			return { class: "persistence", why: "runs code that may write a file that runs automatically later" };
		if (writes && isSystemPath(path, facts))
			return { class: "system", why: "runs code that may write to a system folder" };
	}
	return null;
}
