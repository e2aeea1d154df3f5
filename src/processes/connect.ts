// Finds a home's process host, and starts one if there is none. Concurrent starts get the same host.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { connect as connectSocket, type Socket } from "node:net";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { KeryxError } from "../errors.ts";
import { type EnterOptions, HostClient } from "./client.ts";
import { processesFolder } from "./files.ts";
import { type HostPaths, hostPaths, isServed, PROTOCOL } from "./protocol.ts";

/** Next to this file, in the form it runs in: TypeScript in development, JavaScript when built. Tests name a built one. */
const MAIN =
	process.env.KERYX_PROCESS_HOST ??
	fileURLToPath(
		new URL(import.meta.url.endsWith(".ts") ? "./host/main.ts" : "./host/main.js", import.meta.url),
	);
const IDLE_MS = 60_000;
const START_MS = 15_000;
const MAX_ERRORS = 1024 * 1024;
/** A small heap, and no warnings about new parts of Node. */
const FLAGS = ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=2"];

export interface ConnectOptions {
	readonly home: string;
	/** Starts a host if there is none; otherwise rejects with `process.host_gone`. */
	readonly start?: boolean;
	/** How long a newly started host stays when idle. */
	readonly idleMs?: number;
	/** How long an existing one has to answer; then `process.host_silent`. */
	readonly answerMs?: number;
}

export async function connectHost({
	home: given,
	start = false,
	idleMs = IDLE_MS,
	answerMs,
}: ConnectOptions): Promise<HostClient> {
	const home = resolve(given);
	const paths = hostPaths(home);
	const until = performance.now() + START_MS;
	let starting: ChildProcess | null = null;
	for (let pause = 5; ; pause = Math.min(pause * 2, 50)) {
		let isSilent = false;
		const client = await tryConnect(paths, { ...(answerMs !== undefined && { answerMs }) }).catch(
			(error: unknown) => {
				const is = error instanceof KeryxError && error.code === "process.host_silent";
				// Its lock prevents another start: callers wait for it.
				if (!is || !start || performance.now() > until) throw error;
				isSilent = true;
				return null;
			},
		);
		if (client) return client;
		if (isSilent) continue;
		if (!start) throw new KeryxError("process.host_gone", `no process host runs for ${home}`);
		if (starting && starting.exitCode !== null && starting.exitCode !== 0) throw await cannotStart(paths);
		if (performance.now() > until) throw await cannotStart(paths);
		// A clean exit means another host was there, which may have left since.
		if (!starting || starting.exitCode === 0) starting = startHost(home, paths, idleMs);
		await delay(pause);
	}
}

/** The versions of the hosts that answer in a home. One of another version stays until its processes have ended. */
export async function listHosts(home: string): Promise<number[]> {
	const answering: number[] = [];
	for (const version of await hostVersions(home)) {
		const socket = await dial(hostPaths(resolve(home), version).socket);
		if (socket) answering.push(version);
		socket?.destroy();
	}
	return answering;
}

/** Another build's host with this pid, in the version both know. Null if none has it. */
export async function connectHolder(
	{ home, answerMs }: ConnectOptions,
	pid: number,
): Promise<HostClient | null> {
	for (const version of await hostVersions(home)) {
		const options = {
			version: Math.min(version, PROTOCOL),
			...(answerMs !== undefined && { answerMs }),
		};
		if (!isServed(options.version)) continue;
		const client = await tryConnect(hostPaths(resolve(home), version), options);
		if (client?.hostPid === pid) return client;
		await client?.close();
	}
	return null;
}

async function hostVersions(home: string): Promise<number[]> {
	const names = await readdir(processesFolder(resolve(home))).catch(() => []);
	const versions = names.flatMap((name) => /^host-(\d+)\.sock$/.exec(name)?.[1] ?? []).map(Number);
	return versions.sort((a, b) => a - b);
}

/** Null if nobody listens, or the host just left. */
async function tryConnect(paths: HostPaths, options: EnterOptions): Promise<HostClient | null> {
	const token = await readFile(paths.token, "utf8").catch(() => null);
	if (token === null) return null;
	const socket = await dial(paths.socket);
	return socket && HostClient.enter(socket, token, options);
}

function dial(path: string): Promise<Socket | null> {
	return new Promise((resolve, reject) => {
		const socket = connectSocket(path);
		socket.once("connect", () => {
			socket.removeAllListeners("error");
			resolve(socket);
		});
		socket.once("error", (cause: NodeJS.ErrnoException) => {
			if (cause.code === "ENOENT" || cause.code === "ECONNREFUSED" || cause.code === "ECONNRESET")
				resolve(null);
			else if (cause.code === "EAGAIN")
				reject(
					new KeryxError("process.host_silent", "the process host does not accept a connection", { cause }),
				);
			else
				reject(
					new KeryxError("process.host_failed", `cannot connect to ${path}: ${cause.message}`, { cause }),
				);
		});
	});
}

/** In its own session, with nothing of ours: no directory, streams or environment. */
function startHost(home: string, paths: HostPaths, idleMs: number): ChildProcess {
	mkdirSync(processesFolder(home), { recursive: true, mode: 0o700 });
	const size = statSync(paths.errors, { throwIfNoEntry: false })?.size ?? 0;
	const errors = openSync(paths.errors, size > MAX_ERRORS ? "w" : "a", 0o600);
	try {
		const child = spawn(process.execPath, [...FLAGS, MAIN, home, String(idleMs)], {
			cwd: "/",
			detached: true,
			stdio: ["ignore", "ignore", errors],
			env: { PATH: process.env.PATH },
		});
		child.on("error", () => {});
		child.unref();
		return child;
	} finally {
		closeSync(errors);
	}
}

async function cannotStart(paths: HostPaths): Promise<KeryxError> {
	const said = await readFile(paths.errors, "utf8").catch(() => "");
	const last = said.trimEnd().split("\n").slice(-3).join(" ");
	return new KeryxError(
		"process.host_failed",
		`the process host did not start: ${last || "it said nothing"}`,
	);
}
