// A PostgreSQL server for a test file: its own data, on 127.0.0.1 and a port of its own, gone when the file has ended.
import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.ts";

export interface PostgresServer {
	readonly port: number;
	/** Of a database, as its superuser. */
	url(database?: string): string;
	/** fast: connections are closed. immediate: as if the machine had died. */
	stop(how?: "fast" | "immediate"): Promise<void>;
	/** Changes the data of a server that is stopped; nobody else can connect meanwhile. */
	change(sql: string): void;
	/** Again, on the same port with the same data. */
	start(): Promise<void>;
	/** Stops and removes it. */
	remove(): Promise<void>;
}

/** Where Debian and other systems put the programs; newest first. */
function binaries(): string {
	const base = "/usr/lib/postgresql";
	const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
	const found = versions
		.map((version) => join(base, version, "bin"))
		.find((bin) => existsSync(join(bin, "initdb")));
	if (!found) throw new Error("there is no PostgreSQL in /usr/lib/postgresql: `npm test` installs one");
	return found;
}

interface User {
	readonly uid?: number;
	readonly gid?: number;
}

/** The server refuses to run as root. */
export function serverUser(): User {
	if (process.getuid?.() !== 0) return {};
	const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
	return { uid: id("-u"), gid: id("-g") };
}

export async function startPostgres({
	durable = false,
	settings = {},
	password,
}: {
	/** The superuser's password, which is then required (scram). Absent: everyone is trusted. */
	readonly password?: string;
	/** Waits for the disk, as servers do; tests need not. */
	readonly durable?: boolean;
	readonly settings?: Readonly<Record<string, string>>;
} = {}): Promise<PostgresServer> {
	const bin = binaries();
	const as = serverUser();
	const folder = mkdtempSync(join(tmpdir(), "keryx-pg-"));
	if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid);
	const data = join(folder, "data");
	const secret = join(folder, "password");
	if (password !== undefined) writeFileSync(secret, `${password}\n`, { mode: 0o644 });
	if (password === undefined) copyEmpty(bin, data, as);
	else makeData(bin, data, as, ["-A", "scram-sha-256", `--pwfile=${secret}`]);
	const port = await freePort();
	const given = {
		listen_addresses: "127.0.0.1",
		port: String(port),
		unix_socket_directories: folder,
		fsync: durable ? "on" : "off",
		max_connections: "100",
		shared_buffers: "64MB",
		log_min_messages: "fatal",
		...settings,
	};
	const args = Object.entries(given).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
	let running: ChildProcessByStdio<Writable, null, Readable> | null = null;
	const start = async () => {
		const child = spawn("sh", ["-c", WATCHED, join(bin, "postgres"), "-D", data, ...args], {
			...as,
			cwd: folder,
			stdio: ["pipe", "ignore", "pipe"],
		});
		running = child;
		let said = "";
		child.stderr.on("data", (piece) => (said += piece));
		while (!isReady(bin, port)) {
			if (child.exitCode !== null) throw new Error(`the server ended: ${said}`);
			await pause(20);
		}
	};
	const stop = async (how: "fast" | "immediate" = "fast") => {
		const child = running;
		running = null;
		if (!child || child.exitCode !== null) return;
		const ended = once(child, "exit");
		child.stdin.end(how === "fast" ? "INT\n" : "QUIT\n");
		await ended;
	};
	await start();
	return {
		port,
		url: (database = "postgres") => `postgres://keryx@127.0.0.1:${port}/${database}`,
		stop,
		change: (sql) => {
			// An error is only printed.
			const alone = [...args, "-c", "log_min_messages=error", "postgres"];
			const { stderr } = spawnSync(join(bin, "postgres"), ["--single", "-D", data, ...alone], {
				...as,
				cwd: folder,
				input: `${sql}\n`,
				encoding: "utf8",
			});
			if (/ERROR|FATAL/.test(stderr)) throw new Error(stderr);
		},
		start,
		remove: async () => {
			await stop("immediate");
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

function makeData(bin: string, data: string, as: User, auth: readonly string[]): void {
	execFileSync(
		join(bin, "initdb"),
		["-D", data, "-U", "keryx", ...auth, "-E", "UTF8", "--locale=C", "--no-sync"],
		{ ...as, cwd: tmpdir(), stdio: "pipe" },
	);
}

/** A copy of the first test file's cluster, which takes a third of the time. The folder for it is created before all tests. */
function copyEmpty(bin: string, data: string, as: User): void {
	const folder = process.env.KERYX_TEST_POSTGRES;
	const trusting = ["-A", "trust"];
	if (!folder) {
		makeData(bin, data, as, trusting);
		return;
	}
	const empty = join(folder, "empty");
	if (!existsSync(empty)) {
		if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid);
		const draft = join(folder, `draft-${process.pid}`);
		makeData(bin, draft, as, trusting);
		try {
			renameSync(draft, empty);
		} catch (error) {
			// Another process has made it meanwhile.
			if (!existsSync(empty)) throw error;
			rmSync(draft, { recursive: true, force: true });
		}
	}
	execFileSync("cp", ["-R", empty, data], { ...as, cwd: folder, stdio: "pipe" });
}

/** Ends the server on request, and when its starter is gone. */
const WATCHED = `"$0" "$@" </dev/null & server=$!
read -r how; kill -"\${how:-QUIT}" $server; wait $server`;

function isReady(bin: string, port: number): boolean {
	try {
		execFileSync(join(bin, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}
