// The three walls as bubblewrap arguments: pure functions of a wall, the machine and the hidden paths. Order matters: later arguments
// cover earlier ones. I17 depends on this file and on layout.ts.
import { type Binding, type Layout, layoutOf } from "./layout.ts";
import { byDepth } from "./paths.ts";
import type { HiddenPath, Machine, Wall } from "./types.ts";

/** Root's capabilities for administration. None of them gets past a mount, a namespace or a kernel setting. */
const ADMIN_CAPABILITIES = [
	"CAP_CHOWN",
	"CAP_DAC_OVERRIDE",
	"CAP_FOWNER",
	"CAP_FSETID",
	"CAP_SETUID",
	"CAP_SETGID",
	"CAP_KILL",
	"CAP_NET_BIND_SERVICE",
];
/** Without a limit, a tmpfs may use half of the memory. */
const TMPFS_SIZE = ["--size", String(512 * 1024 * 1024)];

/** Descriptors by path, for `usedDescriptors`: open files, so a path replaced meanwhile does not matter. */
export type Descriptors = ReadonlyMap<string, number>;

export interface UsedDescriptors {
	/** Bound as opened; replacing them after the check has no effect. */
	readonly bound: readonly string[];
	/** Copied, which costs less than a mount. One that cannot be opened may be left out. */
	readonly copied: readonly string[];
}

/** Each is used once: an unused one would reach the program. */
export function usedDescriptors(
	wall: Wall,
	machine: Machine,
	hidden: readonly HiddenPath[],
): UsedDescriptors {
	const copied = wall.kind === "box" ? machine.etc.files : [];
	if (!machine.canBindDescriptors) return { bound: [], copied };
	const { bindings, insideHidden, tmp } = layoutOf(wall, machine, hidden);
	const bound = [...bindings, ...insideHidden]
		.filter(({ isOptional }) => !isOptional)
		.map(({ path }) => path);
	return { bound: [...(tmp === null ? [] : [tmp]), ...bound], copied };
}

export function wallArguments(
	wall: Wall,
	machine: Machine,
	hidden: readonly HiddenPath[],
	descriptors: Descriptors = new Map(),
): string[] {
	const layout = layoutOf(wall, machine, hidden);
	switch (wall.kind) {
		case "view":
			return viewArguments(wall, machine, layout, descriptors);
		case "mask":
			return maskArguments(wall, machine, layout, descriptors);
		case "box":
			return boxArguments(wall, machine, layout, descriptors);
	}
}

function viewArguments(wall: Wall, machine: Machine, layout: Layout, descriptors: Descriptors): string[] {
	return [
		...namespaces(wall, machine),
		...["--ro-bind", "/", "/"],
		...temporaryFolder(layout, descriptors),
		...bindings(layout.bindings, descriptors),
		...kernelFolders(wall),
		...hide(layout, descriptors),
	];
}

function maskArguments(wall: Wall, machine: Machine, layout: Layout, descriptors: Descriptors): string[] {
	return [
		...namespaces(wall, machine),
		...["--bind", "/", "/"],
		// The cover hides the pins from lookups: rename and link work across them, yet none of them can be renamed itself.
		...layout.tops.flatMap(({ path, pins }) => [...pinned(pins), "--bind", path, path]),
		...temporaryFolder(layout, descriptors),
		...bindings(layout.bindings, descriptors),
		...kernelFolders(wall),
		...hide(layout, descriptors),
	];
}

function boxArguments(wall: Wall, machine: Machine, layout: Layout, descriptors: Descriptors): string[] {
	return [
		...namespaces(wall, machine),
		...["--ro-bind", "/usr", "/usr"],
		...machine.systemFolders.flatMap(({ path, link }) =>
			link === null ? ["--ro-bind", path, path] : ["--symlink", link, path],
		),
		...["--dir", "/etc"],
		...machine.etc.folders.flatMap((path) => ["--ro-bind-try", path, path]),
		...machine.etc.files.flatMap((path) => copy(path, descriptors)),
		...["/var/tmp", "/run", "/home"].flatMap((path) => [...TMPFS_SIZE, "--tmpfs", path]),
		...["--symlink", "../run", "/var/run"],
		...temporaryFolder(layout, descriptors),
		...bindings(layout.bindings, descriptors),
		...kernelFolders(wall),
		...hide(layout, descriptors),
		...["--remount-ro", "/"],
	];
}

