// Builds the command that starts a walled program. bubblewrap gets nothing of the call's environment: a variable such as LD_PRELOAD would
// run the agent's code before the wall is up. Variables are passed by descriptor, invisible in process lists.
import { KeryxError } from "../errors.ts";
import { enterScript } from "./cgroups.ts";
import { pastaScript } from "./network/pasta.ts";
import type { Machine, WallLimits } from "./types.ts";

/** Descriptors of the launcher, then the guard's if there is one, then those of folders and files. */
export const ARGUMENTS_FD = 3;
export const SECCOMP_FD = 4;
export const STATUS_FD = 5;
/** One digit: a plain shell supports no others. */
export const GUARD_FD = 6;

/**
 * Ignored by bubblewrap and restored for the program: a signal to the group, or Ctrl-C, then reaches only the program, which ends in its
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
/** bubblewrap dies with its starter only once the wall is up. This shell is in its group and needs no wall. */
const GUARD = `(read -r _ <&${GUARD_FD}; kill -KILL 0) </dev/null >/dev/null 2>&1 &`;

export interface LaunchOptions {
	readonly machine: Machine;
	readonly argv: readonly string[];
	/** PWD for the program, if given. */
	readonly pwd: string | undefined;
	readonly limits: WallLimits;
	/** Of its cgroup. */
	readonly cgroup?: readonly string[] | null;
	/** The first of two free descriptors, if pasta gives the program its network. */
	readonly pastaFd?: number | null;
	/** Everything ends when the holder of this pipe's other end does, from the first moment on. */
	readonly isGuarded?: boolean;
	/** The program takes the terminal given as its first argument; the session leader gets it by opening it. */
	readonly terminal: string | null;
}

/** A program and its arguments. The wall itself is read from descriptors, so that it is not visible in process lists. */
export function launchCommand({
	machine,
	argv,
	pwd,
	limits,
	cgroup = null,
	pastaFd = null,
	isGuarded = false,
	terminal,
}: LaunchOptions): string[] {
	const ignoring = [machine.env, `--ignore-signal=${IGNORED.join(",")}`];
	const walled = [
		...(pastaFd === null ? ignoring : []),
		machine.bwrap,
		...["--args", String(ARGUMENTS_FD)],
		...["--seccomp", String(SECCOMP_FD)],
		...["--json-status-fd", String(STATUS_FD)],
		"--",
		machine.env,
		"--default-signal",
		// bubblewrap always sets it.
		...(pwd === undefined ? ["-u", "PWD", "--"] : ["--", `PWD=${pwd}`]),
		// env takes a name with = for a variable.
		...((argv[0] ?? "").includes("=") ? [machine.shell, "-c", 'exec "$@"', machine.shell] : []),
		...argv,
	];
	const limiting = [
		...enterScript(cgroup ?? []),
		// A lower existing limit stays.
		...(limits.openFiles === null ? [] : [`ulimit -n ${limits.openFiles} 2>/dev/null`]),
		...(limits.memoryBytes === null ? [] : [`ulimit -d ${Math.ceil(limits.memoryBytes / KB)} 2>/dev/null`]),
	];
	const closed = isGuarded ? ` ${GUARD_FD}<&-` : "";
	const script = [
		// First: this limit would also apply to the guard.
		...(isGuarded ? [GUARD] : []),
		...(terminal === null ? [] : ['t=$1; shift; exec <>"$t" >&0 2>&0']),
		...(pastaFd === null
			? [...limiting, `exec "$@"${closed}`]
			: [pastaScript(machine, { before: limiting, input: pastaFd, closed })]),
	].join("\n");
	if (script === 'exec "$@"') return walled;
	return [
		...(pastaFd === null ? [] : ignoring),
		...[machine.shell, "-c", script, machine.shell],
		...(terminal === null ? [] : [terminal]),
		...walled,
	];
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
		// It would end the word, and the rest would become another argument.
		if (word.includes("\0"))
			throw new KeryxError("argument.invalid", "a variable or path contains a NUL", { field: "env" });
	}
	return Buffer.from(words.map((word) => `${word}\0`).join(""));
}
