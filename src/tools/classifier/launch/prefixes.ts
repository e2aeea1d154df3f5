// Programs that run the rest of their arguments as a command: sudo, env, timeout, nohup and similar. Tables, and the two ways to read them.
import { isKnown, plainField } from "../field.ts";
import { optionValue } from "../options.ts";
import type { EnvironmentChange, Field, Invocation } from "../types.ts";
import type { Inner } from "./inner.ts";

interface Prefix {
	/** Options that take the next word. */
	readonly values?: readonly string[];
	/** Words before the command: the time of timeout, the folder of chroot. */
	readonly skip?: number;
	readonly assignments?: boolean;
	/** Options whose value is the folder that the command starts in. */
	readonly folder?: readonly string[];
}

const PLAIN: Prefix = {};

/** They run what comes after their options, and nothing else. */
const PLAIN_NAMES =
	`unshare setpriv nohup setsid prlimit command builtin noglob nocorrect busybox toybox unbuffer rlwrap chronic ts-node-dev valgrind
	dbus-run-session systemd-inhibit entr bunx pnpx torsocks fakeroot firejail arch tsocks linux64 linux32 i386 x86_64 proot daemonize
	catchsegv ssh-agent with-contenv s6-setuidgid chpst softlimit setlock unlink-run uchroot dumb-init tini catatonit shx
	watchexec timelimit heaptrack
	winpty cygstart env-cmd dotenvx pseudo eatmydata libeatmydata`.split(/\s+/);

export const PREFIXES: ReadonlyMap<string, Prefix> = new Map<string, Prefix>([
	...PLAIN_NAMES.map((name): [string, Prefix] => [name, PLAIN]),
	[
		"sudo",
		{
			values: ["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group"],
			assignments: true,
			folder: ["-D", "--chdir"],
		},
	],
	["doas", { values: ["-u", "-C", "-a"] }],
	["pkexec", { values: ["--user"] }],
	["run0", { values: ["-u", "--user"] }],
	["runuser", { values: ["-u", "-g", "--user"] }],
	["gosu", { skip: 1 }],
	["su-exec", { skip: 1 }],
	["chroot", { skip: 1 }],
	["nsenter", { values: ["-t", "-S", "-G"] }],
	["env", { values: ["-u", "-C", "--unset", "--chdir"], assignments: true, folder: ["-C", "--chdir"] }],
	["cross-env", { assignments: true }],
	["dotenv", { values: ["-e", "-v", "-p"] }],
	["stdbuf", { values: ["-i", "-o", "-e"] }],
	["nice", { values: ["-n", "--adjustment"] }],
	["ionice", { values: ["-c", "-n", "-t"] }],
	["chrt", { skip: 1 }],
	["taskset", { skip: 1 }],
	["time", { values: ["-o", "-f", "--output", "--format"] }],
	["gtime", { values: ["-o", "-f"] }],
	["timeout", { values: ["-s", "-k", "--signal", "--kill-after"], skip: 1 }],
	["gtimeout", { values: ["-s", "-k"], skip: 1 }],
	["exec", { values: ["-a"] }],
	["repeat", { skip: 1 }],
	["caffeinate", { values: ["-t", "-w"] }],
	["strace", { values: ["-o", "-e", "-p", "-s", "-u", "-E"] }],
	["ltrace", { values: ["-o", "-e", "-p"] }],
	["xvfb-run", { values: ["-n", "-s", "-e", "-f"] }],
	["systemd-run", { values: ["-p", "-u", "--unit", "--on-calendar"] }],
	["npx", { values: ["-p", "--package", "-w"] }],
	["uvx", { values: ["--from", "--with", "-p"] }],
	["pipx", { skip: 1 }],
	["proxychains", { values: ["-f"] }],
	["proxychains4", { values: ["-f"] }],
	["setarch", { skip: 1 }],
	["sem", { values: ["-j", "--id"] }],
	["faketime", { values: ["-f"], skip: 1 }],
	["cpulimit", { values: ["-l", "-p", "-e", "--limit"] }],
	["numactl", { values: ["-N", "-m", "-C"] }],
	["choom", { values: ["-n", "-p"] }],
	["with-lock-ex", { skip: 1 }],
	["perf", { skip: 1, values: ["-e", "-o", "-F", "-r", "-p", "-t", "-C", "-g"] }],
	["aa-exec", { values: ["-p", "-n"] }],
	["runcon", { skip: 1, values: ["-t", "-u", "-r", "-l"] }],
	["flatpak-spawn", { values: ["--env"] }],
	["systemd-nspawn", { values: ["-D", "-M", "-u"] }],
	["cgexec", { values: ["-g"] }],
	["bwrap", { values: ["--chdir", "--uid", "--gid", "--tmpfs", "--proc", "--dev", "--dir", "--args"] }],
	["retry", { values: ["-t", "-d", "-m"] }],
	["wait-for-it", PLAIN],
	["dbclient", { skip: 1 }],
	["tsh", { skip: 1 }],
]);