function namespaces(wall: Wall, machine: Machine): string[] {
	const isAdmin = wall.privileges === "admin" && wall.kind !== "box";
	return [
		...(isAdmin ? [] : ["--unshare-user"]),
		...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
		// With its own, bubblewrap is started inside it: see network/pasta.ts.
		...(wall.network === "host" || wall.network === "own" ? [] : ["--unshare-net"]),
		...(isAdmin || !machine.canDisableUserns ? [] : ["--disable-userns"]),
		// Without this, root keeps every capability inside and could unmount what hides the home.
		...["--cap-drop", "ALL"],
		...(isAdmin ? ADMIN_CAPABILITIES.flatMap((name) => ["--cap-add", name]) : []),
		...(wall.outlivesStarter ? [] : ["--die-with-parent"]),
	];
}

/** After the binds: bubblewrap reads the whole mount list for each bind, and these make it long. */
function kernelFolders({ kind, devices }: Wall): string[] {
	return [
		...["--dev", "/dev"],
		...devices.flatMap((name) => ["--dev-bind-try", `/dev/${name}`, `/dev/${name}`]),
		// Root could write parts of it without any capability: core_pattern in /proc/sys would run a program outside. It is made
		// read-only in one bind, because bubblewrap reads the whole mount list for each.
		...["--proc", "/proc", "--remount-ro", "/proc"],
		// A view's root is read-only with all that is mounted below it.
		...(kind === "mask" ? ["--ro-bind-try", "/sys", "/sys"] : []),
	];
}

function temporaryFolder({ tmp }: Layout, descriptors: Descriptors): string[] {
	return tmp === null
		? ["--perms", "1777", ...TMPFS_SIZE, "--tmpfs", "/tmp"]
		: bind(tmp, "/tmp", descriptors);
}

function bindings(list: readonly Binding[], descriptors: Descriptors): string[] {
	return list.flatMap(({ path, access, isOptional, pins }) => {
		if (isOptional) return ["--ro-bind-try", path, path];
		const under = pins.length === 0 ? [] : ["--bind", path, path, ...pinned(pins)];
		return [...under, ...bind(path, path, descriptors, access)];
	});
}

/** Last, so that no other bind shows the home again. */
function hide({ hidden, insideHidden }: Layout, descriptors: Descriptors): string[] {
	const steps = [
		...hidden.map(({ path, kind }) => ({
			path,
			words: kind === "file" ? ["--ro-bind", "/dev/null", path] : [...TMPFS_SIZE, "--tmpfs", path],
		})),
		...insideHidden.map((one) => ({ path: one.path, words: bindings([one], descriptors) })),
	];
	return [
		...steps.sort((a, b) => byDepth(a.path, b.path)).flatMap(({ words }) => words),
		// A write there fails, instead of being lost.
		...hidden.flatMap(({ path, kind }) => (kind === "file" ? [] : ["--remount-ro", path])),
	];
}

function pinned(pins: readonly string[]): string[] {
	return pins.flatMap((path) => ["--bind-try", path, path]);
}

function bind(
	source: string,
	target: string,
	descriptors: Descriptors,
	access: Binding["access"] = "write",
): string[] {
	const option = access === "write" ? "--bind" : "--ro-bind";
	const descriptor = descriptors.get(source);
	return descriptor === undefined ? [option, source, target] : [`${option}-fd`, String(descriptor), target];
}

function copy(path: string, descriptors: Descriptors): string[] {
	const descriptor = descriptors.get(path);
	return descriptor === undefined
		? ["--ro-bind-try", path, path]
		: ["--perms", "0644", "--file", String(descriptor), path];
}
