import { expect, test } from "vitest";
import { cgroupsIn, NO_CGROUPS } from "./cgroups.ts";
import { parseMounts } from "./mounts.ts";
import type { Cgroups } from "./types.ts";
import { limitsInWords } from "./words.ts";

const V1 = parseMounts(
	[
		"31 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
		"32 25 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids",
		"33 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
	].join("\n"),
);
const V2 = parseMounts("31 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");

test("with version 1, cgroups are made below Keryx's own, by kind of limit", () => {
	expect(cgroupsIn("4:memory:/a/b\n8:pids:/\n0::/x\n", V1)).toEqual({
		version: 1,
		memory: "/sys/fs/cgroup/memory/a/b",
		pids: "/sys/fs/cgroup/pids",
		problem: null,
	});
	expect(cgroupsIn("8:pids:/\n", V1)).toMatchObject({
		version: 1,
		memory: null,
		pids: "/sys/fs/cgroup/pids",
	});
});

test("a container's mount shows a part of the tree", () => {
	const mounts = parseMounts("32 25 0:27 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids");
	expect(cgroupsIn("8:pids:/docker/abc/x\n", mounts).pids).toBe("/sys/fs/cgroup/pids/x");
	expect(cgroupsIn("8:pids:/other\n", mounts)).toEqual(NO_CGROUPS);
});

test("with version 2, cgroups are made next to Keryx's own, where it has one for itself", () => {
	const unit = "/user.slice/user@1000.service/app.slice/keryx.service";
	expect(cgroupsIn(`0::${unit}/keryx\n`, V2)).toEqual({
		version: 2,
		memory: `/sys/fs/cgroup${unit}`,
		pids: `/sys/fs/cgroup${unit}`,
		problem: null,
	});
	expect(cgroupsIn(`0::${unit}\n`, V2)).toMatchObject({ version: 2, pids: null, problem: "not_delegated" });
	for (const mounts of [[], V1, V2]) expect(cgroupsIn("", mounts)).toEqual(NO_CGROUPS);
});

test("words say which limits are in force, and why the others are not", () => {
	const limits = { processes: 100, totalMemoryBytes: 2 * 1024 ** 3 };
	const all: Cgroups = { version: 1, memory: "/m", pids: "/p", problem: null };
	expect(limitsInWords(limits, all)).toEqual({
		inForce:
			"each program, with everything it starts, gets at most 100 processes and 2048 MB of memory (cgroup v1)",
		missing: null,
	});
	expect(limitsInWords({ processes: null, totalMemoryBytes: null }, NO_CGROUPS)).toEqual({
		inForce: null,
		missing: null,
	});
	const half = limitsInWords(limits, { ...all, memory: null });
	expect(half.inForce).toContain("at most 100 processes (cgroup v1)");
	expect(half.missing?.words).toContain("the total memory of a program has no limit");
	const none = limitsInWords(limits, { version: 2, memory: null, pids: null, problem: "not_delegated" });
	expect(none.inForce).toBeNull();
	expect(none.missing?.words).toBe(
		"the number of processes and the total memory of a program has no limit: Keryx's cgroup is not delegated to it",
	);
	expect(none.missing?.remedy).toContain("systemd 254");
});
