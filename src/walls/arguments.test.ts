import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { usedDescriptors, wallArguments } from "./arguments.ts";
import { newWall } from "./new-wall.ts";
import { foldersAbove, isAtOrInside, isInside, topFolder } from "./paths.ts";
import type { HiddenPath, Machine, Wall, WallKind } from "./types.ts";

const machine: Machine = {
	bwrap: "/usr/bin/bwrap",
	canDisableUserns: true,
	cgroups: { version: null, memory: null, pids: null, problem: "none" },
	pasta: null,
	canBindDescriptors: false,
	env: "/usr/bin/env",
	shell: "/bin/sh",
	systemFolders: [
		{ path: "/bin", link: "usr/bin" },
		{ path: "/lib64", link: null },
	],
	etc: { files: ["/etc/passwd"], folders: ["/etc/alternatives"] },
};
const HOME = "/home/me/.local/share/keryx";
const folder = (path: string): HiddenPath => ({ path, kind: "folder" });

function wallOf(kind: WallKind, changes: Partial<Wall> = {}): Wall {
	return newWall({
		kind,
		home: HOME,
		workspace: "/home/me/work/ws",
		tmp: "/home/me/.local/share/keryx/tmp/c1",
		outlivesStarter: true,
		...changes,
	});
}

const list = (wall: Wall, hidden = [folder(wall.home)]) => wallArguments(wall, machine, hidden).join(" ");

describe("every wall", () => {
	test.each(["view", "mask", "box"] as const)(
		"%s drops privileges and has processes and IPC of its own",
		(kind) => {
			const text = list(wallOf(kind));
			expect(text).toMatch(
				/^--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try (--unshare-net )?--disable-userns --cap-drop ALL /,
			);
			expect(text).toContain("--dev /dev --proc /proc --remount-ro /proc");
			expect(text).not.toContain("--new-session");
		},
	);

	test("ends with its starter only where that is wanted", () => {
		expect(list(wallOf("mask"))).not.toContain("--die-with-parent");
		expect(list(wallOf("mask", { outlivesStarter: false }))).toContain("--die-with-parent");
	});

	test("is made without --disable-userns where bubblewrap does not know it", () => {
		const words = wallArguments(wallOf("view"), { ...machine, canDisableUserns: false }, [folder(HOME)]);
		expect(words).not.toContain("--disable-userns");
		expect(words).toContain("--unshare-user");
	});

	test("passes devices on by name, and hides files by nothing", () => {
		const text = list(wallOf("mask", { devices: ["kvm"] }), [
			folder(HOME),
			{ path: "/home/me/key", kind: "file" },
		]);
		expect(text).toContain("--dev /dev --dev-bind-try /dev/kvm /dev/kvm --proc /proc");
		expect(text).toContain("--ro-bind /dev/null /home/me/key");
		expect(text).not.toContain("--remount-ro /home/me/key");
	});
});

test("view: everything read-only, then /tmp and the workspace, the home last", () => {
	const text = list(wallOf("view", { write: ["/srv/data"] }));
	expect(text).toContain("--ro-bind / / ");
	expect(text).toMatch(
		/--bind \/home\/me\/.local\/share\/keryx\/tmp\/c1 \/tmp --bind \/srv\/data \/srv\/data --bind \/home\/me\/work\/ws \/home\/me\/work\/ws --dev \/dev --proc \/proc --remount-ro \/proc --size \d+ --tmpfs \/home\/me\/.local\/share\/keryx --remount-ro \/home\/me\/.local\/share\/keryx$/,
	);
});

test("mask: the machine as it is, with pins under a cover above the home", () => {
	const text = list(wallOf("mask"));
	expect(text).toContain(
		"--bind-try /home/me /home/me --bind-try /home/me/.local /home/me/.local --bind-try /home/me/.local/share /home/me/.local/share --bind /home /home ",
	);
	expect(text).not.toContain("--bind /home/me/work/ws");
	expect(text.endsWith(`--tmpfs ${HOME} --remount-ro ${HOME}`)).toBe(true);
});

test("box: the system's programs and the workspace; nothing covers a home that is not there", () => {
	const text = list(wallOf("box"));
	expect(text).toContain(" --unshare-net ");
	expect(text).toContain(
		"--ro-bind /usr /usr --symlink usr/bin /bin --ro-bind /lib64 /lib64 --dir /etc --ro-bind-try /etc/alternatives /etc/alternatives --ro-bind-try /etc/passwd /etc/passwd ",
	);
	expect(text).not.toContain(`--tmpfs ${HOME}`);
	expect(text).not.toContain("/sys /sys --ro-bind-try");
	expect(text.endsWith("--remount-ro /")).toBe(true);
});

