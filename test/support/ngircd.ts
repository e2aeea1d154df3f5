// A real IRC server for a test file, on 127.0.0.1 with its own ports, removed when the file has ended.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

export interface Ngircd {
	readonly port: number;
	/** With TLS; 0 without. */
	readonly tlsPort: number;
	/** The certificate to trust, as PEM; empty without TLS. */
	readonly ca: string;
	/** Kills it, as if the machine had died. */
	kill(): Promise<void>;
	/** Restarts it on the same ports. */
	start(): Promise<void>;
	remove(): Promise<void>;
}

export interface NgircdOptions {
	readonly name?: string;
	/** The server's password, which every client must send. */
	readonly password?: string;
	readonly tls?: boolean;
	/** The server slows down nobody. */
	readonly isFast?: boolean;
	readonly nickLength?: number;
	/** Lines of the configuration: links to other servers, channels. */
	readonly more?: string;
	readonly port?: number;
}

export async function startNgircd(options: NgircdOptions = {}): Promise<Ngircd> {
	const { name = "irc.test", password, tls = false, isFast = true, nickLength = 30, more = "" } = options;
	const folder = mkdtempSync(join(tmpdir(), "keryx-ngircd-"));
	// The server gives up root before it reads some of its files.
	chmodSync(folder, 0o755);
	const port = options.port ?? (await freePort());
	const tlsPort = tls ? await freePort() : 0;
	const certificate = join(folder, "server.pem");
	if (tls) {
		makeCertificate(certificate);
		chmodSync(certificate, 0o644);
	}
	const file = join(folder, "ngircd.conf");
	writeFileSync(
		file,
		`[Global]
Name = ${name}
Info = test
Listen = 127.0.0.1
Ports = ${port}
MotdPhrase = hello
${password === undefined ? "" : `Password = ${password}`}
[Limits]
MaxConnectionsIP = 0
MaxJoins = 0
MaxNickLength = ${nickLength}
ConnectRetry = 1
${isFast ? "MaxPenaltyTime = 0" : ""}
[Options]
DNS = no
Ident = no
PAM = no
${tls ? `[SSL]\nCertFile = ${certificate}\nKeyFile = ${certificate}\nPorts = ${tlsPort}` : ""}
${more}
`,
	);
	let running: ChildProcess | null = null;
	const start = async () => {
		const child = spawn("sh", ["-c", WATCHED, "/usr/sbin/ngircd", "-n", "-f", file], {
			stdio: ["pipe", "pipe", "pipe"],
		});
		running = child;
		let said = "";
		for (const stream of [child.stdout, child.stderr]) stream?.on("data", (piece) => (said += piece));
		await until(async () => {
			if (child.exitCode !== null) throw new Error(`ngircd ended: ${said}`);
			return isListening(port);
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

/** For 127.0.0.1, with its key, in one file. */
export function makeCertificate(file: string): void {
	const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=irc.test"];
	execFileSync(
		"openssl",
		[
			...request,
			"-addext",
			"subjectAltName=IP:127.0.0.1,DNS:localhost",
			"-keyout",
			file,
			"-out",
			`${file}.crt`,
		],
		{ stdio: "pipe" },
	);
	writeFileSync(file, `${readFileSync(file, "utf8")}${readFileSync(`${file}.crt`, "utf8")}`);
}

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
