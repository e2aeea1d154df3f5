// Mounts from the kernel: other paths to a folder, and other views of the process list.
import { isAtOrInside, isInside, unique } from "./paths.ts";

export interface Mount {
	/** Two mounts with the same device show the same files. */
	readonly device: string;
	/** The folder of the device that is shown. */
	readonly root: string;
	readonly point: string;
	readonly type: string;
}

/** Reads /proc/self/mountinfo. */
export function parseMounts(mountinfo: string): Mount[] {
	return mountinfo
		.split("\n")
		.filter(Boolean)
		.map((line) => {
			const [before = "", after = ""] = line.split(" - ");
			const [, , device = "", root = "", point = ""] = before.split(" ");
			return { device, root: plain(root), point: plain(point), type: after.split(" ")[0] ?? "" };
		});
}

/** Other paths where a folder, or a part of it, may be visible. A later mount may have covered one since, so the caller must check. */
export function otherPaths(folder: string, mounts: readonly Mount[]): string[] {
	const own = mountOf(folder, mounts);
	if (!own) return [];
	const within = join(own.root, relative(folder, own.point));
	const found = mounts
		.filter(({ device }) => device === own.device)
		.flatMap(({ root, point }) => {
			if (isAtOrInside(within, root)) return [join(point, relative(within, root))];
			// A part of the folder that is mounted elsewhere.
			return isInside(root, within) ? [point] : [];
		});
	return unique(found).filter((path) => !isAtOrInside(path, folder));
}

/** Besides /proc, which every wall creates. */
export function furtherProcMounts(mounts: readonly Mount[]): string[] {
	return unique(
		mounts.filter(({ type, point }) => type === "proc" && point !== "/proc").map(({ point }) => point),
	);
}

/** The last one counts: it covers those before it. */
function mountOf(path: string, mounts: readonly Mount[]): Mount | undefined {
	let best: Mount | undefined;
	for (const mount of mounts)
		if (isAtOrInside(path, mount.point) && (!best || mount.point.length >= best.point.length)) best = mount;
	return best;
}

/** "" for the folder itself, otherwise with a leading slash. */
function relative(path: string, folder: string): string {
	if (path === folder) return "";
	return folder === "/" ? path : path.slice(folder.length);
}

function join(folder: string, rest: string): string {
	if (rest === "") return folder;
	return folder === "/" ? rest : `${folder}${rest}`;
}

function plain(text: string): string {
	return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
		String.fromCharCode(Number.parseInt(digits, 8)),
	);
}
