// The only way to the git binary. Arguments are an array, never a shell string; user and machine configuration is not read; nothing can
// prompt, run a hook or exceed its time.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { KeryxError } from "../errors.ts";

export interface GitCall {
	readonly args: readonly string[];
	/** The repository, always one of ours. */
	readonly repository: string;
	/** The work tree, for the few commands that need one. */
	readonly workTree?: string;
	readonly input?: Buffer | AsyncIterable<Buffer>;
	readonly timeoutMs?: number;
	/** Answers longer than this are a failure. */
	readonly maxBytes?: number;
	/** Answers longer than `maxBytes` are cut there instead, and git is stopped. */
	readonly cut?: boolean;
	/** Exit codes that count as an answer. */
	readonly accept?: readonly number[];
}

export interface GitAnswer {
	readonly out: Buffer;
	readonly cut: boolean;
}

const TIMEOUT_MS = 120_000;
const VERSION_MS = 10_000;
const MAX_BYTES = 256 * 1024 * 1024;
const SAID_BYTES = 4096;

/** On every call: neither the folder nor the machine can change how git works. */
const SETTINGS = [
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.quotePath=false",
	"core.excludesFile=/dev/null",
	"core.attributesFile=/dev/null",
	"core.autocrlf=false",
	"core.compression=1",
	"core.protectHFS=false",
	"core.protectNTFS=false",
	"commit.gpgSign=false",
	"tag.gpgSign=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"fastimport.unpackLimit=0",
	"diff.external=",
	"safe.directory=*",
	"protocol.allow=never",
].flatMap((setting) => ["-c", setting]);

/** Throws checkpoint.no_git or checkpoint.failed. When it returns, git has ended. */
export function git(call: GitCall): Promise<GitAnswer> {
	const { args, repository, workTree, input, accept = [0], cut = false } = call;
	const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = call;
	return new Promise((resolve, reject) => {
		const child = start(args, repository, workTree);
		const out: Buffer[] = [];
		let bytes = 0;
		let said = "";
		let stopped: "time" | "size" | "cut" | undefined;
		const stop = (why: "time" | "size" | "cut"): void => {
			stopped ??= why;
			killGroup(child);
		};
		const timer = setTimeout(() => stop("time"), timeoutMs);
		child.stdout.on("data", (data: Buffer) => {
			if (stopped) return;
			const room = maxBytes - bytes;
			bytes += data.length;
			out.push(data.length > room ? data.subarray(0, room) : data);
			if (data.length > room) stop(cut ? "cut" : "size");
		});
		child.stderr.on("data", (data: Buffer) => {
			if (said.length < SAID_BYTES) said += data.toString("utf8");
		});
		// If git ends before it has read everything, its own message says why.
		child.stdin.on("error", () => {});
		const written = feed(child, input).catch((error: unknown) => {
			killGroup(child);
			return error;
		});
		child.on("error", (error: NodeJS.ErrnoException) => {
			clearTimeout(timer);
			reject(error.code === "ENOENT" ? missing(error) : failure(args, error.message, error));
		});
		child.on("close", (code, signal) => {
			clearTimeout(timer);
			void written.then((problem) => {
				if (problem instanceof KeryxError) return reject(problem);
				if (stopped === "time") return reject(failure(args, `it took longer than ${timeoutMs} ms`));
				if (stopped === "size") return reject(failure(args, `it returned more than ${maxBytes} bytes`));
				if (stopped === "cut" || (code !== null && accept.includes(code)))
					return problem && !isBrokenPipe(problem)
						? reject(problem)
						: resolve({ out: Buffer.concat(out), cut: stopped === "cut" });
				reject(failure(args, said.trim() || `it exited with ${code ?? signal}`));
			});
		});
	});
}