/** Prefixes with ambiguous arguments before the command: the command may start at any of them. */
export const LOOSE: ReadonlySet<string> = new Set([
	"bwrap",
	"proot",
	"gdb",
	"numactl",
	"cpulimit",
	"choom",
	"cygstart",
]);

/** Tools with a subcommand that runs the arguments after it. */
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
	["composer", ["exec"]],
	["npm", ["exec", "x"]],
	["pnpm", ["exec", "dlx"]],
	["yarn", ["exec", "dlx", "run"]],
	["bun", ["x", "run"]],
	["mise", ["exec", "x"]],
	["asdf", ["exec"]],
	["rbenv", ["exec"]],
	["pyenv", ["exec"]],
	["direnv", ["exec"]],
	["doppler", ["run"]],
	["op", ["run"]],
	["aws-vault", ["exec"]],
	["rustup", ["run"]],
	["volta", ["run"]],
	["fnm", ["exec"]],
	["nvm", ["exec", "run"]],
	["nix", ["develop", "shell", "run"]],
	["zellij", ["run"]],
	["toolbox", ["run"]],
	["distrobox", ["enter"]],
	["ip", ["netns exec", "vrf exec"]],
	["machinectl", ["shell"]],
	["git", ["bisect run", "submodule foreach"]],
	["docker", ["exec", "run", "container exec", "container run", "compose exec", "compose run"]],
	["podman", ["exec", "run", "container exec", "container run"]],
	["docker-compose", ["exec", "run"]],
	["nerdctl", ["exec", "run"]],
	["kubectl", ["exec", "run", "debug"]],
	["oc", ["exec", "rsh"]],
	["lxc", ["exec"]],
	["vagrant", ["ssh"]],
	["tmux", ["new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane"]],
]);

/** The command after the prefix; for each option that may have taken a value, also the command that starts one argument later. */
export function afterPrefix(invocation: Invocation, prefix: Prefix): Inner[] {
	const { args } = invocation;
	const sets: EnvironmentChange[] = [];
	const folder = prefix.folder ? optionValue(args, ...prefix.folder) : undefined;
	let left = prefix.skip ?? 0;
	let doubts = LOOSE.has(invocation.name) ? 8 : 0;
	for (let index = 0; index < args.length; index++) {
		const arg = args[index] as Field;
		if (arg.text === "--" || arg.text === "-") continue;
		if (/^-./.test(arg.text)) {
			if (prefix.values?.includes(arg.text)) index++;
			else if (!arg.text.includes("=")) doubts++;
			continue;
		}
		// A function of bash travels under a name that no variable has.
		const set = prefix.assignments ? /^([^=\s/]+)=(.*)$/s.exec(arg.text) : null;
		if (set) {
			sets.push({ name: set[1] ?? "", value: { ...arg, text: set[2] ?? "" } });
			continue;
		}
		if (left > 0) {
			left--;
			continue;
		}
		return args
			.slice(index, index + 1 + Math.min(doubts, 8))
			.flatMap((word, offset): Inner[] =>
				offset > 0 && /^-./.test(word.text)
					? []
					: [{ kind: "command", words: args.slice(index + offset), sets, ...(folder ? { folder } : {}) }],
			)
			.slice(0, 4);
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
