// A program on a terminal of its own, of whose session it is the leader. The package's own class adds variables and hangs up 200 ms
// after the program's end, whoever else still writes; so only its binary is used, and only once a terminal is asked for.
import { createRequire } from "node:module";
import { constants } from "node:os";
import { ReadStream } from "node:tty";
import { KeryxError } from "../../errors.ts";
import type { SpawnRequest } from "../types.ts";
import { type Exit, programOf, readInto, type Started } from "./start.ts";

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
	resize(fd: number, cols: number, rows: number): void;
}

/** What a user types to end the input. */
const END_OF_INPUT = "\x04";
const PACKAGE = "@lydell/node-pty";

export function startOnTerminal(request: SpawnRequest): Started {
	const { argv, cwd, env, pty } = request;
	const { rows, cols } = pty ?? { rows: 30, cols: 120 };
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
	return {
		pid,
		open: (take) => {
			const stream = new ReadStream(fd, readInto(take));
			return { input: stream, output: stream, endInput: () => void stream.write(END_OF_INPUT) };
		},
		onExit: (listener) => void exit.promise.then(listener),
		resize: (size) => binary.resize(fd, size.cols, size.rows),
	};
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
