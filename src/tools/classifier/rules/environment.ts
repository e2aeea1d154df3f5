// Variables and settings that make another program run something of the caller's choice.
import { isDark, isKnown } from "../field.ts";
import { isElsewhere } from "../files/http.ts";
import { absolutePath, isWithin } from "../files/paths.ts";
import { hasShort, names } from "../options.ts";
import { shownOperand, UNKNOWN } from "../text.ts";
import type { CommandFacts, EnvironmentChange, Field, Rule } from "../types.ts";

/** They name a program or a file of code, or where such files come from. */
const LOADERS = new RegExp(
	`^(?:${[
		"LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|TERMINFO|HOSTALIASES|GLIBC_TUNABLES|OPENSSL_(?:CONF|ENGINES|MODULES)|SSL_CERT_(?:FILE|DIR)|SSLKEYLOGFILE",
		"BASH_ENV|ENV|ZDOTDIR|FPATH|INPUTRC|PROMPT_COMMAND|PS[0-4]|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|BASH_LOADABLES_PATH|path|fpath|cdpath|aliases|galiases|saliases|functions|commands|precmd_functions|preexec_functions|chpwd_functions",
		"GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|CONFIG.*|DIR|SSL_NO_VERIFY|OBJECT_DIRECTORY|ALTERNATE_.*)|HGRCPATH|SSH_ASKPASS|SUDO_ASKPASS",
		"LESSOPEN|LESSCLOSE|PYTHON(?:STARTUP|HOME|INSPECT|BREAKPOINT|USERBASE)|PERL5(?:OPT|DB|LIB)|RUBY(?:OPT|LIB)|(?:_|JDK_)?JAVA_(?:TOOL_)?OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|RIPGREP_CONFIG_PATH|GREP_OPTIONS",
		"npm_config_(?:script_shell|registry|userconfig|globalconfig|node_options|prefix)|PIP_(?:INDEX_URL|EXTRA_INDEX_URL|CONFIG_FILE|TRUSTED_HOST|FIND_LINKS)|UV_(?:INDEX.*|DEFAULT_INDEX)|RUSTC(?:_WORKSPACE)?_WRAPPER|CARGO_(?:HOME|BUILD_.*|TARGET_.*_(?:RUNNER|LINKER))|GOPROXY|GONOSUMDB|GONOSUMCHECK|PYTEST_PLUGINS|PSQL_PAGER|PSQL_EDITOR|PSQLRC",
		"HOME|XDG_(?:CONFIG|DATA|CONFIG_DIRS).*|KUBECONFIG|DOCKER_(?:HOST|CONFIG|CONTEXT)|AWS_(?:CONFIG_FILE|SHARED_CREDENTIALS_FILE|ENDPOINT_URL.*)|SHELL|COMSPEC|WGETRC|CURL_HOME|NODE_TLS_REJECT_UNAUTHORIZED",
	].join("|")})$`,
);
/** Harmless values of some of them. */
const FINE: readonly (readonly [RegExp, RegExp])[] = [
	[/^NODE_TLS_REJECT_UNAUTHORIZED$/, /^1$/],
	[/^GOPROXY$/, /^(direct|off|https:\/\/proxy\.golang\.org(,direct)?)$/],
	[/^SHELL$/, /^(\/usr)?(\/local)?\/bin\/(ba|da|z|k)?sh$/],
	[/^DOCKER_HOST$/, /^(tcp:\/\/(localhost|127\.0\.0\.1)[:/]|$)/],
	[/^CARGO_BUILD_(JOBS|TARGET|TARGET_DIR)$/, /^[\w./-]+$/],
	[/^npm_config_registry$|^PIP_INDEX_URL$/, /^https:\/\/(registry\.npmjs\.org|pypi\.org)\//],
];
const CHOSEN =
	/^(PAGER|MANPAGER|GIT_PAGER|SYSTEMD_PAGER|BAT_PAGER|DELTA_PAGER|EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR|FCEDIT|SUDO_EDITOR|BROWSER|MANOPT|LESS)$/;
const USUAL = /^(|cat|less( -[A-Za-z]+)?|more|true|:|vi|vim|nvim|nano|emacs|ed|echo|none|never|-[A-Za-z]+)$/;
/** Compilers and flags: a name is work, a line of shell or a plugin is not. */
const COMPILERS = /^(CC|CXX|LD|AR|CPP|FC|CC_FOR_BUILD|HOSTCC)$/;
const COMPILER =
	/^((ccache|sccache|distcc) )?[\w+.-]*(cc|gcc|g\+\+|c\+\+|clang|clang\+\+|ld|lld|ar|cpp|gfortran|zig cc)(-[\d.]+)?( -[\w=,.-]+)*$/;
const FLAGS =
	/^(RUSTFLAGS|GOFLAGS|CFLAGS|CXXFLAGS|LDFLAGS|CPPFLAGS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|PYTEST_ADDOPTS|MAVEN_OPTS|GRADLE_OPTS|CGO_C?LDFLAGS)$/;
const BAD_FLAG =
	/linker|runner|wrapper|plugin|toolexec|-exec\b|--eval|SHELL=|-specs|javaagent|-p ?(?!no:)\w|-c |--rootdir|-B\.?\/|;|\$|\x60/;
const PROXIES = /^(https?|all|ftp|no)_proxy$/i;
const NODE_OPTION =
	/^(|--(max-(old|semi)-space-size=\d+|no-warnings|no-deprecation|trace-warnings|trace-deprecation|enable-source-maps|experimental-(strip-types|vm-modules|sqlite|transform-types|test-coverage)|openssl-legacy-provider|unhandled-rejections=\w+|stack-trace-limit=\d+|dns-result-order=\w+|expose-gc|throw-deprecation|preserve-symlinks|inspect(-brk)?))$/;

/** Settings of git that name a program, or send it elsewhere. */
const GIT_KEYS =
	/^(alias\..*|core\.(pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand|worktree|attributesfile)|pager\..*|sequence\.editor|diff\.external|diff\..*\.(command|textconv)|merge\..*\.driver|filter\..*|credential\..*|credential|gpg\..*program|gpg\.program|interactive\.difffilter|uploadpack\..*|receive\..*|remote\..*\.(uploadpack|receivepack|vcs|proxy)|protocol\..*|url\..*|include\.path|includeif\..*|browser\..*|man\..*|web\.browser|difftool\..*|mergetool\..*|http\.proxy|submodule\..*\.update|init\.templatedir|trailer\..*|tar\..*|sendemail\..*|ssh\.variant|safe\.directory)$/i;

/** Settings of other tools that name a program or a place to get programs from. */
const SETTINGS: ReadonlyMap<string, readonly string[]> = new Map([
	["pip", ["config set", "config edit"]],
	["pip3", ["config set", "config edit"]],
	["gem", ["sources"]],
	["conda", ["config"]],
	["add-apt-repository", ["add"]],
	["gsettings", ["set", "reset"]],
	["dconf", ["write", "load", "reset"]],
	["defaults", ["write", "delete", "import"]],
	["timedatectl", ["set-time", "set-ntp", "set-timezone"]],
	["localectl", ["set-locale"]],
	["xdg-settings", ["set"]],
	["xdg-mime", ["default"]],
]);

export const environmentRule: Rule = {
	class: "environment",
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
			args.some((arg) =>
				/script-shell|^shell$|registry|authToken|_auth|ignore-scripts|node-options|prefix/.test(arg.text),
			)
		)
			return { why: "changes where npm gets or runs code" };
		if (names(args, SETTINGS.get(name) ?? [])) return { why: `changes where ${name} gets or runs things` };
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
	const { text } = value;
	if (LOADERS.test(name)) return !FINE.some(([names, values]) => names.test(name) && values.test(text));
	if (CHOSEN.test(name)) return !USUAL.test(text);
	if (COMPILERS.test(name)) return !COMPILER.test(text);
	if (FLAGS.test(name)) return isDark(text) || BAD_FLAG.test(text);
	if (PROXIES.test(name)) return name.toLowerCase() !== "no_proxy" && text !== "" && isElsewhere(text);
	if (name === "NODE_OPTIONS") return !text.split(/\s+/).every((option) => NODE_OPTION.test(option));
	if (/^GIT_(TRACE\w*|TRACE2\w*)$/.test(name)) return text.startsWith("/");
	if (/^(PYTHONPATH|CLASSPATH|GEM_PATH|GEM_HOME|TMPDIR|TMP|TEMP|GOBIN|npm_config_cache)$/.test(name))
		return text.split(":").some((folder) => isForeign(folder, cwd, facts, name.startsWith("T")));
	if (name !== "PATH") return false;
	// One part may be the old value; what a command prints may be any folder.
	const folders = text.split(":").filter((folder) => !isOwnFolder(folder, cwd, facts));
	if (isDark(text) && (value.from.length > 0 || text === UNKNOWN)) return true;
	return folders.length > 1 || (folders.length === 1 && folders[0] !== UNKNOWN);
}

/** A folder that belongs neither to the project nor to the system. */
function isForeign(folder: string, cwd: string | null, facts: CommandFacts, temporary: boolean): boolean {
	if (folder === "" || folder === UNKNOWN) return false;
	const path = isDark(folder) ? null : absolutePath(folder, cwd);
	if (path === null) return true;
	const open = temporary ? ["/tmp", "/var/tmp", "/var/folders", "/dev/shm"] : ["/usr", "/opt"];
	return ![facts.cwd, ...open].some((root) => isWithin(path, root));
}

/** Where a project's own tools are installed: they run as npx would run them. */
const PROJECT_TOOLS = /(^|\/)(node_modules\/\.bin|\.?venv\/bin|vendor\/bin)\/?$/;

/** A folder of programs that the command itself cannot just have filled: not the workspace, not a temporary one. */
function isOwnFolder(folder: string, cwd: string | null, facts: CommandFacts): boolean {
	if (PROJECT_TOOLS.test(folder)) return true;
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
		if (/^ext::|^--exec-path=|^transport::|^--template(=|$)/.test(arg.text)) return arg.text;
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
