// Descriptors inherited from the parent. bubblewrap passes on all it gets, so these must not reach it; Node's own are never passed on.
import { closeSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

let known: readonly number[] | undefined;

/** Those above stderr that a child would inherit, read once: later ones are this process's own. */
export function inheritedDescriptors(): readonly number[] {
	known ??= process.platform === "linux" ? readdirSync("/proc/self/fd").map(Number).filter(isInherited) : [];
	return known;
}

/** Closes them, for a program that was given none on purpose. Returns their numbers. */
export function closeInherited(): readonly number[] {
	const closed = inheritedDescriptors();
	for (const descriptor of closed) closeSync(descriptor);
	known = [];
	return closed;
}

function isInherited(descriptor: number): boolean {
	if (descriptor <= 2) return false;
	try {
		const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
		return (Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? "", 8) & CLOSE_ON_EXEC) === 0;
	} catch {
		// The one the list was read with.
		return false;
	}
}
