// The command that starts a program behind a wall. bubblewrap gets nothing of the call's environment: a variable such as LD_PRELOAD
// would run the agent's code before the wall stands. Variables go by descriptor, where no list of processes shows them.
import { KeryxError } from "../errors.ts";
import type { Machine, WallLimits } from "./types.ts";

/** Descriptors of the launcher; the guard's where there is one, and those of folders and files follow. */
export const ARGUMENTS_FD = 3;
export const SECCOMP_FD = 4;
export const STATUS_FD = 5;
/** Of one digit: a plain shell knows no others. */
export const GUARD_FD = 6;

/**
 * Ignored by bubblewrap and restored for the program: a signal to the group, or Ctrl-C, is then the program's alone, which ends in its
 * own time and with its own code. Never CHLD: bubblewrap waits for it.
 */
const IGNORED = [
	...[
		"HUP",
		"INT",
		"QUIT",
		"ILL",
		"TRAP",
		"ABRT",
		"BUS",
		"FPE",
		"USR1",
		"SEGV",
		"USR2",
		"PIPE",
		"ALRM",
		"TERM",
	],
	...["STKFLT", "TSTP", "TTIN", "TTOU", "XCPU", "XFSZ", "VTALRM", "PROF", "IO", "PWR", "SYS"],
];
const KB = 1024;
/** bubblewrap itself asks to die with its starter only when the wall stands. This shell is in its group and needs no wall. */
const GUARD = `(read -r _ <&${GUARD_FD}; kill -KILL 0) </dev/null >/dev/null 2>&1 &`;

export interface LaunchOptions {
	readonly machine: Machine;
	readonly argv: readonly string[];
	/** PWD as the program shall see it, where it is given one. */
	readonly pwd: string | undefined;
	readonly limits: WallLimits;
	/** Everything ends when whoever holds the other end of this pipe does, from the first moment on. */
	readonly isGuarded?: boolean;
	/** The program takes the terminal that is its first argument; the session's leader gets it by opening it. */
	readonly terminal: string | null;
}

/** A program and its arguments. The wall itself is read from descriptors, so that nobody sees it. */
export function launchCommand({
	machine,
	argv,
	pwd,
	limits,
	isGuarded = false,
	terminal,
}: LaunchOptions): string[] {
	const walled = [
		machine.env,
		`--ignore-signal=${IGNORED.join(",")}`,
		machine.bwrap,
		...["--args", String(ARGUMENTS_FD)],
		...["--seccomp", String(SECCOMP_FD)],
		...["--json-status-fd", String(STATUS_FD)],
		"--",
		machine.env,
		"--default-signal",
		// bubblewrap sets it, asked or not.
		...(pwd === undefined ? ["-u", "PWD", "--"] : ["--", `PWD=${pwd}`]),
		// env takes a name with = in it for a variable.
		...((argv[0] ?? "").includes("=") ? [machine.shell, "-c", 'exec "$@"', machine.shell] : []),
		...argv,
	];
	const script = [
		// Where the limit that is there is lower already, it stays.
		...(limits.openFiles === null ? [] : [`ulimit -n ${limits.openFiles} 2>/dev/null`]),
		...(limits.memoryBytes === null ? [] : [`ulimit -d ${Math.ceil(limits.memoryBytes / KB)} 2>/dev/null`]),
		`${isGuarded ? `${GUARD} ` : ""}${terminal === null ? 'exec "$@"' : 't=$1; shift; exec "$@" <>"$t" >&0 2>&0'}${isGuarded ? ` ${GUARD_FD}<&-` : ""}`,
	].join("; ");
	if (script === 'exec "$@"') return walled;
	return [machine.shell, "-c", script, machine.shell, ...(terminal === null ? [] : [terminal]), ...walled];
}

/** What bubblewrap reads from its descriptor: the wall, where to begin, and the whole environment. */
export function launchArguments(
	wall: readonly string[],
	{ cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Buffer {
	const words = [
		...wall,
		...["--chdir", cwd],
		"--clearenv",
		...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
	];
	for (const word of words) {
		// It would end the word, and the rest would be an argument of its own.
		if (word.includes("\0"))
			throw new KeryxError("argument.invalid", "a variable or path has a NUL in it", { field: "env" });
	}
	return Buffer.from(words.map((word) => `${word}\0`).join(""));
}