test("a box whose write list shows the home hides it all the same, and pins what leads to it", () => {
	const text = list(wallOf("box", { write: ["/home/me"] }));
	expect(text).toContain(
		"--bind /home/me /home/me --bind-try /home/me/.local /home/me/.local --bind-try /home/me/.local/share /home/me/.local/share --bind /home/me /home/me --bind /home/me/work/ws",
	);
	expect(text).toContain(`--tmpfs ${HOME} --remount-ro ${HOME} --remount-ro /`);
});

test("a read-only workspace is bound so in every wall", () => {
	for (const kind of ["view", "mask", "box"] as const) {
		const text = list(wallOf(kind, { isWorkspaceReadonly: true }));
		expect(text).toContain("--ro-bind /home/me/work/ws /home/me/work/ws");
		expect(text).not.toContain("--bind /home/me/work/ws /home/me/work/ws --");
	}
});

test("a workspace inside the home is shown there alone, and can be written", () => {
	const workspace = `${HOME}/workspaces/c1`;
	for (const kind of ["view", "mask", "box"] as const)
		expect(list(wallOf(kind, { workspace }))).toContain(
			`--tmpfs ${HOME} --bind ${workspace} ${workspace} --remount-ro ${HOME}`,
		);
});

test("what the gateway runs is read-only where it could be written, and stays where it is", () => {
	const protect = ["/opt/keryx/app", "/home/me/.nvm/v24"];
	const mask = list(wallOf("mask", { protect }));
	expect(mask).toContain("--ro-bind-try /opt/keryx/app /opt/keryx/app");
	expect(mask).toContain("--bind-try /opt/keryx /opt/keryx --bind /opt /opt ");
	expect(mask).toContain("--bind-try /home/me/.nvm /home/me/.nvm");
	expect(list(wallOf("view", { protect }))).not.toContain("/opt/keryx");
	expect(list(wallOf("box", { protect }))).not.toContain("/opt/keryx");
	const written = list(wallOf("view", { protect, write: ["/opt"] }));
	expect(written).toContain("--bind /opt /opt --bind-try /opt/keryx /opt/keryx --bind /opt /opt");
	expect(written).toContain("--ro-bind-try /opt/keryx/app /opt/keryx/app");
});

test("what lies in a protected folder is not bound again, unless something between them can be written", () => {
	const protect = ["/opt/keryx", "/opt/keryx/node", "/opt/keryx/node/bin"];
	const text = list(wallOf("mask", { protect }));
	expect(text).toContain("--ro-bind-try /opt/keryx /opt/keryx");
	expect(text).not.toContain("/opt/keryx/node");
	const written = list(wallOf("mask", { protect, write: ["/opt/keryx/node"] }));
	expect(written).toContain("--ro-bind /opt/keryx/node /opt/keryx/node");
	expect(written).not.toContain("/opt/keryx/node/bin");
	const deeper = list(wallOf("mask", { protect: ["/opt", "/opt/keryx/node"], write: ["/opt/keryx"] }));
	expect(deeper).toContain("--bind /opt/keryx /opt/keryx --ro-bind-try /opt/keryx/node /opt/keryx/node");
});

test("root who administers keeps eight capabilities in view and mask, and none in a box", () => {
	for (const kind of ["view", "mask"] as const) {
		const words = wallArguments(wallOf(kind, { privileges: "admin" }), machine, [folder(HOME)]);
		expect(words.filter((word) => word === "--cap-add")).toHaveLength(8);
		expect(words).not.toContain("--unshare-user");
		expect(words).not.toContain("--disable-userns");
		expect(words.join(" ")).toContain("--cap-drop ALL --cap-add CAP_CHOWN");
		expect(words.join(" ")).not.toMatch(/SYS_ADMIN|SYS_PTRACE|NET_ADMIN|NET_RAW|MKNOD|SYS_CHROOT|SETFCAP/);
	}
	const box = wallArguments(wallOf("box", { privileges: "admin" }), machine, [folder(HOME)]);
	expect(box).toContain("--unshare-user");
	expect(box).not.toContain("--cap-add");
});

test("folders that were opened are bound by descriptor, each once, and none is left over", () => {
	const able = { ...machine, canBindDescriptors: true };
	const cases: [Wall, string[]][] = [
		[wallOf("mask"), [wallOf("mask").tmp ?? ""]],
		[
			wallOf("view", { write: ["/srv"], read: ["/opt"] }),
			[wallOf("view").tmp ?? "", "/srv", "/home/me/work/ws"],
		],
		[wallOf("box", { tmp: null, read: ["/opt"] }), ["/opt", "/home/me/work/ws"]],
	];
	for (const [wall, paths] of cases) {
		const copied = wall.kind === "box" ? ["/etc/passwd"] : [];
		expect(usedDescriptors(wall, able, [folder(HOME)])).toEqual({ bound: paths, copied });
		const numbers = new Map([...paths, ...copied].map((path, index) => [path, 6 + index]));
		const text = wallArguments(wall, able, [folder(HOME)], numbers).join(" ");
		for (const number of numbers.values())
			expect(text.match(new RegExp(`--((ro-)?bind-fd|file) ${number} `, "g"))).toHaveLength(1);
	}
	expect(usedDescriptors(wallOf("view"), machine, [folder(HOME)])).toEqual({ bound: [], copied: [] });
});

