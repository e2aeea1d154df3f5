// An Ergo server for tests with real programs: accounts, histories, echoes. On 127.0.0.1, in its own folder.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { IrcPerson } from "./irc-person.ts";
import { makeCertificate } from "./ngircd.ts";
import { until } from "./until.ts";

export interface Ergo {
	readonly port: number;
	readonly tlsPort: number;
	/** The certificate to trust, as PEM. */
	readonly ca: string;
	/** An account with this name and password. */
	register(name: string, password: string): Promise<void>;
	remove(): Promise<void>;
}

export interface ErgoOptions {
	/** Slows down fast senders, as it does by default. */
	readonly isSlow?: boolean;
	/** Accounts stay online while their owner is away. */
	readonly alwaysOn?: boolean;
}

export async function startErgo({ isSlow = false, alwaysOn = true }: ErgoOptions = {}): Promise<Ergo> {
	const program = process.env.KERYX_PEER_ERGO ?? "ergo";
	const folder = mkdtempSync(join(tmpdir(), "keryx-ergo-"));
	const [port, tlsPort] = [await freePort(), await freePort()];
	const certificate = join(folder, "server.pem");
	makeCertificate(certificate);
	writeFileSync(
		join(folder, "ircd.yaml"),
		`
network: { name: Test }
server:
    name: ergo.test
    listeners:
        "127.0.0.1:${port}": {}
        "127.0.0.1:${tlsPort}": { tls: { cert: ${certificate}.crt, key: ${certificate} } }
    casemapping: ascii
    enforce-utf8: true
    max-sendq: 1M
    compatibility: { force-trailing: true, send-unprefixed-sasl: true, allow-truncation: false }
    ip-limits: { count: false, throttle: false }
    ip-cloaking: { enabled: false }
accounts:
    authentication-enabled: true
    registration: { enabled: true, allow-before-connect: true, throttling: { enabled: false }, bcrypt-cost: 4 }
    login-throttling: { enabled: false }
    nick-reservation: { enabled: true, method: strict, force-nick-equals-account: false }
    multiclient: { enabled: true, allowed-by-default: true, always-on: "${alwaysOn ? "mandatory" : "disabled"}", auto-away: disabled }
channels:
    default-modes: +nt
    max-channels-per-client: 100
    registration: { enabled: true }
logging: [{ method: stderr, type: "* -userinput -useroutput", level: warn }]
lock-file: ${join(folder, "ircd.lock")}
datastore: { path: ${join(folder, "ircd.db")}, autoupgrade: true }
limits:
    nicklen: 32
    identlen: 20
    channellen: 64
    awaylen: 390
    kicklen: 390
    topiclen: 390
    monitor-entries: 100
    whowas-entries: 100
    chan-list-modes: 100
    registration-messages: 1024
fakelag: { enabled: ${isSlow}, window: 1s, burst-limit: 5, messages-per-window: 2, cooldown: 2s }
history:
    enabled: true
    channel-length: 4096
    client-length: 4096
    autoreplay-on-join: 0
    chathistory-maxmessages: 100
    restrictions: { expire-time: 1w, query-cutoff: none, grace-period: 1h }
`,
	);
	const run = (args: readonly string[]) =>
		spawn("sh", ["-c", WATCHED, program, ...args, "--conf", join(folder, "ircd.yaml")], {
			cwd: folder,
			stdio: ["pipe", "pipe", "pipe"],
		});
	execFileSync(program, ["initdb", "--quiet", "--conf", join(folder, "ircd.yaml")], {
		cwd: folder,
		stdio: "pipe",
	});
	const child: ChildProcess = run(["run"]);
	let said = "";
	for (const stream of [child.stdout, child.stderr]) stream?.on("data", (piece) => (said += piece));
	await until(async () => {
		if (child.exitCode !== null) throw new Error(`ergo ended: ${said}`);
		return isListening(port);
	});
	return {
		port,
		tlsPort,
		ca: readFileSync(`${certificate}.crt`, "utf8"),
		register: async (name, password) => {
			const person = await IrcPerson.connect({ port, nick: name });
			person.write(`PRIVMSG NickServ :REGISTER ${password}`);
			await person.until(() => person.heard.some(({ params }) => params.at(-1)?.includes("now logged in")));
			person.write("QUIT");
			await person.until(() => person.isGone).catch(() => undefined);
		},
		remove: async () => {
			const ended = once(child, "exit");
			child.stdin?.end("KILL\n");
			await ended;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

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

/** A client's first lines to log in. */
export function saslBegin(name: string, password: string): readonly string[] {
	const text = Buffer.from(`\0${name}\0${password}`).toString("base64");
	return [
		"CAP REQ :sasl message-tags account-tag echo-message server-time",
		"AUTHENTICATE PLAIN",
		`AUTHENTICATE ${text}`,
		"CAP END",
	];
}
