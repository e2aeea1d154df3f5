// Commands that show, create or use secrets: key files, tokens, logins, key stores.
import { isDark, isKnown } from "../field.ts";
import { absolutePath, holdsHome } from "../files/paths.ts";
import { isSecretPath, SECRET_IN_TEXT } from "../files/secrets.ts";
import { fileUse } from "../files/use.ts";
import { interpreterOf } from "../languages/interpreters.ts";
import { SHELLS } from "../launch/index.ts";
import { hasShort, names, operands, optionValue } from "../options.ts";
import { BELOW, shownOperand } from "../text.ts";
import type { CommandFacts, Field, Finding, Invocation, Rule } from "../types.ts";

/** What tells secrets without a file's name. An empty list: whatever its words are. */
const TELLERS: ReadonlyMap<string, readonly string[]> = new Map([
	[
		"gh",
		[
			"auth token",
			"secret set",
			"auth login",
			"auth refresh",
			"auth status --show-token",
			"ssh-key add",
			"gpg-key add",
		],
	],
	["glab", ["auth status", "auth login"]],
	[
		"gcloud",
		[
			"auth print-access-token",
			"auth print-identity-token",
			"auth application-default print-access-token",
			"secrets versions access",
			"config config-helper",
			"iam service-accounts keys create",
		],
	],
	[
		"aws",
		[
			"secretsmanager get-secret-value",
			"ssm get-parameter",
			"ssm get-parameters",
			"sts get-session-token",
			"sts assume-role",
			"configure export-credentials",
			"configure get",
			"iam create-access-key",
			"ecr get-login-password",
			"kms decrypt",
		],
	],
	["az", ["account get-access-token", "keyvault secret show"]],
	["kubectl", ["get secret", "get secrets", "create token", "config view"]],
	["vault", ["read", "kv get", "print token", "token create"]],
	["op", ["read", "item get", "document get"]],
	["bw", ["get", "unlock", "export"]],
	["git", ["credential fill", "credential-store", "credential-cache"]],
	["heroku", ["auth:token", "config:get", "config"]],
	["vercel", ["env pull", "env ls"]],
	["netlify", ["env:list", "env:get"]],
	["railway", ["variables"]],
	["fly", ["auth token", "tokens create"]],
	["flyctl", ["auth token", "tokens create"]],
	["doppler", ["secrets"]],
	["infisical", ["secrets", "export"]],
	["secret-tool", ["lookup", "search"]],
	["security", ["find-generic-password", "find-internet-password", "dump-keychain", "export"]],
	["ansible-vault", ["view", "decrypt", "edit"]],
	["npm", ["token", "login", "adduser"]],
	["cargo", ["login"]],
	["docker", ["login"]],
	["getent", ["shadow", "gshadow"]],
	["keyctl", ["print", "show", "read", "pipe", "search"]],
	["chamber", ["read", "export", "env"]],
	["sops", ["decrypt", "exec-env"]],
]);
const ALWAYS =
	/^(pass|gopass|lpass|keepassxc-cli|kwallet-query|seahorse|ssh-copy-id|credstash|mimikatz|unshadow|john|hashcat)$/;
const COPIERS =
	/^(cp|gcp|mv|gmv|ln|tar|gtar|bsdtar|zip|7z|rsync|scp|cpio|ditto|rclone|grep|egrep|fgrep|zgrep|rg|ag|ack|find|gfind|install)$/;
