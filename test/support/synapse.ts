// Synapse, the reference homeserver, from a folder that holds a Debian with it (KERYX_PEER_SYNAPSE), in its own folder.
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

const SERVER = "synapse.test";

export interface Synapse {
	readonly url: string;
	readonly server: string;
	/** Creates an account. */
	register(user: string, password: string): Promise<void>;
	remove(): Promise<void>;
}

export async function startSynapse(): Promise<Synapse> {
	const root = process.env.KERYX_PEER_SYNAPSE ?? "";
	mkdirSync(join(root, "srv"), { recursive: true });
	const folder = mkdtempSync(join(root, "srv", "keryx-"));
	const inside = folder.slice(root.length);
	const port = await freePort();
	const secret = randomBytes(16).toString("hex");
	writeFileSync(join(folder, "homeserver.yaml"), settings(inside, port, secret));
	writeFileSync(join(folder, "log.yaml"), LOG(inside));
	const python = ["python3", "-m", "synapse.app.homeserver", "-c", `${inside}/homeserver.yaml`];
	await ended(spawn("chroot", [root, ...python, "--generate-keys"], { stdio: "ignore" }));
	const child = spawn("chroot", [root, ...python], { stdio: "ignore" });
	const url = `http://127.0.0.1:${port}`;
	const gone = ended(child).then(() => true);
	const isUp = async () => {
		try {
			return (await fetch(`${url}/_matrix/client/versions`)).ok;
		} catch {
			return false;
		}
	};
	while (!(await isUp()))
		if (await Promise.race([gone, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 100))]))
			throw new Error("Synapse ended at its start");
	return {
		url,
		server: SERVER,
		register: async (user, password) => {
			const at = `${url}/_synapse/admin/v1/register`;
			const { nonce } = (await (await fetch(at)).json()) as { nonce: string };
			const mac = createHmac("sha1", secret)
				.update([nonce, user, password, "notadmin"].join("\0"))
				.digest("hex");
			const body = JSON.stringify({ nonce, username: user, password, admin: false, mac });
			const answer = await fetch(at, {
				method: "POST",
				body,
				headers: { "content-type": "application/json" },
			});
			if (!answer.ok) throw new Error(`could not register ${user}: ${await answer.text()}`);
		},
		remove: async () => {
			child.kill("SIGTERM");
			await gone;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

function ended(child: ChildProcess): Promise<void> {
	return new Promise((resolve) => child.once("close", () => resolve()));
}

/** Set up like a private server, without limits on how fast people write. */
function settings(folder: string, port: number, secret: string): string {
	const fast = "{ per_second: 10000, burst_count: 10000 }";
	return `server_name: ${SERVER}
pid_file: ${folder}/pid
report_stats: false
signing_key_path: ${folder}/signing.key
media_store_path: ${folder}/media
log_config: ${folder}/log.yaml
registration_shared_secret: ${secret}
suppress_key_server_warning: true
trusted_key_servers: []
database: { name: sqlite3, args: { database: ${folder}/homeserver.db } }
listeners:
  - { port: ${port}, type: http, tls: false, bind_addresses: [127.0.0.1], resources: [{ names: [client], compress: false }] }
rc_message: ${fast}
rc_joins: { local: ${fast}, remote: ${fast} }
rc_joins_per_room: ${fast}
rc_invites: { per_room: ${fast}, per_user: ${fast}, per_issuer: ${fast} }
rc_login: { address: ${fast}, account: ${fast}, failed_attempts: ${fast} }
rc_key_requests: ${fast}
`;
}

const LOG = (folder: string) => `version: 1
formatters: { plain: { format: "%(levelname)s %(message)s" } }
handlers: { file: { class: logging.FileHandler, filename: ${folder}/log, formatter: plain } }
root: { level: WARNING, handlers: [file] }
`;
