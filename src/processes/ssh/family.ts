// All processes that belong to one on another machine. That machine lists its processes; membership.ts decides here.
import type { RunningProcess } from "../identity.ts";
import { MARK } from "../members.ts";
import { type Member, membersAmong } from "../membership.ts";
import type { ProcessIdentity } from "../types.ts";
import { quoted } from "./scripts.ts";
import type { RemoteShell } from "./shell.ts";

export interface RemoteFamily {
	readonly id: string;
	readonly leader: ProcessIdentity;
	/** The leader's group; the program's own if it equals the leader's pid. */
	readonly group: number;
	/** Members seen before. They stay members, whatever changed. */
	readonly witnesses: readonly ProcessIdentity[];
}

/** What `readSnapshot` reads. */
export function lookScript(id: string): string {
	return `
if [ -r /proc/self/stat ]; then
	cat /proc/sys/kernel/random/boot_id
	grep -lzxF -e ${quoted(`${MARK}=${id}`)} /proc/[0-9]*/environ 2>/dev/null
	grep . /dev/null /proc/[0-9]*/stat 2>/dev/null
else
	sysctl -n kern.boottime | tr -d ' '
	LC_ALL=C ps -axo pid=,ppid=,pgid=,stat=,lstart=
fi`;
}

export async function lookFor(shell: RemoteShell, family: RemoteFamily): Promise<Member[]> {
	return membersIn(await shell.ask(lookScript(family.id)), family);
}

export function membersIn(answer: string, { leader, group, witnesses }: RemoteFamily): Member[] {
	const { bootId, marked, all } = readSnapshot(answer);
	return membersAmong({
		bootId,
		all,
		leader,
		witnesses,
		isOwnGroup: group === leader.pid,
		isMarked: ({ pid }) => marked.has(pid),
	});
}

/** Signals each target that is still the same process; `group` signals its whole group at once. Prints how many there were. */
export function signalScript(
	targets: readonly { readonly identity: ProcessIdentity; readonly group: boolean }[],
	signals: readonly string[],
): string {
	return `
is() {
	if [ -r /proc/self/stat ]; then
		stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
		set -- "$2" \${stat##*") "}
		case $2 in Z|X) return 1 ;; esac
		[ "$1" = "\${21}" ]
	else
		[ "$(LC_ALL=C ps -o lstart= -p "$1" | tr -s ' ' | sed 's/^ //; s/ $//')" = "$2" ]
	fi
}
count=0
${targets
	.map(({ identity: { pid, startTime }, group }) => {
		const target = group ? -pid : pid;
		const kills = signals.map((signal) => `kill -s ${signal.slice("SIG".length)} -- ${target}`).join("; ");
		return `if is ${pid} ${quoted(startTime)}; then count=$((count + 1)); { ${kills}; } 2>/dev/null; fi`;
	})
	.join("\n")}
echo $count`;
}

function readSnapshot(answer: string): {
	readonly bootId: string;
	readonly marked: ReadonlySet<number>;
	readonly all: readonly RunningProcess[];
} {
	const [bootId = "", ...lines] = answer.split("\n");
	const marked = new Set<number>();
	const stats = new Map<number, string>();
	const all: RunningProcess[] = [];
	for (const line of lines) {
		const [, pid, file, text = ""] = /^\/proc\/(\d+)\/(environ$|stat:)(.*)$/.exec(line) ?? [];
		// A name may contain a newline: the path before each line identifies it.
		if (file === "stat:") stats.set(Number(pid), (stats.get(Number(pid)) ?? "") + text);
		else if (file) marked.add(Number(pid));
		else all.push(...listed(line));
	}
	for (const [pid, stat] of stats) {
		const [state, parent, group, session, ...more] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		all.push({
			pid,
			parent: Number(parent),
			group: Number(group),
			session: Number(session),
			startTime: more[15] ?? "",
			isZombie: state === "Z" || state === "X",
		});
	}
	return { bootId: bootId.trim(), marked, all };
}

/** A line of ps. */
function listed(line: string): RunningProcess[] {
	const [pid, parent, group, state = "", ...started] = line.trim().split(/\s+/);
	if (!/^\d+$/.test(pid ?? "") || started.length === 0) return [];
	return [
		{
			pid: Number(pid),
			parent: Number(parent),
			group: Number(group),
			session: 0,
			startTime: started.join(" "),
			isZombie: state.startsWith("Z"),
		},
	];
}
