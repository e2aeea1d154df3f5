// Paths as a program would see them. Nothing is looked up: links and mounts are unknown here.
import { isKnown } from "./field.ts";
import type { CommandFacts } from "./types.ts";

/** The absolute path without `.` and `..`; null when a folder on the way cannot be seen. */
export function absolutePath(path: string, cwd: string | null): string | null {
	if (path.startsWith("/")) return normal(path);
	return cwd === null ? null : normal(`${cwd}/${path}`);
}

export function isWithin(path: string, folder: string): boolean {
	const top = normal(folder);
	return path === top || path.startsWith(top === "/" ? "/" : `${top}/`);
}

/** Whether a path that may hold `*`, `?`, `[…]` can mean the target or something in it. */
export function mayReach(path: string, target: string): boolean {
	const parts = path.split("/");
	const wanted = normal(target).split("/");
	return parts.length >= wanted.length && wanted.every((part, index) => mayMatch(parts[index] ?? "", part));
}

/** Keryx's own folder, but not the workspace in it that the command runs in. */
export function isKeryxPath(path: string, facts: CommandFacts): boolean {
	const home = normal(facts.keryxHome);
	if (home === "/") return false;
	const cwd = normal(facts.cwd);
	if (cwd !== home && isWithin(cwd, home) && isWithin(path, cwd)) return false;
	return mayReach(path, home);
}

/** The folder holds the user's home or Keryx's: what reads all of it reads the secrets in it. */
export function holdsHome(path: string, facts: CommandFacts): boolean {
	return isWithin(facts.home, path) || isWithin(facts.keryxHome, path);
}

/** Wildcards against one name, in time of at most their product. */
function mayMatch(pattern: string, name: string): boolean {
	if (!isKnown(pattern)) return true;
	if (pattern.includes("[") || pattern.includes("(")) return pattern.length > 0;
	let at = 0;
	let star = -1;
	let resume = 0;
	let index = 0;
	while (index < name.length) {
		const char = pattern[at];
		if (char === "*") {
			star = at++;
			resume = index;
		} else if (char === "?" || char?.toLowerCase() === name[index]?.toLowerCase()) {
			at++;
			index++;
		} else if (star >= 0) {
			at = star + 1;
			index = ++resume;
		} else return false;
	}
	while (pattern[at] === "*") at++;
	return at === pattern.length;
}

function normal(path: string): string {
	const parts: string[] = [];
	for (const part of path.split("/")) {
		if (part === "" || part === ".") continue;
		if (part === "..") parts.pop();
		else parts.push(part);
	}
	return `/${parts.join("/")}`;
}
