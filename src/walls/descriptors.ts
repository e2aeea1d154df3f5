// Descriptors that this process was given by its parent. bubblewrap passes on all it gets, so none of these may reach it; what Node
// opens itself is never passed on.
import { closeSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

let known: readonly number[] | undefined;

/** Those above stderr that a child would inherit, read once: what this process opens later is its own. */
export function inheritedDescriptors(): readonly number[] {
	known ??= process.platform === "linux" ? readdirSync("/proc/self/fd").map(Number).filter(isInherited) : [];
	return known;
}

/** Closes them. For a program that was given none on purpose. Answers their numbers. */
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
