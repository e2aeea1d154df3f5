// What the tests need of the system besides Node: an sshd, an nginx, a PostgreSQL server, an ngircd, a Dovecot and a Prosody, which the tests alone start, on ports of
// their own, bubblewrap, Python, and a Chromium.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fail, step } from "./setup.mjs";

const TOOLS = [
	{
		package: "openssh-server",
		what: "the tests of processes on other machines need an sshd and the ssh client",
		isThere: () => existsSync("/usr/sbin/sshd") && onPath("ssh"),
	},
	{
		package: "bubblewrap",
		what: "the tests of walls need bubblewrap",
		isThere: () => existsSync("/usr/bin/bwrap"),
	},
	{
		package: "passt iproute2",
		what: "the tests of a box's own network need pasta and ip",
		isThere: () => existsSync("/usr/bin/pasta") && (existsSync("/usr/sbin/ip") || onPath("ip")),
	},
	{
		package: "nginx-light",
		what: "the tests behind a proxy need an nginx",
		isThere: () => existsSync("/usr/sbin/nginx") || onPath("nginx"),
	},
	{
		package: "postgresql",
		what: "the tests of the store on a server need PostgreSQL's programs",
		isThere: () =>
			existsSync("/usr/lib/postgresql") &&
			readdirSync("/usr/lib/postgresql").some((name) => existsSync(`/usr/lib/postgresql/${name}/bin/initdb`)),
	},
	{
		package: "pgbouncer",
		what: "the test that a pooler is refused needs a PgBouncer",
		isThere: () => existsSync("/usr/sbin/pgbouncer"),
	},
	{
		package: "ngircd",
		what: "the tests of IRC need an ngircd",
		isThere: () => existsSync("/usr/sbin/ngircd") || onPath("ngircd"),
	},
	{
		package: "dovecot-imapd dovecot-lmtpd",
		what: "the tests of e-mail need a Dovecot",
		isThere: () =>
			(existsSync("/usr/sbin/dovecot") || onPath("dovecot")) &&
			["imap", "lmtp"].every((part) => existsSync(`/usr/lib/dovecot/${part}`)),
	},
	{
		package: "prosody",
		what: "the tests of XMPP need a Prosody",
		isThere: () => existsSync("/usr/bin/prosody") || onPath("prosody"),
	},
	{
		package: "python3",
		what: "the example of a bridge in Python needs python3",
		isThere: () => onPath("python3"),
	},
	{
		// The same browser without windows: a page costs it a third of the time.
		package: "chromium-headless-shell",
		what: "the tests of the page need a Chromium (CHROMIUM may name one)",
		isThere: () => existsSync(process.env.CHROMIUM ?? "") || onPath("chromium-headless-shell"),
		suffices: () => onPath("chromium") || onPath("google-chrome"),
	},
];

export async function prepareTestTools() {
	for (const tool of TOOLS) if (!tool.isThere()) await install(tool);
}

/** Installs a package of Debian as root, or says what to install. Where something else will do, it need not succeed. */
export async function install({ package: name, what, suffices = () => false }) {
	const remedy = `install ${name} yourself, then run this again; nothing of it need be started`;
	const canInstall = process.getuid?.() === 0 && onPath("apt-get");
	if (suffices() && (!canInstall || !isOffered(name))) return;
	if (!canInstall) fail(`${what}\nkeryx: what to do: ${remedy}`);
	await step(`installing ${name} for the tests`, ["sh", "-c"], [script(name)], {
		env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
		remedy,
		isNeeded: !suffices(),
	});
}

/** Whether the lists of packages that this machine has name it. */
function isOffered(name) {
	return spawnSync("apt-cache", ["show", name], { stdio: "ignore" }).status === 0;
}

/** A package may not start what it brings, and what it enables is disabled again. */
function script(name) {
	return `
policy=/usr/sbin/policy-rc.d; made=
[ -e "$policy" ] || { printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy" && made=1; }
apt-get update && apt-get install -y --no-install-recommends ${name}; code=$?
[ -z "$made" ] || rm -f "$policy"
[ ! -d /run/systemd/system ] || systemctl disable ssh.service ssh.socket nginx.service postgresql.service pgbouncer.service ngircd.service dovecot.service prosody.service 2>/dev/null
exit $code`;
}

export function onPath(program) {
	return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}
