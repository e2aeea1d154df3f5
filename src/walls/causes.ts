// Why no wall can be made, judged from bubblewrap's message, and the remedy. Each cause has one remedy, in one sentence.
import { KERYX } from "../called.ts";

/**
 * missing: bubblewrap is not installed. apparmor: Ubuntu refuses user namespaces to programs without a profile. userns_off: a setting
 * forbids them. container: the container forbids them. userns_limit: the limit is reached, or this already runs inside a wall.
 * proc_covered: a container covers parts of /proc. too_old: an option is unknown. no_gnu_env: env cannot ignore signals. processor: there
 * is no seccomp program for it. platform: neither Linux nor macOS. unknown: something else, with its message.
 */
export type WallCause =
	| "missing"
	| "apparmor"
	| "userns_off"
	| "container"
	| "userns_limit"
	| "proc_covered"
	| "too_old"
	| "no_gnu_env"
	| "processor"
	| "platform"
	| "unknown";

export interface CauseFacts {
	/** What the launcher wrote to stderr. */
	readonly said: string;
	readonly isContainer: boolean;
	/** kernel.apparmor_restrict_unprivileged_userns is 1. */
	readonly isApparmorRestricting: boolean;
}

export function causeOf({ said, isContainer, isApparmorRestricting }: CauseFacts): WallCause {
	if (/setting up uid map: Permission denied|loopback: Failed RTM_NEWADDR/i.test(said))
		return isContainer && !isApparmorRestricting ? "container" : "apparmor";
	if (/No permissions to creat(e|ing) new namespace/i.test(said)) {
		if (isContainer) return "container";
		return isApparmorRestricting ? "apparmor" : "userns_off";
	}
	if (/nesting depth or .*namespaces exceeded|max_user_namespaces exceeded/i.test(said))
		return "userns_limit";
	if (/Can't mount proc/i.test(said)) return "proc_covered";
	if (/Unknown option|not supported in setuid mode/i.test(said)) return "too_old";
	if (/unrecognized option.*ignore-signal|ignore-signal.*(unrecognized|invalid|unknown)/i.test(said))
		return "no_gnu_env";
	return "unknown";
}

/** Install commands, by package manager. */
const INSTALLERS: readonly (readonly [program: string, command: string])[] = [
	["apt-get", "sudo apt install"],
	["dnf", "sudo dnf install"],
	["pacman", "sudo pacman -S"],
	["apk", "sudo apk add coreutils"],
	["zypper", "sudo zypper install"],
];

export function installCommand(hasProgram: (name: string) => boolean, name = "bubblewrap"): string {
	const command = INSTALLERS.find(([program]) => hasProgram(program))?.[1] ?? "install the package";
	return `${command} ${name}`;
}

export function remedyOf(cause: WallCause, { install }: { readonly install: string }): string {
	switch (cause) {
		case "missing":
			return install;
		case "apparmor":
			return "let only bubblewrap create user namespaces: printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n' | sudo tee /etc/apparmor.d/bwrap && sudo systemctl reload apparmor";
		case "userns_off":
			return "sudo sysctl -w kernel.unprivileged_userns_clone=1, and the same line in /etc/sysctl.d to keep it";
		case "container":
			return "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or let the container itself be the wall (walls.mode: off)";
		case "userns_limit":
			return "sudo sysctl -w user.max_user_namespaces=15000; inside another wall none can be made";
		case "proc_covered":
			return "start the container with --security-opt systempaths=unconfined (Docker) or --security-opt unmask=ALL (podman)";
		case "too_old":
			return "install bubblewrap 0.5 or newer, without the setuid bit";
		case "no_gnu_env":
			return "install GNU coreutils 8.31 or newer: its env must be the one in /usr/bin";
		case "processor":
			return "run Keryx on x64 or arm64";
		case "platform":
			return "run Keryx on Linux or macOS";
		case "unknown":
			return `run \`${KERYX} doctor\` and report what it prints`;
	}
}

/** One sentence for people. */
export function causeInWords(cause: WallCause): string {
	switch (cause) {
		case "missing":
			return "bubblewrap is not installed";
		case "apparmor":
			return "AppArmor does not let bubblewrap create user namespaces";
		case "userns_off":
			return "this system does not allow user namespaces";
		case "container":
			return "the container Keryx runs in does not allow user namespaces";
		case "userns_limit":
			return "no more user namespaces can be created here";
		case "proc_covered":
			return "the container Keryx runs in hides parts of /proc";
		case "too_old":
			return "bubblewrap is too old";
		case "no_gnu_env":
			return "env is not GNU's";
		case "processor":
			return "there is no wall for this processor";
		case "platform":
			return "there is no wall for this system";
		case "unknown":
			return "bubblewrap could not make a wall";
	}
}
