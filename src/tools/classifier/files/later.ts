// Files that other programs run or trust later. Tables only.
import type { CommandFacts } from "../types.ts";
import { isPattern } from "./glob.ts";
import { inSomeHome } from "./paths.ts";

/** In a home folder: run at login, at the start of a shell, an editor or a tool, or found on PATH. */
const IN_HOME = new RegExp(
	`^(?:${[
		String.raw`\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc)`,
		String.raw`\.(?:xinitrc|xsession|xsessionrc|xprofile|pam_environment|environment)`,
		String.raw`\.(?:vimrc|gvimrc|exrc|emacs|emacs\.d\/.*|vim\/.*|nanorc|gdbinit|lldbinit|pythonrc|pythonrc\.py|irbrc|pryrc|tmux\.conf|screenrc|psqlrc|sqliterc|wgetrc|curlrc|lesskey|Rprofile)`,
		String.raw`\.(?:gitconfig|hgrc|npmrc|yarnrc|yarnrc\.yml|pip\/.*|cargo\/(?:config(?:\.toml)?|bin\/.*)|m2\/.*|gradle\/.*|docker\/.*|kube\/.*|aws\/.*|ssh(?:\/.*)?|gnupg\/.*|rhosts|shosts|netrc|forward)`,
		String.raw`\.config\/(?:fish|autostart|systemd|git|nvim|vim|environment\.d|pip|direnv|zsh|kitty|alacritty|tmux|code|Code)(?:\/.*)?`,
		String.raw`\.local\/(?:bin|share\/(?:systemd|applications|dbus-1|fish)|lib\/python[^/]*\/site-packages)(?:\/.*)?`,
		String.raw`(?:bin|go\/bin|\.nvm|\.pyenv|\.rbenv|\.asdf|\.deno\/bin|\.bun\/bin|\.npm-global\/bin)(?:\/.*)?`,
		String.raw`Library\/(?:LaunchAgents|LaunchDaemons)(?:\/.*)?`,
	].join("|")})$`,
	"i",
);

const ANYWHERE = new RegExp(
	[
		String.raw`\/\.git\/(?:hooks(?:\/|$)|config$|info\/attributes$)`,
		String.raw`^\/etc\/(?:cron|systemd|init|profile|rc|ld\.so|pam|ssh|xdg|environment|bash|zsh|crontab|anacrontab|update-motd|sudoers|udev|apt|modprobe|modules|NetworkManager)`,
		String.raw`^\/var\/spool\/(?:cron|at)`,
		String.raw`^\/(?:usr\/)?lib\/systemd`,
		String.raw`^\/Library\/Launch`,
		String.raw`\/\.envrc$`,
		String.raw`\/\.ssh\/(?:authorized_keys2?|config|rc|environment)$`,
		String.raw`\/site-packages\/(?:user|site)customize\.py$|\/site-packages\/[^/]+\.pth$`,
	].join("|"),
);

export function runsLater(path: string, facts: CommandFacts): boolean {
	if (ANYWHERE.test(path)) return true;
	const inHome = inSomeHome(path, facts);
	// A pattern that finds hidden files in a home may find one of these.
	return inHome !== null && (IN_HOME.test(inHome) || (inHome.startsWith(".") && isPattern(inHome)));
}

/** A relative path in an unknown folder: the usual names count. */
export function mayRunLater(relative: string): boolean {
	const at = relative.search(/\.\w/);
	return at >= 0 && IN_HOME.test(relative.slice(at));
}
