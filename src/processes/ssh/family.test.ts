import { describe, expect, test } from "vitest";
import { membersIn, type RemoteFamily } from "./family.ts";

const LEADER = { bootId: "boot", pid: 10, startTime: "1000" };
const FAMILY: RemoteFamily = { id: "proc_1", leader: LEADER, group: 10, witnesses: [] };

const stat = (pid: number, parent: number, group: number, start: number, name = "x", state = "S") =>
	`/proc/${pid}/stat:${pid} (${name}) ${state} ${parent} ${group} ${group} ${"0 ".repeat(15)}${start} 0 0`;

const pids = (lines: readonly string[], family = FAMILY) =>
	membersIn(["boot", ...lines].join("\n"), family)
		.map(({ pid }) => pid)
		.sort((a, b) => a - b);

describe("who belongs to a process on another machine", () => {
	test("itself, its group, what is marked, and all their children; no stranger, no zombie", () => {
		expect(
			pids([
				"/proc/30/environ",
				stat(10, 1, 10, 1000),
				stat(11, 1, 10, 1001),
				stat(20, 11, 20, 1002),
				stat(30, 1, 30, 1003),
				stat(31, 10, 10, 1004, "x", "Z"),
				stat(40, 1, 40, 1005),
			]),
		).toEqual([10, 11, 20, 30]);
	});

	test("a pid that was given to another process is no member, nor is its group", () => {
		expect(pids([stat(10, 1, 10, 2000), stat(11, 10, 10, 2001)])).toEqual([]);
	});

	test("after the machine was started anew nothing is left", () => {
		const text = ["other boot", stat(10, 1, 10, 1000)].join("\n");
		expect(membersIn(text, FAMILY)).toEqual([]);
	});

	test("what was there before it is no member, whatever its environment says", () => {
		expect(pids(["/proc/9/environ", stat(9, 1, 9, 999)])).toEqual([]);
	});

	test("a name with brackets and a line's end neither hides its process nor invents another", () => {
		const [first = "", second = ""] = stat(10, 1, 10, 1000, "a) S 1\n99 (b").split("\n");
		expect(pids([first, `/proc/10/stat:${second}`])).toEqual([10]);
	});

	test("where the group is the connection's, what else is in it does not belong", () => {
		const family = { ...FAMILY, group: 5 };
		expect(pids([stat(5, 1, 5, 900), stat(10, 5, 5, 1000), stat(11, 10, 5, 1001)], family)).toEqual([10, 11]);
	});

	test("one that was seen before stays a member when it has left its group and its parent", () => {
		const witnesses = [{ bootId: "boot", pid: 12, startTime: "1002" }];
		expect(pids([stat(12, 1, 12, 1002), stat(13, 12, 13, 1003)], { ...FAMILY, witnesses })).toEqual([12, 13]);
	});

	test("without /proc, ps tells", () => {
		const start = "Sun Nov 15 10:00:00 2026";
		const family = { ...FAMILY, leader: { ...LEADER, startTime: start } };
		const lines = [
			`   10     1    10 Ss   ${start}`,
			`   11    10    10 S    ${start}`,
			`   12     1    12 Z ${start}`,
		];
		expect(pids(lines, family)).toEqual([10, 11]);
	});
});
