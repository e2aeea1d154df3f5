// Ordinary lines that work without a wall and not behind one, by design. The security guide names each kind.
import type { WallKind } from "../../../src/walls/index.ts";

interface Exception {
	readonly wall: WallKind;
	readonly why: string;
	readonly lines: readonly string[];
}

export const EXCEPTIONS: readonly Exception[] = [
	{
		wall: "view",
		why: "it writes to the user's home",
		lines: [
			"npm pack --dry-run --offline",
			"npm pack --silent && ls *.tgz",
			"npm cache verify",
			'echo "$HOME" && cd && pwd && touch from-home',
			"mkdir -p ~/.config/tool && echo x > ~/.config/tool/rc && cat ~/.config/tool/rc",
			"git config --global init.defaultBranch main",
			"gpg --list-keys",
			"gcloud config list",
		],
	},
	{ wall: "view", why: "it needs Unix sockets", lines: ["tmux new-session -d -s dev"] },
	{ wall: "box", why: "it needs Unix sockets", lines: ["tmux new-session -d -s dev"] },
	{
		wall: "box",
		why: "it asks for parts of the machine that a box does not show",
		lines: ["apt list --installed | grep python", "ls /var/log", "lscpu"],
	},
];

export function isException(line: string, wall: WallKind): boolean {
	return EXCEPTIONS.some((one) => one.wall === wall && one.lines.includes(line));
}
