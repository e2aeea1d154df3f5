// A program on its own terminal, as session leader. The package's class adds variables and hangs up 200 ms after the program's end, even
// if others still write; so only its binary is used, loaded on demand.
import { closeSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { ReadStream } from "node:tty";
import { KeryxError } from "../../errors.ts";
import type { PtySize, SpawnRequest } from "../types.ts";
import { type Exit, programOf, readInto, type Started } from "./start.ts";
import { noteTerminal } from "./terminals.ts";
import { startWalled } from "./walled.ts";

interface Binary {
	fork(
		file: string,
		args: readonly string[],
		env: readonly string[],
		cwd: string,
		cols: number,
		rows: number,
		uid: number,
		gid: number,
		utf8: boolean,
		helper: string,
		onExit: (code: number, signal: number) => void,
	): { readonly fd: number; readonly pid: number };
	/** An unused terminal: our end, the program's end, and its path. */
	open(cols: number, rows: number): { readonly master: number; readonly slave: number; readonly pty: string };
	resize(fd: number, cols: number, rows: number): void;
}

/** What a user types to end the input. */
const END_OF_INPUT = "\x04";
const PACKAGE = "@lydell/node-pty";

export function startOnTerminal(request: SpawnRequest): Started {
	const { argv, cwd, env } = request;
	const { rows, cols } = sizeOf(request);
	const program = programOf(request);
	const { binary, helper } = load();
	const exit = Promise.withResolvers<Exit>();
	const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
	const { fd, pid } = binary.fork(
		program,
		argv.slice(1),
		variables,
		cwd,
		cols,
		rows,
		-1,
		-1,
		false,
		helper,
		(code, signal) =>
			exit.resolve(signal ? { code: null, signal: signalName(signal) } : { code, signal: null }),
	);
	return heldTerminal(binary, fd, pid, exit.promise);
}

/** The program opens the terminal by its path, and so becomes its session leader. */
export async function startWalledOnTerminal(request: SpawnRequest, folder: string): Promise<Started> {
	const { rows, cols } = sizeOf(request);
	const { binary } = load();
	const { master, slave, pty } = binary.open(cols, rows);
	const forgetMaster = noteTerminal(master);
	const forgetSlave = noteTerminal(slave);
	try {
		const { pid, exit } = await startWalled(request, folder, { terminal: pty, descriptor: slave });
		return heldTerminal(binary, master, pid, exit);
	} catch (error) {
		closeSync(master);
		forgetMaster();
		throw error;
	} finally {
		closeSync(slave);
		forgetSlave();
	}
}

function heldTerminal(binary: Binary, fd: number, pid: number, exit: Promise<Exit>): Started {
	const forget = noteTerminal(fd);
	return {
		pid,
		open: (take) => {
			const stream = new ReadStream(fd, readInto(take));
			stream.once("close", forget);
			return { input: stream, output: stream, endInput: () => void stream.write(END_OF_INPUT) };
		},
		onExit: (listener) => void exit.then(listener),
		resize: (size) => binary.resize(fd, size.cols, size.rows),
	};
}

function sizeOf({ pty }: SpawnRequest): PtySize {
	return pty ?? { rows: 30, cols: 120 };
}

let loaded: { readonly binary: Binary; readonly helper: string } | undefined;

function load(): { readonly binary: Binary; readonly helper: string } {
	if (loaded) return loaded;
	const platform = `${PACKAGE}-${process.platform}-${process.arch}`;
	try {
		const require = createRequire(createRequire(import.meta.url).resolve(PACKAGE));
		const helper = process.platform === "darwin" ? require.resolve(`${platform}/spawn-helper`) : "";
		loaded = { binary: require(`${platform}/pty.node`) as Binary, helper };
		return loaded;
	} catch (cause) {
		throw new KeryxError("process.no_pty", `${platform} cannot be loaded, so there are no terminals here`, {
			cause,
		});
	}
}

function signalName(number: number): string {
	return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
}