/** Addresses at which a cloud gives its machines their keys. */
const METADATA =
	/169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|\[?fd00:ec2::254|100\.100\.100\.200/;

export const credentialsRule: Rule = {
	class: "credentials",
	action: "run_command",
	look(invocation, facts) {
		const { name, args } = invocation;
		const finding = tells(invocation);
		if (finding) return finding;
		for (const path of readWords(invocation)) {
			const secret = secretPath(path, invocation.cwd);
			if (secret) return { why: `reads or copies a file that may contain a secret: ${shownOperand(secret)}` };
		}
		if (SHELLS.has(name) || interpreterOf(name)) {
			const text = args.find((arg) => SECRET_IN_TEXT.test(arg.text));
			if (text || (invocation.stdin.kind === "text" && SECRET_IN_TEXT.test(invocation.stdin.text)))
				return { why: "runs code that names a file with secrets" };
		}
		const whole = wholeHome(invocation, facts);
		return whole ? { why: `reads a whole home folder, including its secrets: ${shownOperand(whole)}` } : null;
	},
};

function tells({ name, args }: Invocation): Finding | null {
	if (ALWAYS.test(name)) return { why: "shows or creates a secret" };
	if (names(args, TELLERS.get(name) ?? [])) return { why: "shows or creates a secret" };
	const texts = args.map((arg) => arg.text);
	if (
		/^gpg2?$/.test(name) &&
		texts.some((text) => /^--(export-secret|delete-secret|decrypt)|^-[a-z]*d$/.test(text))
	)
		return { why: "exports or uses secret keys from the key store" };
	if (/^(age|rage|sops)$/.test(name) && texts.some((text) => /^(-d|--decrypt)$/.test(text)))
		return { why: "decrypts a secret" };
	if (name === "ps" && showsEnvironments(texts)) return { why: "shows the environment of other programs" };
	if (/^(jq|gojq|yq)$/.test(name) && texts.some((text) => /(^|[^.\w])env\b|\$ENV\b|\$__prog_args/.test(text)))
		return { why: "shows the whole environment" };
	if (
		name === "git" &&
		texts.some((text) => /^http\..*extraheader$|\b(password|token)\b/i.test(text)) &&
		texts.includes("config")
	)
		return { why: "shows or creates a secret" };
	if (name === "npm" && texts.includes("config") && texts.some((text) => /_auth|_password/i.test(text)))
		return { why: "shows or creates a secret" };
	if (/^(dbus-send|gdbus|busctl)$/.test(name) && texts.some((text) => /secrets|kwallet|keyring/i.test(text)))
		return { why: "reads from the user's key store" };
	return texts.some((text) => METADATA.test(text)) ? { why: "asks a cloud for this machine's keys" } : null;
}

/** Words without a dash that hold an e, and -E on some systems. */
function showsEnvironments(texts: readonly string[]): boolean {
	return texts.some((text, index) => {
		const before = texts[index - 1] ?? "";
		if (/^-[a-zA-Z]*[opCtuUgGqs]$|^--\w+$/.test(before)) return false;
		return /^[a-zA-Z]*e[a-zA-Z]*$/.test(text) || /^-[a-zA-Z]*E/.test(text);
	});
}

/** Files that are read, and arguments of other programs that may name files. */
function readWords(invocation: Invocation): readonly Field[] {
	const { args } = invocation;
	const { reads, maybe, lists } = fileUse(invocation);
	// --env-file is use, not reading out.
	const used = maybe.filter((arg) => {
		const before = args[args.indexOf(arg) - 1]?.text;
		return !/^--env-file/.test(arg.text) && before !== "--env-file";
	});
	// Files found by find are named one by one.
	return [...reads, ...used, ...(/^g?find$|^fd(find)?$/.test(invocation.name) ? lists : [])];
}

function secretPath(word: Field, cwd: string | null): string | null {
	const { text: whole } = word;
	if (/\s/.test(whole) && !/^\S*\//.test(whole)) return null;
	const candidates = new Set([whole]);
	if (/[=@]/.test(whole)) candidates.add(whole.slice(lastOf(whole, "=@") + 1));
	if (whole.includes(":")) for (const part of whole.split(":").slice(0, 8)) candidates.add(part);
	for (const text of candidates) {
		if (text === "") continue;
		const path = absolutePath(text, cwd) ?? text;
		if (isSecretPath(path) || isSecretPath(text)) return text;
	}
	return null;
}

function lastOf(text: string, chars: string): number {
	return Math.max(...[...chars].map((char) => text.lastIndexOf(char)));
}

/** The folder above all secrets, read with everything below it, or handed to others. */
function wholeHome(invocation: Invocation, facts: CommandFacts): string | null {
	const { name, args, cwd } = invocation;
	const served = servedFolder(invocation);
	if (served !== null && holdsHome(served, facts)) return served;
	for (const { text } of fileUse(invocation).reads) {
		const at = text.indexOf(BELOW);
		const base = at < 0 ? null : absolutePath(text.slice(0, at), cwd);
		if (base !== null && holdsHome(base, facts)) return base;
	}
	const adds = name === "git" && names(args, ["add", "stash", "commit"]) !== undefined;
	const tree = name === "git" ? optionValue(args, "--work-tree", ...(adds ? ["-C"] : []))?.text : undefined;
	const worked = tree === undefined || isDark(tree) ? null : absolutePath(tree, cwd);
	if (worked !== null && holdsHome(worked, facts)) return worked;
	if (!COPIERS.test(name)) return null;
	if (/^g?find$/.test(name) && !args.some((arg) => /^-(exec|ok)/.test(arg.text))) return null;
	if (
		/^(e|f|z)?grep$/.test(name) &&
		!args.some((arg) => /^-[a-zA-Z]*[rR]|^--(dereference-)?recursive/.test(arg.text))
	)
		return null;
	if (/^g?cp$/.test(name) && !args.some((arg) => /^-[a-zA-Z]*[rRa]|^--(recursive|archive)/.test(arg.text)))
		return null;
	const last = /^(cp|gcp|rsync|scp|ditto|mv|gmv|ln|install)$/.test(name) ? operands(args).at(-1) : undefined;
	for (const word of operands(args)) {
		const path =
			isKnown(word.text) && /^[/.~]/.test(word.text)
				? absolutePath(word.text.replace(/\/\*$/, ""), cwd)
				: null;
		if (word !== last && path !== null && holdsHome(path, facts)) return path;
	}
	return null;
}

/** A web server's folder. */
function servedFolder({ name, args, cwd }: Invocation): string | null {
	const texts = args.map((arg) => arg.text);
	const python = /^python[\d.]*$/.test(name) && texts.includes("http.server");
	const php = /^php[\d.]*$/.test(name) && hasShort(args, "S");
	const other = /^(http-server|serve|live-server|caddy|busybox|darkhttpd|webfsd|miniserve)$/.test(name);
	if (!python && !php && !other) return null;
	const given =
		optionValue(args, "-d", "--directory", "-t", "--root") ?? (other ? operands(args)[0] : undefined);
	const folder = given?.text ?? ".";
	return isDark(folder) ? null : absolutePath(folder, cwd);
}