describe("whatever the folders are", () => {
	const name = fc.constantFrom("a", "b", "c");
	const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => `/${names.join("/")}`);
	const anyWall = fc
		.record({
			kind: fc.constantFrom<WallKind>("view", "mask", "box"),
			home: path,
			workspace: path,
			tmp: fc.option(path),
			read: fc.array(path, { maxLength: 2 }),
			write: fc.array(path, { maxLength: 2 }),
			protect: fc.array(path, { maxLength: 3 }),
			aliases: fc.array(path, { maxLength: 2 }),
		})
		.filter(
			({ home, workspace, read, write }) =>
				workspace !== home && [...read, ...write].every((one) => !isAtOrInside(one, home)),
		)
		.map(({ aliases, ...changes }) => ({
			wall: wallOf(changes.kind, { hide: aliases, ...changes }),
			hidden: [...new Set([changes.home, ...aliases])].map(folder),
		}));

	test("no path leads to the home, except to a workspace that lies in it", () => {
		fc.assert(
			fc.property(anyWall, path, ({ wall, hidden }, looked) => {
				const shown = resolve(wallArguments(wall, machine, hidden), looked);
				if (shown === null || !hidden.some(({ path: one }) => isAtOrInside(shown, one))) return;
				expect(isAtOrInside(shown, wall.home) && !isInside(wall.workspace, wall.home)).toBe(false);
				// The conversation's own folder is shown as /tmp, which these paths never are.
				expect(isAtOrInside(shown, wall.workspace)).toBe(true);
				expect(isAtOrInside(looked, wall.workspace)).toBe(true);
			}),
			{ numRuns: 2000 },
		);
	});

	test("what is protected is read-only, but for a workspace or a writable folder inside it", () => {
		fc.assert(
			fc.property(anyWall, path, ({ wall, hidden }, looked) => {
				if (hidden.some(({ path: one }) => isAtOrInside(looked, one))) return;
				const deepest = (paths: readonly string[]) =>
					Math.max(0, ...paths.filter((one) => isAtOrInside(looked, one)).map((one) => one.length));
				const protectedBy = deepest(wall.protect);
				if (protectedBy === 0 || protectedBy < deepest([wall.workspace, ...wall.write])) return;
				const mounts = mountsOf(wallArguments(wall, machine, hidden));
				expect(lastMount(mounts, looked)?.access ?? "read").toBe("read");
			}),
			{ numRuns: 2000 },
		);
	});

	test("every folder above the home that could be renamed is a mount point", () => {
		fc.assert(
			fc.property(anyWall, ({ wall, hidden }) => {
				const words = wallArguments(wall, machine, hidden);
				const mounts = mountsOf(words);
				for (const above of foldersAbove(wall.home)) {
					const inside = resolve(words, above);
					const isWritable = inside !== null && lastMount(mounts, above)?.access === "write";
					const parentIsWritable =
						isWritable &&
						(foldersAbove(above).length === 0 ||
							lastMount(mounts, foldersAbove(above).at(-1) as string)?.access === "write");
					if (
						!parentIsWritable ||
						(wall.kind === "mask" && above === topFolder(above) && !mounts.some(({ at }) => at === above))
					)
						continue;
					expect(mounts.map(({ at }) => at)).toContain(above);
				}
			}),
			{ numRuns: 2000 },
		);
	});
});

interface Mounted {
	readonly at: string;
	/** Null: empty. */
	readonly from: string | null;
	readonly access: "read" | "write";
}

/** The mounts of a list, in order. */
function mountsOf(words: readonly string[]): Mounted[] {
	const mounts: Mounted[] = [];
	for (let i = 0; i < words.length; i++) {
		const [word, first = "", second = ""] = words.slice(i, i + 3);
		if (word === "--bind" || word === "--bind-try") mounts.push({ at: second, from: first, access: "write" });
		else if (word === "--ro-bind" || word === "--ro-bind-try")
			mounts.push({ at: second, from: first, access: "read" });
		else if (word === "--remount-ro") {
			const index = mounts.findLastIndex(({ at }) => at === first);
			mounts[index] = { ...(mounts[index] as Mounted), access: "read" };
		} else if (word === "--tmpfs") mounts.push({ at: first, from: null, access: "write" });
	}
	return mounts;
}

function lastMount(mounts: readonly Mounted[], path: string): Mounted | undefined {
	return mounts.findLast(({ at }) => at === "/" || isAtOrInside(path, at));
}

/** What of the host is seen at a path; null where nothing is. */
function resolve(words: readonly string[], path: string): string | null {
	const mount = lastMount(mountsOf(words), path);
	if (!mount || mount.from === null) return null;
	return mount.at === "/" ? path : `${mount.from}${path.slice(mount.at.length)}`;
}
