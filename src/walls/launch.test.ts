import { expect, test } from "vitest";
import { boxHome, wallEnvironment } from "./environment.ts";
import { launchArguments, launchCommand } from "./launch.ts";
import { parseStatus } from "./status.ts";
import type { Machine } from "./types.ts";

const machine: Machine = {
	bwrap: "/usr/bin/bwrap",
	canDisableUserns: true,
	cgroups: { version: null, memory: null, pids: null, problem: "none" },
	pasta: null,
	canBindDescriptors: true,
	env: "/usr/bin/env",
	shell: "/bin/sh",
	systemFolders: [],
	etc: { files: [], folders: [] },
};
const free = { openFiles: null, memoryBytes: null, processes: null, totalMemoryBytes: null };
const options = { machine, argv: ["ls", "-l"], pwd: undefined, limits: free, terminal: null };

test("the launcher is called by absolute paths, and nothing of the wall is in its arguments", () => {
	const command = launchCommand(options);
	expect(command[0]).toBe("/usr/bin/env");
	expect(command[1]).toMatch(/^--ignore-signal=HUP,INT,/);
	expect(command[1]).not.toMatch(/CHLD|KILL|STOP/);
	expect(command.slice(2)).toEqual([
		...["/usr/bin/bwrap", "--args", "3", "--seccomp", "4", "--json-status-fd", "5", "--"],
		...["/usr/bin/env", "--default-signal", "-u", "PWD", "--", "ls", "-l"],
	]);
});

test("limits and a terminal go through a shell, whose words are fixed", () => {
	const command = launchCommand({
		...options,
		limits: { ...free, openFiles: 512, memoryBytes: 1_000_001 },
		cgroup: ["/sys/fs/cgroup/it's"],
		terminal: "/dev/pts/7",
	});
	expect(command.slice(0, 5)).toEqual([
		"/bin/sh",
		"-c",
		[
			't=$1; shift; exec <>"$t" >&0 2>&0',
			"echo 0 >'/sys/fs/cgroup/it'\\''s/cgroup.procs' || exit 125",
			"ulimit -n 512 2>/dev/null",
			"ulimit -d 977 2>/dev/null",
			'exec "$@"',
		].join("\n"),
		"/bin/sh",
		"/dev/pts/7",
	]);
});

test("a program with = in its name is not taken for a variable, and a PWD that is asked for is kept", () => {
	expect(launchCommand({ ...options, argv: ["a=b", "c"], pwd: "/x" }).slice(-9)).toEqual([
		...["--default-signal", "--", "PWD=/x", "/bin/sh", "-c", 'exec "$@"', "/bin/sh", "a=b", "c"],
	]);
});

test("variables are the end of the list, every word ended by NUL", () => {
	const bytes = launchArguments(["--bind", "/", "/"], { cwd: "/w", env: { A: "b c", "weird name": "ü\n" } });
	expect(bytes.toString()).toBe(
		"--bind\0/\0/\0--chdir\0/w\0--clearenv\0--setenv\0A\0b c\0--setenv\0weird name\0ü\n\0",
	);
});

test("no variable, and no directory, can add a word to the list", () => {
	const evil = "x\0--bind\0/\0/";
	const starts: [cwd: string, env: Record<string, string>][] = [
		["/", { A: evil }],
		["/", { [evil]: "x" }],
		[evil, {}],
	];
	for (const [cwd, env] of starts) expect(() => launchArguments([], { cwd, env })).toThrow("NUL");
});

test("an environment is built from nothing: a few names, those that are passed, and what the call asks for", () => {
	const own = {
		PATH: "/p",
		HOME: "/home/me",
		LANG: "de_DE.UTF-8",
		ANTHROPIC_API_KEY: "sk",
		LD_PRELOAD: "x",
		https_proxy: "p",
		USER: "me",
	};
	const wall = { kind: "view" as const, workspace: "/w" };
	const env = wallEnvironment({
		wall,
		own,
		pass: ["https_proxy", "JAVA_HOME"],
		asked: { CI: "1", LANG: "C" },
	});
	expect(env).toEqual({
		PATH: "/p",
		HOME: "/home/me",
		LANG: "C",
		TERM: "xterm-256color",
		TMPDIR: "/tmp",
		USER: "me",
		https_proxy: "p",
		CI: "1",
	});
	const box = wallEnvironment({ wall: { kind: "box", workspace: "/w" }, own, pass: [], asked: {} });
	expect(box).toMatchObject({ PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/w/.home" });
	expect(boxHome({ workspace: "/w", isWorkspaceReadonly: true })).toBe("/tmp");
});

test("a status is read as far as it was written", () => {
	const first = '{ "child-pid": 4711, "cgroup-namespace": 1, "pid-namespace": 4026532212 }\n';
	expect(parseStatus("")).toEqual({ namespace: null, exitCode: null });
	expect(parseStatus(first)).toEqual({ namespace: { pid: 4711, inode: 4026532212 }, exitCode: null });
	expect(parseStatus(`${first}{ "exit-co`)).toEqual({
		namespace: { pid: 4711, inode: 4026532212 },
		exitCode: null,
	});
	expect(parseStatus(`${first}{ "exit-code": 0 }\n`).exitCode).toBe(0);
	expect(parseStatus('null\n7\n{ "child-pid": "1", "pid-namespace": -1 }\n').namespace).toBeNull();
});
