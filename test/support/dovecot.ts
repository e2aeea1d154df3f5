// A real IMAP server for a test file, on 127.0.0.1 with its own ports, removed when the file has ended. Mails come in over LMTP.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	chownSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { makeCertificate } from "./ngircd.ts";
import { until } from "./until.ts";

export interface Dovecot {
	readonly port: number;
	/** With TLS; 0 without. */
	readonly tlsPort: number;
	readonly lmtpPort: number;
	/** The certificate to trust, and its key, as PEM; empty without TLS. */
	readonly ca: string;
	/** Every `name@domain` has a mailbox, with the password `PASSWORD`. */
	readonly domain: string;
	/** Dates the mails in a mailbox back by this much. */
	age(name: string, ms: number): void;
	/** Renumbers the mails of a mailbox, as after a restore from a backup. */
	renumber(name: string): void;
	/** Kills it, as if the machine had died. */
	kill(): Promise<void>;
	/** Restarts it on the same ports. */
	start(): Promise<void>;
	remove(): Promise<void>;
}

export interface DovecotOptions {
	readonly tls?: boolean;
	/** Lines of the configuration. */
	readonly more?: string;
}

export const PASSWORD = "sesame";

/** An unprivileged user's, so that the server can give up root. */
const NOBODY = 65_534;

export async function startDovecot({ tls = false, more = "" }: DovecotOptions = {}): Promise<Dovecot> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-dovecot-"));
	chmodSync(folder, 0o755);
	const mails = join(folder, "mail");
	mkdirSync(mails);
	const isRoot = process.getuid?.() === 0;
	if (isRoot) chownSync(mails, NOBODY, NOBODY);
	const { username, uid, gid } = userInfo();
	const [port, tlsPort, lmtpPort] = [await freePort(), tls ? await freePort() : 0, await freePort()];
	const certificate = join(folder, "server.pem");
	if (tls) makeCertificate(certificate);
	const file = join(folder, "dovecot.conf");
	writeFileSync(
		file,
		`protocols = imap lmtp
listen = 127.0.0.1
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/log
instance_name = ${folder}
ssl = ${tls ? "yes" : "no"}
${tls ? `ssl_cert = <${certificate}\nssl_key = <${certificate}` : ""}
disable_plaintext_auth = no
auth_failure_delay = 0
auth_mechanisms = plain login
mail_location = maildir:${mails}/%n
mail_fsync = never
maildir_copy_with_hardlinks = no
mail_max_userip_connections = 1000
first_valid_uid = 1
first_valid_gid = 1
${isRoot ? "" : `default_login_user = ${username}\ndefault_internal_user = ${username}\ndefault_internal_group = ${username}`}
recipient_delimiter = +
lmtp_save_to_detail_mailbox = yes
lda_mailbox_autocreate = yes
postmaster_address = postmaster@keryx.test
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${isRoot ? NOBODY : uid} gid=${isRoot ? NOBODY : gid} home=${mails}/%n allow_all_users=yes
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    auto = create
    special_use = \\Sent
  }
}
service imap-login {
  ${isRoot ? "" : "chroot ="}
  service_count = 0
  client_limit = 1000
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
  }
}
service imap {
  process_limit = 1000
}
service anvil {
  ${isRoot ? "" : "chroot ="}
  # A refused login does not slow down the next one.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${lmtpPort}
  }
}
${more}
`,
	);
	let running: ChildProcess | null = null;
	const start = async () => {
		// A killed server could not remove it.
		rmSync(join(folder, "run", "master.pid"), { force: true });
		const child = spawn("sh", ["-c", WATCHED, "/usr/sbin/dovecot", "-F", "-c", file], {
			stdio: ["pipe", "pipe", "pipe"],
			// A separate process group, with the server's children.
			detached: true,
		});
		running = child;
		let said = "";
		for (const stream of [child.stdout, child.stderr]) stream?.on("data", (piece) => (said += piece));
		for (const one of [port, lmtpPort])
			await until(async () => {
				if (child.exitCode !== null) throw new Error(`dovecot ended: ${said}`);
				return isListening(one);
			});
	};
	const end = async (how: string) => {
		const child = running;
		running = null;
		if (!child || child.exitCode !== null) return;
		const ended = once(child, "exit");
		if (how === "KILL" && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
		else child.stdin?.end(`${how}\n`);
		await ended;
	};
	await start();
	return {
		port,
		tlsPort,
		lmtpPort,
		domain: "keryx.test",
		ca: tls ? readFileSync(certificate, "utf8") : "",
		age: (name, ms) => {
			const at = (Date.now() - ms) / 1000;
			for (const part of ["new", "cur"])
				for (const one of readdirSync(join(mails, name, part)))
					utimesSync(join(mails, name, part, one), at, at);
		},
		renumber: (name) => {
			const box = join(mails, name);
			const list = join(box, "dovecot-uidlist");
			const [head = "", ...rows] = readFileSync(list, "utf8").split("\n");
			const next = head.replace(/V(\d+)/, (_, validity: string) => `V${Number(validity) + 1000}`);
			// Every mail gets a new number, the oldest one the highest.
			const last = Number(/N(\d+)/.exec(head)?.[1] ?? 1);
			const moved = rows.map((row) => row.replace(/^(\d+) /, (_, uid: string) => `${Number(uid) + last} `));
			writeFileSync(list, [next.replace(/N\d+/, `N${2 * last}`), ...moved].join("\n"));
			for (const index of readdirSync(box)) if (index.startsWith("dovecot.index")) rmSync(join(box, index));
		},
		kill: () => end("KILL"),
		start,
		remove: async () => {
			await end("TERM");
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** Ends the server on request, and when its starter is gone. */
const WATCHED = `"$0" "$@" </dev/null & server=$!
read -r how; kill -"\${how:-TERM}" $server; wait $server`;

function isListening(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(port, "127.0.0.1");
		socket.once("connect", () => {
			socket.destroy();
			resolve(true);
		});
		socket.once("error", () => resolve(false));
	});
}
