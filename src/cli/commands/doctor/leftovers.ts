// What killed commands left behind: unpacked backups, copies of the store, fetched versions. Each is named after the process that made it.
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../../store/index.ts";
import { updatePaths } from "../../../update/index.ts";
import { bytesInWords, counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, fixed, remark } from "./finding.ts";

const IN_HOME = /^(?:restore-|keryx\.db\.copy-)(\d+)(?:-journal)?$/;
const IN_VERSIONS = /^(?:incoming|trial)-(\d+)$/;
const words = texts.doctor.leftovers;

export function lookAtLeftovers(home: string, fix: boolean): Finding {
	const left = [...leftIn(home, IN_HOME), ...leftIn(updatePaths(home).folder, IN_VERSIONS)];
	if (left.length === 0) return fine("leftovers", words.none);
	const what = words.found(
		counted(left.length, "file or folder", "files and folders"),
		sizeOf(left),
		left.join(", "),
	);
	if (!fix) return { ...remark("leftovers", what, words.remedy), mends: words.mends };
	for (const path of left) rmSync(path, { recursive: true, force: true });
	return fixed("leftovers", words.fixed(what));
}

function leftIn(folder: string, name: RegExp): string[] {
	if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
	return readdirSync(folder)
		.filter((entry) => {
			const [, pid] = name.exec(entry) ?? [];
			return pid !== undefined && !isAlive(Number(pid));
		})
		.map((entry) => join(folder, entry));
}

function sizeOf(paths: readonly string[]): string {
	const bytes = (path: string): number => {
		const found = lstatSync(path, { throwIfNoEntry: false });
		if (found?.isDirectory() !== true) return found?.size ?? 0;
		return readdirSync(path).reduce((sum, entry) => sum + bytes(join(path, entry)), 0);
	};
	return bytesInWords(paths.reduce((sum, path) => sum + bytes(path), 0));
}
