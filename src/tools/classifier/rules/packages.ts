import { hasShort, names } from "../field.ts";
import type { Rule } from "../types.ts";

const REMOVALS: ReadonlyMap<string, readonly string[]> = new Map([
	["apt", ["remove", "purge", "autoremove", "full-upgrade", "dist-upgrade"]],
	["apt-get", ["remove", "purge", "autoremove", "dist-upgrade"]],
	["aptitude", ["remove", "purge"]],
	["yum", ["remove", "erase", "autoremove"]],
	["dnf", ["remove", "erase", "autoremove"]],
	["zypper", ["remove", "rm"]],
	["apk", ["del"]],
	["brew", ["uninstall", "remove", "rm", "autoremove"]],
	["port", ["uninstall"]],
	["snap", ["remove"]],
	["flatpak", ["uninstall", "remove"]],
	["pkg", ["delete", "remove", "autoremove"]],
	["nix-env", ["uninstall"]],
	["xbps-remove", []],
]);

export const packagesRule: Rule = {
	name: "packages",
	action: "run_command",
	look({ name, args }) {
		const removes =
			names(args, REMOVALS.get(name) ?? []) !== undefined ||
			(name === "dpkg" &&
				(hasShort(args, "rP") || args.some((arg) => /^--(remove|purge)$/.test(arg.text)))) ||
			(name === "rpm" && (hasShort(args, "e") || args.some((arg) => arg.text === "--erase"))) ||
			(/^(pacman|yay|paru)$/.test(name) &&
				(hasShort(args, "R") || args.some((arg) => arg.text === "--remove"))) ||
			name === "xbps-remove";
		return removes ? { why: "removes programs from the system" } : null;
	},
};
