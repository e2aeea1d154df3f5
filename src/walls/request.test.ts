import { expect, test } from "vitest";
import { readWallRequest } from "./request.ts";
import type { Machine, Wall } from "./types.ts";

const wall: Wall = {
	kind: "box",
	home: "/h",
	workspace: "/w",
	isWorkspaceReadonly: true,
	tmp: null,
	read: ["/r"],
	write: [],
	hide: [],
	protect: [],
	keep: ["/w/below"],
	devices: ["kvm"],
	network: "none",
	hasUnixSockets: false,
	privileges: "none",
	outlivesStarter: true,
	limits: { openFiles: 100, memoryBytes: null, processes: 50, totalMemoryBytes: null },
};
const machine: Machine = {
	bwrap: "/usr/bin/bwrap",
	canDisableUserns: true,
	cgroups: { version: 1, memory: null, pids: "/sys/fs/cgroup/pids", problem: null },
	pasta: { program: "/usr/bin/pasta", unshare: "/usr/bin/unshare", nsenter: "/usr/bin/nsenter" },
	canBindDescriptors: false,
	env: "/usr/bin/env",
	shell: "/bin/sh",
	systemFolders: [{ path: "/bin", link: "usr/bin" }],
	etc: { files: ["/etc/hosts"], folders: [] },
};

test("a request is the same after a wire", () => {
	expect(readWallRequest(JSON.parse(JSON.stringify({ wall, machine })))).toEqual({ wall, machine });
});

test("every field is missed when it is not there, and named", () => {
	for (const name of Object.keys(wall).filter((one) => !["isWorkspaceReadonly", "keep"].includes(one))) {
		const { [name as keyof Wall]: _, ...rest } = wall;
		expect(() => readWallRequest({ wall: rest, machine })).toThrow(`wall.wall.${name}`);
	}
	for (const name of Object.keys(machine).filter((one) => !["cgroups", "pasta"].includes(one))) {
		const { [name as keyof Machine]: _, ...rest } = machine;
		expect(() => readWallRequest({ wall, machine: rest })).toThrow(`wall.machine.${name}`);
	}
});

test("a request of an earlier version has no cgroups and no pasta", () => {
	const { cgroups, pasta, ...earlier } = machine;
	const { openFiles, memoryBytes } = wall.limits;
	const read = readWallRequest({ wall: { ...wall, limits: { openFiles, memoryBytes } }, machine: earlier });
	expect(read.machine).toMatchObject({ cgroups: { problem: "none" }, pasta: null });
	expect(read.wall.limits).toEqual({ openFiles, memoryBytes, processes: null, totalMemoryBytes: null });
});
