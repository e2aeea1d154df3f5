// Variables and settings that make another program run something of the caller's choice.
import { hasShort, isKnown, names } from "../field.ts";
import { absolutePath, isWithin } from "../paths.ts";
import { shownOperand, UNKNOWN } from "../text.ts";
import type { CommandFacts, EnvironmentChange, Field, Rule } from "../types.ts";

const LOADERS =
	/^(LD_.*|DYLD_.*|BASH_ENV|ENV|ZDOTDIR|PROMPT_COMMAND|PS[0-4]|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|GIT_(SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|CONFIG.*|DIR)|SSH_ASKPASS|SUDO_ASKPASS|LESSOPEN|LESSCLOSE|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PERL5OPT|PERL5DB|PERL5LIB|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|NODE_PATH|RIPGREP_CONFIG_PATH|GCONV_PATH|LOCPATH|TERMINFO|HOSTALIASES|OPENSSL_CONF|OPENSSL_ENGINES|path|fpath|cdpath|aliases|galiases|saliases|functions|commands|precmd_functions|preexec_functions|chpwd_functions|npm_config_script_shell|RUSTC_WRAPPER|GOFLAGS)$/;
const CHOSEN =
	/^(PAGER|MANPAGER|GIT_PAGER|SYSTEMD_PAGER|BAT_PAGER|DELTA_PAGER|EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR|FCEDIT|SUDO_EDITOR|BROWSER|MANOPT|LESS)$/;
const USUAL = /^(|cat|less( -[A-Za-z]+)?|more|true|:|vi|vim|nvim|nano|emacs|ed|echo|none|never|-[A-Za-z]+)$/;
const NODE_OPTION =
	/^(|--(max-(old|semi)-space-size=\d+|no-warnings|no-deprecation|trace-warnings|trace-deprecation|enable-source-maps|experimental-(strip-types|vm-modules|sqlite|transform-types|test-coverage)|openssl-legacy-provider|unhandled-rejections=\w+|stack-trace-limit=\d+|dns-result-order=\w+|expose-gc|throw-deprecation|preserve-symlinks))$/;

/** Settings of git that name a program, or send it elsewhere. */
const GIT_KEYS =
	/^(alias\..*|core\.(pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand|worktree|attributesfile)|pager\..*|sequence\.editor|diff\.external|diff\..*\.(command|textconv)|merge\..*\.driver|filter\..*|credential\..*|credential|gpg\..*program|gpg\.program|interactive\.difffilter|uploadpack\..*|receive\..*|remote\..*\.(uploadpack|receivepack|vcs|proxy)|protocol\..*|url\..*|include\.path|includeif\..*|browser\..*|man\..*|web\.browser|difftool\..*|mergetool\..*|http\.proxy|submodule\..*\.update|init\.templatedir|trailer\..*|tar\..*|sendemail\..*|ssh\.variant|safe\.directory)$/i;

export const environmentRule: Rule = {
	name: "environment",
	action: "run_command",
	look(invocation, facts) {
		const { name, args, sets } = invocation;
		const set = sets.find((change) => injects(change, invocation.cwd, facts));
		if (set)
			return { why: `sets a variable that makes other programs run something: ${shownOperand(set.name)}` };
		if (name === "git") {
			const key = gitSetting(args);
			if (key !== null) return { why: `makes git run another program: ${shownOperand(key)}` };
		}
		if (name === "hash" && hasShort(args, "p")) return { why: "gives a command's name to another program" };
		if (name === "enable" && hasShort(args, "fn")) return { why: "changes the shell's own commands" };
		if (
			name === "npm" &&
			names(args, ["config set", "set", "c set"]) &&
			args.some((arg) => /script-shell|^shell$|registry|authToken|_auth/.test(arg.text))
		)
			return { why: "changes where npm gets or runs things" };
		if (
			/^(make|gmake)$/.test(name) &&
			args.some(
				(arg) =>
					/^(SHELL|MAKEFLAGS|CC|CXX|LD)=.*[\s;|&]/.test(arg.text) || /^(SHELL|MAKEFLAGS)=/.test(arg.text),
			)
		)
			return { why: "makes make run another program" };
		return null;
	},
};

function injects({ name, value }: EnvironmentChange, cwd: string | null, facts: CommandFacts): boolean {
	if (LOADERS.test(name)) return true;
	if (CHOSEN.test(name)) return !USUAL.test(value.text);
	if (name === "NODE_OPTIONS") return !value.text.split(/\s+/).every((option) => NODE_OPTION.test(option));
	if (name !== "PATH") return false;
	// One part may be the old value; what a command prints may be any folder.
	const folders = value.text.split(":").filter((folder) => !isOwnFolder(folder, cwd, facts));
	if (value.from.length > 0 || value.text === UNKNOWN) return true;
	return folders.length > 1 || (folders.length === 1 && folders[0] !== UNKNOWN);
}

/** A folder of programs that the command itself cannot just have filled: not the workspace, not a temporary one. */
function isOwnFolder(folder: string, cwd: string | null, facts: CommandFacts): boolean {
	if (!folder.startsWith("/") || !isKnown(folder)) return false;
	const path = absolutePath(folder, cwd) ?? "";
	return !["/tmp", "/var/tmp", "/dev", "/private/tmp", facts.cwd].some((open) => isWithin(path, open));
}

/** The setting that runs a program, given with -c, by `git config` or as an address. */
function gitSetting(args: readonly Field[]): string | null {
	for (const [index, arg] of args.entries()) {
		const given =
			arg.text === "-c" || arg.text === "--config-env" || arg.text === "--config"
				? args[index + 1]?.text
				: /^(-c|--config-env=|--config=)(?=[a-zA-Z]+\.)/.test(arg.text)
					? arg.text.replace(/^(-c|--config(-env)?=)/, "")
					: undefined;
		if (given !== undefined && runs(given)) return given;
		if (/^ext::|^--exec-path=|^transport::/.test(arg.text)) return arg.text;
	}
	if (
		!names(args, ["config"]) ||
		args.some((arg) => /^(--(get|list|unset|get-all|get-regexp|show-origin)|-l|get|list)$/.test(arg.text))
	)
		return null;
	const key = args.find((arg) => /^[a-zA-Z]+\.\S+$/.test(arg.text) || !isKnown(arg.text));
	const value = key ? args[args.indexOf(key) + 1] : undefined;
	return key && value && runs(`${key.text}=${value.text}`) ? key.text : null;
}

function runs(setting: string): boolean {
	const [key = "", ...rest] = setting.split("=");
	const value = rest.join("=");
	if (!isKnown(key)) return true;
	if (/^(core\.(pager|editor)|pager\..*|sequence\.editor)$/i.test(key) && USUAL.test(value)) return false;
	if (/^alias\./i.test(key))
		return value.startsWith("!") || !isKnown(value) || /\b(push|clean|reset|config)\b|-c\b/.test(value);
	return GIT_KEYS.test(key);
}
