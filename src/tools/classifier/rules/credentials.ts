import { isKnown, names, operands } from "../field.ts";
import { absolutePath, holdsHome } from "../paths.ts";
import { holdsCode, readPaths } from "../targets.ts";
import { shownOperand } from "../text.ts";
import type { CommandFacts, Field, Invocation, Rule } from "../types.ts";

/** Tried on a path, or on a word such as `file=@.env`. */
const SECRET_PATHS: readonly RegExp[] = [
	/(^|\/)\.ssh(\/(?!(config|known_hosts|[\w.-]+\.pub)$)|$)/,
	/(^|\/)id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
	/(^|\/)\.aws(\/|$)/,
	/(^|\/)\.azure(\/|$)/,
	/(^|\/)\.config\/(gcloud|gh|hub|op|rclone|doctl|configstore|containers\/auth)/,
	/(^|\/)\.kube(\/|$)|(^|\/)kubeconfig$/,
	/(^|\/)\.gnupg(\/|$)/,
	/(^|\/)\.password-store(\/|$)/,
	/(^|\/)\.docker\/config\.json$/,
	/(^|\/)\.env(rc)?$|(^|\/)\.env\.(?!(example|sample|template|dist|defaults?|schema)$)[\w.-]+$/,
	/(^|\/)\.?(netrc|_netrc|pgpass|my\.cnf|git-credentials|vault-token|npmrc|pypirc|htpasswd|s3cfg|boto)$/,
	/^\/etc\/(shadow-?|gshadow-?|sudoers(\.d)?(\/.*)?|ssl\/private.*|ssh\/ssh_host_.*key)$/,
	/(^|\/)\.cargo\/credentials|(^|\/)\.gem\/credentials|(^|\/)\.m2\/settings/,
	/(^|\/)(\.mozilla|\.thunderbird|\.config\/(google-chrome|chromium|BraveSoftware|microsoft-edge)|Library\/(Keychains|Cookies|Application Support\/(Google\/Chrome|Firefox)))(\/|$)/,
	/(^|\/)(Login Data|Cookies|logins\.json|key4\.db|cookies\.sqlite|keychain(-db)?|wallet\.dat)$/,
	/^\/proc\/[^/]+\/(environ|mem|maps)$/,
	/^\/(var\/)?run\/secrets(\/|$)/,
	/\.(pem|p12|pfx|jks|keystore|kdbx|ppk)$/,
	/(^|\/)(credentials|secrets?)(\.(json|ya?ml|toml|env|txt))?$/,
	/(^|\/)\.(bash|zsh|psql|mysql|python|node_repl)_history$/,
];
const IN_TEXT =
	/(\.ssh\/(?!config|known_hosts)|\bid_(rsa|ed25519|ecdsa)\b|\.aws\/|\/etc\/shadow|\.gnupg|\.kube\/config|\.netrc|\.git-credentials|\.docker\/config\.json|\/proc\/\w+\/environ)/;

/** What tells secrets without a file's name. */
const TELLERS: ReadonlyMap<string, readonly string[]> = new Map([
	["gh", ["auth token", "secret set", "auth login"]],
	[
		"gcloud",
		[
			"auth print-access-token",
			"auth print-identity-token",
			"auth application-default print-access-token",
			"secrets versions access",
		],
	],
	[
		"aws",
		[
			"secretsmanager get-secret-value",
			"ssm get-parameter",
			"sts get-session-token",
			"configure export-credentials",
			"iam create-access-key",
		],
	],
	["az", ["account get-access-token", "keyvault secret show"]],
	["kubectl", ["get secret", "get secrets", "create token", "config view"]],
	["vault", ["read", "kv get", "print token", "token create"]],
	["op", ["read", "item get"]],
	["bw", ["get", "unlock", "export"]],
	["pass", ["show"]],
	["git", ["credential fill", "credential-store", "credential-cache"]],
	["heroku", ["auth:token", "config:get"]],
	["secret-tool", ["lookup", "search"]],
]);
const COPIERS =
	/^(cp|gcp|tar|gtar|bsdtar|zip|7z|rsync|scp|cpio|ditto|rclone|grep|egrep|fgrep|zgrep|rg|ag|ack)$/;

export const credentialsRule: Rule = {
	name: "credentials",
	action: "run_command",
	look(invocation, facts) {
		const { name, args } = invocation;
		if (names(args, TELLERS.get(name) ?? [])) return { why: "shows or makes a secret" };
		if (/^gpg2?$/.test(name) && args.some((arg) => /^--(export-secret|delete-secret)/.test(arg.text)))
			return { why: "takes secret keys out of the key store" };
		for (const path of readPaths(invocation)) {
			const secret = secretPath(path, invocation.cwd);
			if (secret) return { why: `reads or copies what may hold a secret: ${shownOperand(secret)}` };
		}
		if (holdsCode(name)) {
			const text = args.find((arg) => IN_TEXT.test(arg.text));
			if (text || (invocation.stdin.kind === "text" && IN_TEXT.test(invocation.stdin.text)))
				return { why: "runs code that names a file with secrets" };
		}
		const whole = copiesHome(invocation, facts);
		return whole
			? { why: `reads a whole home folder, with the secrets in it: ${shownOperand(whole)}` }
			: null;
	},
};

function secretPath(word: Field, cwd: string | null): string | null {
	if (/\s/.test(word.text) && !/^\S*\//.test(word.text)) return null;
	for (const text of new Set([
		word.text,
		word.text.replace(/^.*[=@]@?/s, ""),
		word.text.replace(/^[^/:]*:/, ""),
	])) {
		if (text === "") continue;
		const path = absolutePath(text.replaceAll("\0", "x"), cwd) ?? text;
		const tried = word.glob ? globbed(path) : [path, text];
		if (tried.some((candidate) => SECRET_PATHS.some((pattern) => pattern.test(candidate)))) return text;
	}
	return null;
}

/** A pattern for hidden files may mean any of the usual ones. */
function globbed(path: string): string[] {
	const guesses = [".ssh", ".aws", ".env", ".netrc", ".gnupg", ".kube", "id_rsa"];
	const parts = path.split("/");
	const found = [path];
	for (const [index, part] of parts.entries()) {
		const fixed = part.split(/[*?[{]/, 1)[0] ?? "";
		if (fixed === part || fixed.length < 2) continue;
		for (const guess of guesses)
			if (guess.startsWith(fixed))
				found.push([...parts.slice(0, index), guess, ...parts.slice(index + 1)].join("/"));
	}
	return found;
}

/** The folder above all secrets, read with everything below it. */
function copiesHome({ name, args, cwd }: Invocation, facts: CommandFacts): string | null {
	const runs = name === "find" && args.some((arg) => /^-(exec|ok)/.test(arg.text));
	if (!runs && !COPIERS.test(name)) return null;
	if (/grep$/.test(name) && !args.some((arg) => /^-[a-zA-Z]*[rR]|^--(dereference-)?recursive/.test(arg.text)))
		return null;
	if (/^g?cp$/.test(name) && !args.some((arg) => /^-[a-zA-Z]*[rRa]|^--(recursive|archive)/.test(arg.text)))
		return null;
	const last = /^(cp|gcp|rsync|scp|ditto)$/.test(name) ? operands(args).at(-1) : undefined;
	for (const word of operands(args)) {
		const path =
			isKnown(word.text) && /^[/.~]/.test(word.text)
				? absolutePath(word.text.replace(/\/\*$/, ""), cwd)
				: null;
		if (word !== last && path !== null && holdsHome(path, facts)) return path;
	}
	return null;
}
