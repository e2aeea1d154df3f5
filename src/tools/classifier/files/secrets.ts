// Files that contain secrets, by path. Tables only; paths are compared as written.
import { isPattern, mayMeet } from "./glob.ts";

/** Anywhere in a path: the name of a folder whose files are secret. */
const FOLDERS = [
	String.raw`\.ssh(?:$|\/(?!(?:config|known_hosts|[\w.-]+\.pub)$))`,
	String.raw`\.(?:aws|azure|gnupg|kube|password-store|terraform\.d|mozilla|thunderbird|1password|bitcoin|ethereum)(?:\/|$)`,
	String.raw`\.config\/(?:gcloud|gh|hub|op|rclone|doctl|configstore|containers\/auth|google-chrome|chromium|BraveSoftware|microsoft-edge|Slack|1Password|solana|sops|age|hcloud|heroku|netlify|vercel|fly)(?:[/.]|$)`,
	String.raw`\.local\/share\/(?:keyrings|kwalletd)(?:\/|$)`,
	String.raw`Library\/(?:Keychains|Cookies|Application Support\/(?:Google\/Chrome|Firefox))(?:\/|$)`,
];
/** At the end of a path: the name of a secret file. */
const NAMES = [
	"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?",
	"kubeconfig",
	String.raw`\.docker\/config\.json`,
	String.raw`\.env(?:rc)?`,
	String.raw`\.env\.(?!(?:example|sample|template|dist|defaults?|schema)$)[\w.-]+`,
	String.raw`\.?(?:netrc|_netrc|pgpass|my\.cnf|git-credentials|vault-token|npmrc|pypirc|htpasswd|s3cfg|boto)`,
	String.raw`\.cargo\/credentials(?:\.toml)?|\.gem\/credentials|\.m2\/settings\.xml`,
	String.raw`Login Data|logins\.json|key4\.db|cookies\.sqlite|keychain(?:-db)?|wallet\.dat`,
	String.raw`[^/]*\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk|keytab|key)`,
	String.raw`(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|env|txt))?`,
	String.raw`service[-_]account[\w-]*\.json`,
	String.raw`\.(?:bash|zsh|psql|mysql|python|node_repl|sqlite|rediscli|irb)_?history|fish_history`,
	String.raw`operator\.secret`,
];
/** From the root. */
const SYSTEM = [
	String.raw`\/etc\/(?:shadow-?|gshadow-?|sudoers(?:\.d)?(?:\/.*)?|ssl\/private(?:\/.*)?|ssh\/ssh_host_.*key|krb5\.keytab|security\/opasswd)`,
	String.raw`\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|maps|auxv|pagemap|stack)`,
	String.raw`\/proc\/k(?:core|msg)`,
	String.raw`\/(?:var\/)?run\/secrets(?:\/.*)?`,
	String.raw`\/var\/lib\/(?:docker|kubelet)(?:\/.*)?`,
];
const SECRET = new RegExp(
	`(?:^|\\/)(?:${FOLDERS.join("|")}|(?:${NAMES.join("|")})$)|^(?:${SYSTEM.join("|")})$`,
	"i",
);

/** Their names as shell patterns may find them: hidden ones, and those of the system. */
const HIDDEN =
	`.ssh .aws .azure .gnupg .kube .password-store .mozilla .env .envrc .netrc .pgpass .my.cnf .git-credentials .vault-token
	.npmrc .pypirc .docker .terraform.d .bash_history .zsh_history .keryx`.split(/\s+/);
const FOUND_BY_NAME = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
const FROM_ROOT =
	`/etc/shadow /etc/shadow- /etc/gshadow /etc/sudoers /etc/ssl/private /etc/krb5.keytab /proc/*/environ /proc/*/mem
	/proc/*/task/*/environ /run/secrets /var/run/secrets`.split(/\s+/);

export function isSecretPath(path: string): boolean {
	return SECRET.test(path) || (isPattern(path) && mayFindSecret(path));
}

/** A key file named in a program's text. */
export const SECRET_IN_TEXT =
	/(\.ssh\/(?!config|known_hosts)|\bid_(rsa|ed25519|ecdsa)\b|\.aws\/|\/etc\/g?shadow|\.gnupg|\.kube\/config|\.netrc|\.git-credentials|\.docker\/config\.json|\/proc\/\w+\/(environ|mem)|operator\.secret)/;

function mayFindSecret(path: string): boolean {
	const parts = path.split("/");
	for (const part of parts) {
		if (!isPattern(part)) continue;
		if (part.startsWith(".") && HIDDEN.some((name) => mayMeet(part, name))) return true;
		// A lone star finds everything; only a pattern with letters is aimed at something.
		if (/^i[^/]*[*?[]/.test(part) && FOUND_BY_NAME.some((name) => mayMeet(part, name))) return true;
	}
	return path.startsWith("/") && FROM_ROOT.some((target) => meets(parts, target.split("/")));
}

/** The path or a folder above it may be the target. */
function meets(parts: readonly string[], target: readonly string[]): boolean {
	return (
		(parts.length >= target.length || parts.includes("**")) &&
		target.every((wanted, index) => {
			// Two stars are any number of folders.
			if (parts.slice(0, index + 1).includes("**")) return true;
			const part = parts[index] ?? "";
			return part === wanted || (part !== "" && mayMeet(part, wanted));
		})
	);
}
