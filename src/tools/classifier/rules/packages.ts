// Package managers: removing packages, and installing from unusual sources.
import { hasShort, names, optionValues } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { Field, Rule } from "../types.ts";

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
	["nix-env", ["uninstall", "-e"]],
	["xbps-remove", []],
]);

export const packagesRule: Rule = {
	class: "packages",
	action: "run_command",
	look({ name, args }) {
		const removes =
			names(args, REMOVALS.get(name) ?? []) !== undefined ||
			(name === "dpkg" &&
				(hasShort(args, "rP") || args.some((arg) => /^--(remove|purge)$/.test(arg.text)))) ||
			(name === "rpm" && (hasShort(args, "e") || args.some((arg) => arg.text === "--erase"))) ||
			(/^(pacman|yay|paru)$/.test(name) &&
				(hasShort(args, "R") || args.some((arg) => arg.text === "--remove"))) ||
			(name === "nix-env" && hasShort(args, "e")) ||
			name === "xbps-remove";
		if (removes) return { why: "removes programs from the system" };
		const source = elsewhere(name, args);
		if (source) return { class: "download", why: `installs from an unusual source: ${shownOperand(source)}` };
		return installsFile(name, args) ? { why: "installs a package from outside the package list" } : null;
	},
};

const INSTALLERS =
	/^(npm|pnpm|yarn|bun|npx|bunx|pnpx|pip\d?|uv|uvx|pipx|gem|cargo|go|poetry|brew|deno|python[\d.]*)$/;
/** Other registries than the usual ones. */
const SOURCES = [
	"--index-url",
	"-i",
	"--extra-index-url",
	"--registry",
	"--source",
	"--find-links",
	"-f",
	"--git",
	"--index",
	"--default-index",
];
const USUAL_SOURCE =
	/^(https:\/\/(registry\.npmjs\.org|registry\.yarnpkg\.com|pypi\.org|files\.pythonhosted\.org|rubygems\.org|download\.pytorch\.org)(\/|$)|https?:\/\/(localhost|127\.0\.0\.1)[:/])/;

/** An address where the name of a package is meant, or another registry. */
function elsewhere(name: string, args: readonly Field[]): string | undefined {
	if (!INSTALLERS.test(name)) return undefined;
	const installs =
		args.some(({ text }) => /^(install|i|add|ci|exec|x|dlx|run|download|wheel|tool|pip|get)$/.test(text)) ||
		/x$/.test(name);
	if (!installs) return undefined;
	const given = optionValues(args, ...SOURCES).find(
		({ text }) => /^https?:|^git\+|^ssh:/.test(text) && !USUAL_SOURCE.test(text),
	);
	if (given) return given.text;
	const direct = args.find(({ text }) =>
		/^(git\+|https?:\/\/|git:\/\/|git@|ssh:\/\/|github:|gitlab:|bitbucket:|gist:)/.test(
			text.replace(/^--[\w-]+=/, "").replace(/^[\w.-]+ ?@ ?(?=git|http)/, ""),
		),
	);
	return direct && !USUAL_SOURCE.test(direct.text) ? direct.text : undefined;
}

function installsFile(name: string, args: readonly Field[]): boolean {
	if (/^(apt-add-repository|add-apt-repository)$/.test(name)) return true;
	if (name === "dpkg") return hasShort(args, "iA") || args.some(({ text }) => text === "--install");
	if (name === "rpm")
		return hasShort(args, "iU") || args.some(({ text }) => /^--(install|upgrade)$/.test(text));
	if (/^(apt|apt-get|dnf|yum|zypper|brew|snap|flatpak)$/.test(name))
		return args.some(({ text }) =>
			/^\.{0,2}\/.*\.(deb|rpm|rb|snap|flatpak|pkg)$|^--dangerous$|^https?:/.test(text),
		);
	return false;
}
