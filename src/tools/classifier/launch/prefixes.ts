// Programs that run the rest of their words as a command: sudo, env, timeout, nohup and the like.
import { isKnown, plainField } from "../field.ts";
import type { Inner } from "../inner.ts";
import type { EnvironmentChange, Field, Invocation } from "../types.ts";

interface Prefix {
	/** Options that take the next word. */
	readonly values?: readonly string[];
	/** Words before the command: the time of timeout, the folder of chroot. */
	readonly skip?: number;
	readonly assignments?: boolean;
}

const PLAIN: Prefix = {};

export const PREFIXES: ReadonlyMap<string, Prefix> = new Map<string, Prefix>([
	[
		"sudo",
		{
			values: ["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group"],
			assignments: true,
		},
	],
	["doas", { values: ["-u", "-C", "-a"] }],
	["pkexec", { values: ["--user"] }],
	["run0", { values: ["-u", "--user"] }],
	["gosu", { skip: 1 }],
	["su-exec", { skip: 1 }],
	["chroot", { skip: 1 }],
	["unshare", PLAIN],
	["nsenter", { values: ["-t", "-S", "-G"] }],
	["setpriv", PLAIN],
	["env", { values: ["-u", "-C", "--unset", "--chdir"], assignments: true }],
	["cross-env", { assignments: true }],
	["dotenv", { values: ["-e", "-v", "-p"] }],
	["nohup", PLAIN],
	["setsid", PLAIN],
	["stdbuf", { values: ["-i", "-o", "-e"] }],
	["nice", { values: ["-n", "--adjustment"] }],
	["ionice", { values: ["-c", "-n", "-t"] }],
	["chrt", { skip: 1 }],
	["taskset", { skip: 1 }],
	["prlimit", PLAIN],
	["time", { values: ["-o", "-f", "--output", "--format"] }],
	["gtime", { values: ["-o", "-f"] }],
	["timeout", { values: ["-s", "-k", "--signal", "--kill-after"], skip: 1 }],
	["gtimeout", { values: ["-s", "-k"], skip: 1 }],
	["command", PLAIN],
	["builtin", PLAIN],
	["exec", { values: ["-a"] }],
	["noglob", PLAIN],
	["nocorrect", PLAIN],
	["repeat", { skip: 1 }],
	["busybox", PLAIN],
	["toybox", PLAIN],
	["caffeinate", { values: ["-t", "-w"] }],
	["unbuffer", PLAIN],
	["rlwrap", PLAIN],
	["chronic", PLAIN],
	["ts-node-dev", PLAIN],
	["strace", { values: ["-o", "-e", "-p", "-s", "-u", "-E"] }],
	["ltrace", { values: ["-o", "-e", "-p"] }],
	["valgrind", PLAIN],
	["xvfb-run", { values: ["-n", "-s", "-e", "-f"] }],
	["dbus-run-session", PLAIN],
	["systemd-run", { values: ["-p", "-u", "--unit", "--on-calendar"] }],
	["systemd-inhibit", PLAIN],
	["entr", PLAIN],
	["npx", { values: ["-p", "--package", "-w"] }],
	["bunx", PLAIN],
	["pnpx", PLAIN],
	["uvx", { values: ["--from", "--with", "-p"] }],
	["pipx", { skip: 1 }],
	["proxychains", { values: ["-f"] }],
	["proxychains4", { values: ["-f"] }],
	["torsocks", PLAIN],
	["fakeroot", PLAIN],
	["firejail", PLAIN],
	["arch", PLAIN],
	["setarch", { skip: 1 }],
	["tsocks", PLAIN],
	["sem", { values: ["-j", "--id"] }],
]);

/** Tools of which one subcommand runs the words after it. */
export const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
	["uv", ["run", "tool run"]],
	["poetry", ["run"]],
	["pipenv", ["run"]],
	["pdm", ["run"]],
	["hatch", ["run"]],
	["rye", ["run"]],
	["conda", ["run"]],
	["mamba", ["run"]],
	["bundle", ["exec"]],
	["npm", ["exec", "x"]],
	["pnpm", ["exec", "dlx"]],
	["yarn", ["exec", "dlx"]],
	["bun", ["x"]],
	["mise", ["exec", "x"]],
	["asdf", ["exec"]],
	["rbenv", ["exec"]],
	["pyenv", ["exec"]],
	["direnv", ["exec"]],
	["doppler", ["run"]],
	["op", ["run"]],
	["git", ["bisect run", "submodule foreach"]],
	["docker", ["exec", "run", "container exec", "container run", "compose exec", "compose run"]],
	["podman", ["exec", "run", "container exec", "container run"]],
	["docker-compose", ["exec", "run"]],
	["nerdctl", ["exec", "run"]],
	["kubectl", ["exec", "run", "debug"]],
	["oc", ["exec", "rsh"]],
	["lxc", ["exec"]],
	["vagrant", ["ssh"]],
]);

/** The command after the prefix; for each option that may have taken a word, the one that starts a word later too. */
export function afterPrefix(invocation: Invocation, prefix: Prefix): Inner[] {
	const { args } = invocation;
	const sets: EnvironmentChange[] = [];
	let left = prefix.skip ?? 0;
	let doubts = 0;
	for (let index = 0; index < args.length; index++) {
		const arg = args[index] as Field;
		if (arg.text === "--") continue;
		if (/^-./.test(arg.text)) {
			if (prefix.values?.includes(arg.text)) index++;
			else if (!arg.text.includes("=")) doubts++;
			continue;
		}
		const set = prefix.assignments ? /^(\w+)=(.*)$/s.exec(arg.text) : null;
		if (set) {
			sets.push({ name: set[1] ?? "", value: { ...arg, text: set[2] ?? "" } });
			continue;
		}
		if (left > 0) {
			left--;
			continue;
		}
		return args
			.slice(index, index + 1 + Math.min(doubts, 3))
			.map((_, offset) => ({ kind: "command", words: args.slice(index + offset), sets }));
	}
	return sets.length > 0 ? [{ kind: "command", words: [plainField("")], sets }] : [];
}

/** `tool run words…`: every place after the subcommand where the command may start. */
export function afterSubcommand(invocation: Invocation, wanted: readonly string[]): Inner[] {
	const { args } = invocation;
	for (const line of wanted) {
		const words = line.split(" ");
		const start = args.findIndex((arg) => arg.text === words[0]);
		if (start < 0 || !words.every((word, offset) => args[start + offset]?.text === word)) continue;
		return args
			.slice(start + words.length, start + words.length + 24)
			.flatMap((arg, index, rest): Inner[] =>
				/^-./.test(arg.text) || !isKnown(arg.text) ? [] : [{ kind: "command", words: rest.slice(index) }],
			)
			.slice(0, 6);
	}
	return [];
}
