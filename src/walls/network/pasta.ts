// A box's own network. The launcher's shell makes a network namespace and holds it with a sleeping process, pasta connects it to the
// machine's network, and bubblewrap is started inside it. All of them are in the launcher's process group and end with the program. pasta
// is told to close every way to the machine's loopback, and to forward no port in either direction.
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { KeryxError } from "../../errors.ts";
import type { Machine } from "../types.ts";

const OPTIONS =
	"--foreground --quiet --config-net --no-map-gw --tcp-ports none --udp-ports none --tcp-ns none --udp-ns none";
/** Ten seconds, in steps of 5 ms; it takes about 60 ms. */
const MOST_LOOKS = 2000;
const RESOLVER = "/etc/resolv.conf";
/** systemd-resolved's own file names itself, on loopback; this one names its upstream servers. */
const RESOLVER_BEHIND = "/run/systemd/resolve/resolv.conf";

export interface PastaScript {
	/** What the program's shell does first, such as entering its cgroup. */
	readonly before: readonly string[];
	/** It and the next one are free. One digit each: a plain shell supports no others. */
	readonly input: number;
	/** Redirections that close what the program must not have. */
	readonly closed: string;
}

/** Runs `"$@"` in the new network and exits with its code. The shell ignores the signals meant for the program. */
export function pastaScript(
	{ env, shell, pasta }: Pick<Machine, "env" | "shell" | "pasta">,
	{ before, input, closed }: PastaScript,
): string {
	if (pasta === null) throw new KeryxError("wall.unavailable", "pasta is not installed");
	const { program, unshare, nsenter } = pasta;
	const errors = input + 1;
	const isRoot = process.getuid?.() === 0;
	return [
		// A shell says on stderr that a process was killed.
		`exec ${input}<&0 ${errors}>&2 2>/dev/null`,
		`${unshare} --user --net --map-current-user -- ${shell} -c 'echo $$; exec sleep infinity >&- 2>&-' </dev/null 2>&${errors} ${input}<&- ${errors}>&- | {
read -r holder || exit 125
# Blocked: pasta would end by itself, before the program has. Default: pasta refuses to start where this one is ignored.
${env} --block-signal=TERM,QUIT --default-signal=PIPE ${program} ${OPTIONS} ${isRoot ? "--runas 0 " : ""}"$holder" </dev/null >/dev/null ${input}<&- ${errors}>&- &
pasta=$!
trap 'kill -KILL "$pasta" "$holder"; wait "$pasta"' EXIT
up() {
	while read -r _ to _; do [ "$to" = 00000000 ] && return; done <"/proc/$holder/net/route"
	while read -r to _ _ _ _ _ _ _ _ by; do [ "$to" = ${"0".repeat(32)} ] && [ "$by" != lo ] && return; done <"/proc/$holder/net/ipv6_route"
	return 1
}
looks=0
until up; do
	looks=$((looks + 1))
	if [ "$looks" -gt ${MOST_LOOKS} ] || ! kill -0 "$pasta"; then echo "pasta could not make a network for this box" >&${errors}; exit 125; fi
	sleep 0.005
done
(
${before.map((line) => `${line}\n`).join("")}exec ${nsenter} --preserve-credentials --user --net --target "$holder" "$@" <&${input} 2>&${errors} ${input}<&- ${errors}>&-${closed}
)
}`,
	].join("\n");
}

/** The file that names servers which a box with its own network can reach. */
export function reachableResolver(read: (file: string) => string = readText): string {
	const files = [RESOLVER, RESOLVER_BEHIND];
	return files.find((file) => serversIn(read(file)).some((server) => !isLoopback(server))) ?? RESOLVER;
}

export function isResolver(path: string): boolean {
	return path === RESOLVER;
}

function serversIn(text: string): string[] {
	return [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].flatMap(([, server = ""]) =>
		isIP(server.split("%")[0] ?? "") === 0 ? [] : [server],
	);
}

function isLoopback(server: string): boolean {
	return server.startsWith("127.") || server === "::1";
}

function readText(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
