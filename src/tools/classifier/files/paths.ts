// Paths as a program would see them. Nothing is looked up: links and mounts are unknown here.
import type { CommandFacts } from "../types.ts";
import { mayMeet } from "./glob.ts";

/** The absolute path without `.` and `..`; null if a folder on the way is unknown. */
export function absolutePath(path: string, cwd: string | null): string | null {
	if (path.startsWith("/")) return normal(path);
	return cwd === null ? null : normal(`${cwd}/${path}`);
}

export function isWithin(path: string, folder: string): boolean {
	const top = normal(folder);
	return path === top || path.startsWith(top === "/" ? "/" : `${top}/`);
}

/** Whether a path, possibly with patterns, can mean the target or something in it. */
export function mayReach(path: string, target: string): boolean {
	if (isWithin(path, target)) return true;
	const parts = path.split("/");
	const wanted = normal(target).split("/");
	return (
		parts.length >= wanted.length &&
		wanted.every((part, index) => {
			const other = parts[index] ?? "";
			return other === part || (other !== "" && mayMeet(other, part));
		})
	);
}

/** Keryx's own folder, except the workspace in it that the command runs in. */
export function isKeryxPath(path: string, facts: CommandFacts): boolean {
	const home = normal(facts.keryxHome);
	if (home === "/") return false;
	const cwd = normal(facts.cwd);
	if (cwd !== home && isWithin(cwd, home) && isWithin(path, cwd)) return false;
	return mayReach(path, home);
}

/** The folder of Keryx's program. People who work there work on Keryx itself. */
export function isKeryxProgram(path: string, facts: CommandFacts): boolean {
	const folder = normal(facts.keryxProgram);
	if (folder === "/" || isWithin(normal(facts.cwd), folder)) return false;
	return isWithin(path, folder);
}

/** The folder contains the user's home or Keryx's: reading all of it reads the secrets in it. */
export function holdsHome(path: string, facts: CommandFacts): boolean {
	return isWithin(facts.home, path) || isWithin(facts.keryxHome, path);
}

/** The part of the path inside a home folder, without a leading slash; null if it is elsewhere. */
export function inSomeHome(path: string, facts: CommandFacts): string | null {
	const own = facts.home.replace(/\/+$/, "");
	if (own !== "" && path.startsWith(`${own}/`)) return path.slice(own.length + 1);
	return /^(?:\/root|\/(?:home|Users)\/[^/]+)\/(.+)$/s.exec(path)?.[1] ?? null;
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
