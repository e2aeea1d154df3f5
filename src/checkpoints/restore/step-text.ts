// A restore's steps as one text: stored in its row and passed to the restoring thread. As objects, tens of thousands would be copied
// several times.
import type { RawPath } from "../names.ts";
import type { Entry } from "../repository.ts";
import type { Step } from "./plan.ts";

/** No path contains two in a row, or starts or ends with one. */
const BETWEEN = "//";
const FIELDS = 3;

export function writeSteps(steps: readonly Step[]): string {
	return steps.map(({ path, now, want }) => [path, textOf(now), textOf(want)].join(BETWEEN)).join(BETWEEN);
}

export function readSteps(text: string): readonly Step[] {
	const fields = text === "" ? [] : text.split(BETWEEN);
	const steps: Step[] = [];
	for (let n = 0; n + FIELDS <= fields.length; n += FIELDS) {
		const [path, now, want] = [fields[n], fields[n + 1], fields[n + 2]] as [RawPath, string, string];
		steps.push({ path, now: entryOf(now), want: entryOf(want) });
	}
	return steps;
}

function textOf(entry: Entry): string {
	if (!entry) return "-";
	const { mode, oid, permissions } = entry;
	return permissions === undefined ? `${mode} ${oid}` : `${mode} ${oid} ${permissions}`;
}

function entryOf(text: string): Entry {
	if (text === "-") return null;
	const [mode = "", oid = "", permissions] = text.split(" ");
	return permissions === undefined ? { mode, oid } : { mode, oid, permissions: Number(permissions) };
}
