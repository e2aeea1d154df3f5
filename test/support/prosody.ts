// A real XMPP server for a test file, on 127.0.0.1 with its own ports, removed when the file has ended.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { makeCertificate } from "./ngircd.ts";
import { until } from "./until.ts";

export interface Prosody {
	readonly port: number;
	/** TLS from the first byte; 0 without TLS. */
	readonly tlsPort: number;
	/** The certificate to trust, as PEM; empty without TLS. */
	readonly ca: string;
	/** The domain of its accounts. */
	readonly domain: string;
	/** The domain of its rooms. */
	readonly rooms: string;
	/** Adds an account, or changes its password. */
	account(name: string, password?: string): string;
	/** Kills it, as if the machine had died. */
	kill(): Promise<void>;
	/** Restarts it on the same ports. Archives are in memory, so they are lost. */
	start(): Promise<void>;
	remove(): Promise<void>;
}

export interface ProsodyOptions {
	readonly tls?: boolean;
	/** Modules to leave out. */
	readonly without?: readonly string[];
	/** Lines of the configuration. */
	readonly more?: string;
	/** Lines for the rooms. */
	readonly moreOfRooms?: string;
	/** The most bytes of a file. */
	readonly fileLimit?: number;
}

export const PASSWORD = "open sesame";
const MODULES = [
	"roster",
	"saslauth",
	"tls",
	"disco",
	"ping",
	"smacks",
	"carbons",
	"mam",
	"offline",
	"blocklist",
];

export async function startProsody(options: ProsodyOptions = {}): Promise<Prosody> {
	const { tls = false, without = [], more = "", moreOfRooms = "", fileLimit = 1_000_000 } = options;
	const folder = mkdtempSync(join(tmpdir(), "keryx-prosody-"));
	const data = join(folder, "data");
	const accounts = join(data, "localhost", "accounts");
	mkdirSync(accounts, { recursive: true });
	const [port, httpPort, tlsPort] = [await freePort(), await freePort(), tls ? await freePort() : 0];
	const certificate = join(folder, "server.pem");
	if (tls) makeCertificate(certificate);
	const modules = MODULES.filter((name) => !without.includes(name) && (tls || name !== "tls"));
	const file = join(folder, "prosody.cfg.lua");
	writeFileSync(
		file,
		`
run_as_root = true
data_path = "${data}"
plugin_paths = {}
pidfile = "${join(folder, "prosody.pid")}"
log = { warn = "*console" }
interfaces = { "127.0.0.1" }
c2s_ports = { ${port} }
c2s_direct_tls_ports = { ${tls ? tlsPort : ""} }
http_ports = { ${httpPort} }
http_interfaces = { "127.0.0.1" }
https_ports = { }
modules_enabled = { ${modules.map((name) => `"${name}"`).join(", ")} }
modules_disabled = { "s2s"${tls ? "" : ', "tls"'}${without.includes("offline") ? ', "offline"' : ""} }
c2s_require_encryption = ${tls}
authentication = "internal_plain"
storage = { archive = "memory", muc_log = "memory", offline = "memory" }
archive_expires_after = "never"
${tls ? `ssl = { key = "${certificate}", certificate = "${certificate}" }` : ""}
${more}
VirtualHost "localhost"
Component "rooms.localhost" "muc"
	modules_enabled = { ${without.includes("muc_mam") ? "" : '"muc_mam"'} }
	muc_room_locking = false
	muc_log_by_default = true
${moreOfRooms}
${
	without.includes("http_file_share")
		? ""
		: `Component "upload.localhost" "http_file_share"
	http_host = "localhost"
	http_external_url = "http://localhost:${httpPort}/"
	http_file_share_size_limit = ${fileLimit}`
}
`,
	);
	let running: ChildProcess | null = null;
	const start = async () => {
		const child = spawn("sh", ["-c", WATCHED, "/usr/bin/prosody", "-F", "--config", file], {
			stdio: ["pipe", "pipe", "pipe"],
		});
		running = child;
		let said = "";
		for (const stream of [child.stdout, child.stderr]) stream?.on("data", (piece) => (said += piece));
		const ports = without.includes("http_file_share") ? [port] : [port, httpPort];
		for (const one of ports)
			await until(async () => {
				if (child.exitCode !== null) throw new Error(`prosody ended: ${said}`);
				return isListening(one);
			});
	};
	const kill = async () => {
		const child = running;
		running = null;
		if (!child || child.exitCode !== null) return;
		const ended = once(child, "exit");
		child.stdin?.end("KILL\n");
		await ended;
	};
	await start();
	return {
		port,
		tlsPort,
		ca: tls ? readFileSync(certificate, "utf8") : "",
		domain: "localhost",
		rooms: "rooms.localhost",
		account: (name, password = PASSWORD) => {
			const path = join(accounts, `${name}.dat`);
			writeFileSync(path, `return { ["password"] = ${JSON.stringify(password)}; };\n`);
			chmodSync(path, 0o644);
			return `${name}@localhost`;
		},
		kill,
		start,
		remove: async () => {
			await kill();
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** Ends the server on request, and when its starter is gone. */
const WATCHED = `"$0" "$@" </dev/null & server=$!
read -r how; kill -"\${how:-KILL}" $server; wait $server`;

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