/** Its output as a stream: git waits for the reader. Throws like `git`. When the reader stops, git has ended. */
export async function* gitStream({
	args,
	repository,
	input,
	timeoutMs = TIMEOUT_MS,
}: Pick<GitCall, "args" | "repository" | "input" | "timeoutMs">): AsyncGenerator<Buffer> {
	const child = start(args, repository, undefined);
	let said = "";
	child.stderr.on("data", (data: Buffer) => {
		if (said.length < SAID_BYTES) said += data.toString("utf8");
	});
	child.stdin.on("error", () => {});
	let isLate = false;
	const timer = setTimeout(() => {
		isLate = true;
		killGroup(child);
	}, timeoutMs);
	const ended = new Promise<KeryxError | null>((resolve) => {
		child.on("error", (error: NodeJS.ErrnoException) =>
			resolve(error.code === "ENOENT" ? missing(error) : failure(args, error.message, error)),
		);
		child.on("close", (code, signal) => {
			if (isLate) resolve(failure(args, `it took longer than ${timeoutMs} ms`));
			else resolve(code === 0 ? null : failure(args, said.trim() || `it exited with ${code ?? signal}`));
		});
	});
	try {
		await feed(child, input);
		for await (const data of child.stdout) yield data as Buffer;
		const problem = await ended;
		if (problem) throw problem;
	} finally {
		clearTimeout(timer);
		killGroup(child);
		await ended;
	}
}

function start(args: readonly string[], repository: string, workTree: string | undefined) {
	return spawn("git", [...SETTINGS, ...args], {
		// Its own group: git's children are killed with it.
		detached: true,
		cwd: workTree ?? repository,
		env: environment(repository, workTree),
		stdio: ["pipe", "pipe", "pipe"],
	});
}

/** Throws checkpoint.no_git or checkpoint.failed. */
export function gitVersion(): Promise<string> {
	return new Promise((resolve, reject) => {
		execFile("git", ["--version"], { timeout: VERSION_MS }, (error, out) => {
			if (!error) resolve(/\d+(\.\d+)*/.exec(out)?.[0] ?? out.trim());
			else reject(error.code === "ENOENT" ? missing(error) : failure(["--version"], error.message, error));
		});
	});
}

async function feed(child: ChildProcess, input: GitCall["input"]): Promise<unknown> {
	const stdin = child.stdin;
	if (!stdin) return undefined;
	if (input === undefined || Buffer.isBuffer(input)) {
		stdin.end(input);
		return undefined;
	}
	await pipeline(Readable.from(input), stdin);
	return undefined;
}

/** git closed its end: its message or exit code says the rest. */
function isBrokenPipe(problem: unknown): boolean {
	const { code } = problem as { code?: unknown };
	return code === "EPIPE" || code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE";
}

function killGroup(child: ChildProcess): void {
	if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
	try {
		process.kill(-child.pid, "SIGKILL");
	} catch {
		// It has just ended.
	}
}

function environment(repository: string, workTree: string | undefined): NodeJS.ProcessEnv {
	return {
		PATH: process.env.PATH,
		HOME: repository,
		LC_ALL: "C",
		GIT_DIR: repository,
		...(workTree === undefined
			? { GIT_LITERAL_PATHSPECS: "1" }
			: { GIT_WORK_TREE: workTree, GIT_INDEX_FILE: `${repository}/no-index` }),
		GIT_CONFIG_NOSYSTEM: "1",
		GIT_CONFIG_SYSTEM: "/dev/null",
		GIT_CONFIG_GLOBAL: "/dev/null",
		GIT_ATTR_NOSYSTEM: "1",
		GIT_TERMINAL_PROMPT: "0",
		GIT_ASKPASS: "/bin/false",
		SSH_ASKPASS: "/bin/false",
		GIT_EDITOR: "/bin/false",
		GIT_PAGER: "cat",
		GIT_OPTIONAL_LOCKS: "0",
		GIT_NO_REPLACE_OBJECTS: "1",
		GIT_DISCOVERY_ACROSS_FILESYSTEM: "0",
	};
}

function missing(cause: unknown): KeryxError {
	return new KeryxError("checkpoint.no_git", "checkpoints need git, but there is no git on the PATH", {
		cause,
	});
}

function failure(args: readonly string[], why: string, cause?: unknown): KeryxError {
	return new KeryxError("checkpoint.failed", `git ${args[0]} failed: ${why}`, { cause });
}
