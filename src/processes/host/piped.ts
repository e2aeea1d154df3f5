// A program on pipes. Node's own pipes are sockets, on which `> /dev/stderr` fails and which bash mistakes for a remote login; these are
// unlinked FIFOs. Stdout and stderr share one, so their order is kept.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SpawnRequest } from "../types.ts";
import { type Exit, programOf, readInto, type Started } from "./start.ts";
import { startWalled } from "./walled.ts";

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

export async function startPiped(request: SpawnRequest, folder: string): Promise<Started> {
	const program = request.wall ? null : programOf(request);
	const paths = { input: join(folder, "stdin"), output: join(folder, "stdout") };
	const opened: number[] = [];
	const open = (path: string, flags: number) => {
		const fd = openSync(path, flags);
		opened.push(fd);
		return fd;
	};
	try {
		await promisify(execFile)("mkfifo", ["-m", "600", paths.input, paths.output]);
		// Opening an end blocks until the other is opened; so the first is opened for both.
		open(paths.input, O_RDWR | O_NONBLOCK);
		const theirInput = open(paths.input, O_RDONLY);
		const ourInput = open(paths.input, O_WRONLY | O_NONBLOCK);
		const ourOutput = open(paths.output, O_RDONLY | O_NONBLOCK);
		const theirOutput = open(paths.output, O_WRONLY);
		const { pid, exit } =
			program === null
				? await startWalled(request, folder, [theirInput, theirOutput, theirOutput])
				: await startPlain(program, request, [theirInput, theirOutput, theirOutput]);
		opened.splice(opened.indexOf(ourInput), 1);
		opened.splice(opened.indexOf(ourOutput), 1);
		return {
			pid,
			open: (take) => {
				const input = new Socket({ fd: ourInput, readable: false, writable: true });
				const output = new Socket({ fd: ourOutput, readable: true, writable: false, ...readInto(take) });
				return { input, output, endInput: () => void input.end() };
			},
			onExit: (listener) => void exit.then(listener),
			resize: null,
		};
	} finally {
		for (const fd of opened) closeSync(fd);
		for (const path of Object.values(paths)) rmSync(path, { force: true });
	}
}

async function startPlain(
	program: string,
	{ argv, cwd, env }: SpawnRequest,
	stdio: number[],
): Promise<{ readonly pid: number; readonly exit: Promise<Exit> }> {
	const child = spawn(program, argv.slice(1), {
		argv0: argv[0] as string,
		cwd,
		env: { ...env },
		stdio,
		detached: true,
	});
	const exit = exitOf(child);
	return { pid: await started(child), exit };
}

function exitOf(child: ChildProcess): Promise<Exit> {
	return new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
}

async function started(child: ChildProcess): Promise<number> {
	if (child.pid !== undefined) return child.pid;
	return new Promise((_, reject) => child.once("error", reject));
}
