// An sshd of its own for a test: on a free port of this machine, with its own keys, for the user who runs the test. It has nothing to
// do with one that the system may have, and leaves nothing behind.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { connect as dial } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";
import { gone } from "./support.ts";

const SSHD = "/usr/sbin/sshd";
const KEYGEN: string = "/usr/bin/ssh-keygen";
/** Compiled into sshd; without it, it does not start as root. */
const EMPTY = "/run/sshd";

export class SshServer {
	readonly folder = mkdtempSync(join(tmpdir(), "keryx-sshd-"));
	readonly #port: number;
	#server: ChildProcess | null = null;

	private constructor(port: number, without: readonly string[]) {
		this.#port = port;
		const at = (name: string) => join(this.folder, name);
		for (const name of ["host", "client", "other"])
			execFileSync(KEYGEN, ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", at(name)]);
		writeFileSync(at("authorized_keys"), readFileSync(at("client.pub")), { mode: 0o600 });
		const [kind, key] = readFileSync(at("host.pub"), "utf8").split(" ");
		writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${kind} ${key}\n`);
		// The default one costs more than all the rest of a connection.
		writeFileSync(at("ssh_config"), "KexAlgorithms curve25519-sha256\n");
		writeFileSync(
			at("sshd_config"),
			[
				"ListenAddress 127.0.0.1",
				`Port ${port}`,
				`HostKey ${at("host")}`,
				`AuthorizedKeysFile ${at("authorized_keys")}`,
				`PidFile ${at("sshd.pid")}`,
				"UsePAM no",
				"StrictModes no",
				"PasswordAuthentication no",
				"PermitRootLogin prohibit-password",
				// Its records of processes go here, not into the home of whoever runs the test.
				`SetEnv XDG_STATE_HOME=${at("state")}${without.length > 0 ? ` PATH=${this.#toolsBut(without)}` : ""}`,
				"",
			].join("\n"),
		);
	}

	/** `without`: programs that are not there. */
	static async start({ without = [] }: { readonly without?: readonly string[] } = {}): Promise<SshServer> {
		if (!existsSync(SSHD)) throw new Error(`${SSHD} is missing: install openssh-server`);
		const server = new SshServer(await freePort(), without);
		await server.listen();
		return server;
	}

	get pid(): number {
		return this.#server?.pid ?? 0;
	}

	/** How a client gets in. */
	get target() {
		return {
			destination: `${userInfo().username}@127.0.0.1`,
			port: this.#port,
			identityFile: join(this.folder, "client"),
			knownHostsFile: join(this.folder, "known_hosts"),
			configFile: join(this.folder, "ssh_config"),
		};
	}

	async listen(): Promise<void> {
		if (userInfo().uid === 0) mkdirSync(EMPTY, { recursive: true });
		const server = spawn(SSHD, ["-D", "-e", "-f", join(this.folder, "sshd_config")], {
			stdio: ["ignore", "ignore", "pipe"],
		});
		let said = "";
		server.stderr.on("data", (data: Buffer) => {
			said += data.toString();
		});
		this.#server = server;
		for (let tries = 0; !(await answers(this.#port)); tries++) {
			if (server.exitCode !== null || tries > 500) throw new Error(`sshd does not start: ${said}`);
			await delay(20);
		}
	}

	/** Takes no more connections; those that are there live on. */
	async stop(): Promise<void> {
		const server = this.#server;
		this.#server = null;
		if (!server || server.exitCode !== null) return;
		const exit = new Promise((resolve) => server.once("exit", resolve));
		server.kill("SIGTERM");
		await exit;
	}

	/** The process of the connection that a process was started over. */
	connectionOf(pid: number): number {
		for (let at = pid; at > 1; at = parentOf(at)) if (parentOf(at) === this.pid) return at;
		throw new Error(`${pid} was not started over this sshd`);
	}

	/** The processes of all connections that there are. */
	connections(): number[] {
		return readdirSync("/proc").flatMap((name) =>
			/^\d+$/.test(name) && parentOf(Number(name)) === this.pid ? [Number(name)] : [],
		);
	}

	async close(): Promise<void> {
		const connections = this.connections();
		await this.stop();
		for (const pid of connections) await gone(pid);
		rmSync(this.folder, { recursive: true, force: true });
	}

	#toolsBut(without: readonly string[]): string {
		const folder = join(this.folder, "bin");
		mkdirSync(folder);
		const tools = new Map(
			["/usr/bin", "/bin"].flatMap((from) =>
				readdirSync(from).map((name) => [name, join(from, name)] as const),
			),
		);
		for (const [name, tool] of tools) if (!without.includes(name)) symlinkSync(tool, join(folder, name));
		return folder;
	}
}

function parentOf(pid: number): number {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
		return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
	} catch {
		return 0;
	}
}

function answers(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = dial(port, "127.0.0.1");
		socket.once("data", () => {
			socket.destroy();
			resolve(true);
		});
		socket.once("error", () => resolve(false));
		socket.once("close", () => resolve(false));
	});
}
