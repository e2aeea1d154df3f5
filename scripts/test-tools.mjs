// What the tests need of the system besides Node: an sshd. It is started by the tests alone, on a port of its own.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fail, step } from "./setup.mjs";

const SSHD = "/usr/sbin/sshd";
const PACKAGE = "openssh-server";
// A package may not start what it brings, and what it enables is disabled again.
const INSTALL = `
policy=/usr/sbin/policy-rc.d; made=
[ -e "$policy" ] || { printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy" && made=1; }
apt-get update && apt-get install -y --no-install-recommends ${PACKAGE}; code=$?
[ -z "$made" ] || rm -f "$policy"
[ ! -d /run/systemd/system ] || systemctl disable ssh.service ssh.socket
exit $code`;

export async function prepareTestTools() {
	if (existsSync(SSHD) && onPath("ssh")) return;
	const remedy = `install ${PACKAGE} and the ssh client yourself, then run this again; it need not be started`;
	if (process.getuid?.() !== 0 || !onPath("apt-get"))
		fail(`the tests of processes on other machines need ${SSHD}\nkeryx: what to do: ${remedy}`);
	await step(`installing ${PACKAGE} for the tests`, ["sh", "-c"], [INSTALL], {
		env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
		remedy,
	});
}

function onPath(program) {
	return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}
