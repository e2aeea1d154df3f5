// Runs inside a box before its program, if the box may reach a list of hosts: it opens a listening socket on the box's loopback and
// passes it out over a channel, which is closed before the program starts. A socket belongs to its network, so nothing of the host is
// inside. If any of it fails, the program is not started.
import { realpathSync } from "node:fs";

export const PROXY_PORT = 3128;
/** Node inside the box: the one that runs this, wherever it is outside. */
const NODE = "/run/.keryx/node";
const SCRIPT = `const s=require("net").createServer();s.listen(${PROXY_PORT},"127.0.0.1",()=>process.send("listener",s,(e)=>process.exit(e?1:0)))`;

const LOADER = /^(LD|GLIBC|MALLOC)_/;

/** After the arguments of the wall: its /run is in memory. */
export function preludeArguments(): string[] {
	return ["--ro-bind", realpathSync(process.execPath), NODE];
}

export interface Prelude {
	/** Around the program. */
	readonly argv: readonly string[];
	/** What the shell before it can use. */
	readonly env: Readonly<Record<string, string>>;
}

/**
 * `channel` has one digit: a plain shell supports no others. Variables that make the system's loader run code are set only for the
 * program: earlier, that code would hold the channel.
 */
export function withPrelude(
	{ argv, env }: Prelude,
	{ shell, env: envProgram }: { readonly shell: string; readonly env: string },
	channel: number,
): Prelude {
	const late = Object.entries(env).filter(([name]) => LOADER.test(name));
	const after = late.map(([name, value]) => `${name}=${value}`);
	const start = `${envProgram} -i NODE_CHANNEL_FD=${channel} ${NODE} -e '${SCRIPT}' </dev/null || exit 126; exec ${channel}>&-; exec "$@"`;
	// env takes a program with = in its name for a variable.
	const program = late.length === 0 ? argv : [envProgram, ...after, shell, "-c", 'exec "$@"', shell, ...argv];
	return {
		argv: [shell, "-c", start, shell, ...program],
		env: Object.fromEntries(Object.entries(env).filter(([name]) => !LOADER.test(name))),
	};
}

/** Variables that tell programs about this proxy; the host's own proxy is out of reach inside. */
export function proxyVariables(): Record<string, string> {
	const proxy = `http://127.0.0.1:${PROXY_PORT}`;
	const own = "localhost,127.0.0.1,::1";
	return {
		http_proxy: proxy,
		https_proxy: proxy,
		HTTP_PROXY: proxy,
		HTTPS_PROXY: proxy,
		ALL_PROXY: proxy,
		all_proxy: proxy,
		no_proxy: own,
		NO_PROXY: own,
		NODE_USE_ENV_PROXY: "1",
	};
}
