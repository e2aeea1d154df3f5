// The walls as profiles for macOS's sandbox-exec. The text is tested, the walls have never been run. The last matching rule decides, so
// denials come last.
import { foldersAbove, unique } from "./paths.ts";
import type { Wall } from "./types.ts";

export interface ProfileOptions {
	readonly wall: Wall;
	/** Keryx's own ports, which are blocked. */
	readonly ports: readonly number[];
	/** The user's home, below which programs are started at login. */
	readonly userHome: string;
}

const SAFE_SOCKET = "/private/var/run/mDNSResponder";
const SYSTEM_FOLDERS = [
	"/usr",
	"/bin",
	"/sbin",
	"/System",
	"/Library",
	"/opt/homebrew",
	"/private/etc/ssl",
	"/private/var/db/timezone",
	"/dev",
];
const SYSTEM_FILES = ["/", "/private/etc/hosts", "/private/etc/resolv.conf", "/private/etc/passwd"];
const SERVICES = [
	"com.apple.system.opendirectoryd.libinfo",
	"com.apple.system.logger",
	"com.apple.SecurityServer",
	"com.apple.trustd.agent",
];
const TERMINALS = '(literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/ttys") (literal "/dev/ptmx")';

export function sandboxProfile(options: ProfileOptions): string {
	const rules = options.wall.kind === "box" ? boxRules(options) : openRules(options);
	return `${["(version 1)", ...rules].join("\n")}\n`;
}

/** What to run: only the profile comes before the program. */
export function sandboxCommand(profileFile: string, argv: readonly string[]): string[] {
	return ["/usr/bin/sandbox-exec", "-f", profileFile, ...argv];
}

function openRules({ wall, ports, userHome }: ProfileOptions): string[] {
	const hidden = unique([wall.home, ...wall.hide]);
	return [
		"(allow default)",
		...(wall.kind === "view" ? viewRules(wall) : []),
		...denyAll(hidden),
		`(deny file-write-unlink file-write-create ${literals(unique(hidden.flatMap((path) => [path, ...foldersAbove(path)])))})`,
		`(deny file-write* ${subpaths([...wall.protect, `${userHome}/Library/LaunchAgents`])})`,
		...socketRules(wall),
		...ports.flatMap((port) => [
			`(deny network-outbound (remote ip "localhost:${port}"))`,
			`(deny network-bind (local ip "*:${port}"))`,
		]),
		...(wall.network !== "host" ? ["(deny network*)"] : []),
		"(deny signal)",
		"(allow signal (target same-sandbox))",
		"(deny process-info*)",
		"(allow process-info* (target same-sandbox))",
		"(deny mach-priv-task-port)",
		"(allow mach-priv-task-port (target same-sandbox))",
		"(deny appleevent-send)",
		"(deny lsopen)",
		"(deny job-creation)",
	];
}

function viewRules(wall: Wall): string[] {
	return ["(deny file-write*)", `(allow file-write* ${subpaths(writable(wall))} ${TERMINALS})`];
}

function boxRules({ wall, ports }: ProfileOptions): string[] {
	return [
		"(deny default)",
		"(allow process-exec process-fork)",
		"(allow process-info* signal mach-priv-task-port (target same-sandbox))",
		"(allow sysctl-read)",
		"(allow pseudo-tty)",
		"(allow ipc-posix-sem)",
		"(allow ipc-posix-shm)",
		"(allow file-read-metadata (vnode-type DIRECTORY))",
		`(allow file-read* ${literals(SYSTEM_FILES)} ${subpaths([...SYSTEM_FOLDERS, ...wall.read, wall.workspace])})`,
		`(allow file-read* file-write* ${subpaths(writable(wall))} ${TERMINALS})`,
		'(allow file-ioctl (literal "/dev/tty") (regex #"^/dev/ttys") (literal "/dev/ptmx"))',
		`(allow mach-lookup ${SERVICES.map((name) => `(global-name ${quoted(name)})`).join(" ")})`,
		...(wall.network !== "host"
			? []
			: [
					"(allow network-outbound network-inbound network-bind)",
					...socketRules(wall),
					...ports.map((port) => `(deny network-outbound (remote ip "localhost:${port}"))`),
				]),
		...(wall.protect.length === 0 ? [] : [`(deny file-write* ${subpaths(wall.protect)})`]),
		...denyAll(unique([wall.home, ...wall.hide])),
	];
}

function writable(wall: Wall): string[] {
	return unique([
		...(wall.isWorkspaceReadonly ? [] : [wall.workspace]),
		...(wall.tmp === null ? [] : [wall.tmp]),
		...wall.write,
	]);
}

function socketRules({ hasUnixSockets }: Wall): string[] {
	if (hasUnixSockets) return [];
	return [
		"(deny network-outbound (remote unix-socket))",
		`(allow network-outbound (remote unix-socket (path-literal ${quoted(SAFE_SOCKET)})))`,
	];
}

function denyAll(paths: readonly string[]): string[] {
	return [`(deny file-read* file-write* ${subpaths(paths)})`];
}

function subpaths(paths: readonly string[]): string {
	return paths.map((path) => `(subpath ${quoted(path)})`).join(" ");
}

function literals(paths: readonly string[]): string {
	return paths.map((path) => `(literal ${quoted(path)})`).join(" ");
}

function quoted(text: string): string {
	return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
