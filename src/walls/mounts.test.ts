import { expect, test } from "vitest";
import { furtherProcMounts, otherPaths, parseMounts } from "./mounts.ts";

const line = (device: string, root: string, point: string, type = "ext4") =>
	`36 35 ${device} ${root} ${point} rw,noatime shared:1 - ${type} /dev/x rw,errors=continue`;
const mounts = (...lines: string[]) => parseMounts(`${lines.join("\n")}\n`);

test("a line with optional fields, and with spaces in its paths, is read", () => {
	expect(mounts(line("8:1", "/a\\040b", "/c\\134d\\011e"))).toEqual([
		{ device: "8:1", root: "/a b", point: "/c\\d\te", type: "ext4" },
	]);
	const bare = "36 35 98:0 / /mnt rw - ext3 /dev/root rw";
	expect(mounts(bare)).toEqual([{ device: "98:0", root: "/", point: "/mnt", type: "ext3" }]);
});

test("a home has one path where its device is mounted once", () => {
	expect(
		otherPaths("/home/me/.keryx", mounts(line("8:1", "/", "/"), line("0:22", "/", "/proc", "proc"))),
	).toEqual([]);
});

test("a bind mount of a folder above the home is another way to it", () => {
	const all = mounts(line("8:1", "/", "/"), line("8:1", "/home/me", "/srv/me"), line("8:1", "/home", "/mnt"));
	expect(otherPaths("/home/me/.keryx", all)).toEqual(["/srv/me/.keryx", "/mnt/me/.keryx"]);
});

test("a second mount of the whole device is another way, also where the home lies on a volume of its own", () => {
	const all = mounts(
		line("8:1", "/", "/"),
		line("8:2", "/@home", "/home", "btrfs"),
		line("8:2", "/", "/disk", "btrfs"),
	);
	expect(otherPaths("/home/me/.keryx", all)).toEqual(["/disk/@home/me/.keryx"]);
});

test("a part of the home that is mounted elsewhere is a way to that part", () => {
	const all = mounts(line("8:1", "/", "/"), line("8:1", "/home/me/.keryx/processes", "/logs"));
	expect(otherPaths("/home/me/.keryx", all)).toEqual(["/logs"]);
});

test("mounts inside the home are covered with it, and other devices and neighbours are none", () => {
	const all = mounts(
		line("8:1", "/", "/"),
		line("8:1", "/home/me/.keryx/a", "/home/me/.keryx/b"),
		line("8:9", "/home/me/.keryx", "/other"),
		line("8:1", "/home/me/.keryx2", "/neighbour"),
	);
	expect(otherPaths("/home/me/.keryx", all)).toEqual([]);
});

test("of several mounts at one place the last one counts", () => {
	const all = mounts(
		line("8:1", "/", "/"),
		line("8:2", "/", "/home"),
		line("8:3", "/", "/home"),
		line("8:3", "/", "/again"),
	);
	expect(otherPaths("/home/me/.keryx", all)).toEqual(["/again/me/.keryx"]);
});

test("further lists of processes are found", () => {
	const all = mounts(line("0:22", "/", "/proc", "proc"), line("0:22", "/", "/chroot/proc", "proc"));
	expect(furtherProcMounts(all)).toEqual(["/chroot/proc"]);
});
