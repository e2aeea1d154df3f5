import { expect, test } from "vitest";
import { sandboxCommand, sandboxProfile } from "./macos.ts";
import { newWall } from "./new-wall.ts";
import type { Wall, WallKind } from "./types.ts";

function profile(kind: WallKind, changes: Partial<Wall> = {}): string {
	const wall = newWall({
		kind,
		home: "/Users/me/.keryx",
		workspace: "/Users/me/work",
		tmp: "/private/tmp/keryx/c1",
		read: ["/opt/tools"],
		write: ["/Users/me/out"],
		hide: ["/Users/me/backup"],
		protect: ["/opt/keryx"],
		network: "host",
		...changes,
	});
	return sandboxProfile({ wall, ports: [7717], userHome: "/Users/me" });
}

test("every profile is one list of rules with its brackets closed, and hides the home", () => {
	for (const kind of ["view", "mask", "box"] as const) {
		const text = profile(kind);
		expect(text.startsWith("(version 1)\n")).toBe(true);
		for (const line of text.trimEnd().split("\n")) {
			const outside = line.replace(/"(?:[^"\\]|\\.)*"/g, "");
			expect([line, outside.split("(").length]).toEqual([line, outside.split(")").length]);
		}
		expect(text).toContain(
			'(deny file-read* file-write* (subpath "/Users/me/.keryx") (subpath "/Users/me/backup"))',
		);
	}
});

test("mask: the folders above the home can be neither removed nor made anew", () => {
	const text = profile("mask");
	expect(text).toContain("(allow default)");
	expect(text).toContain(
		'(deny file-write-unlink file-write-create (literal "/Users/me/.keryx") (literal "/Users") (literal "/Users/me") (literal "/Users/me/backup"))',
	);
	expect(text).toContain(
		'(deny file-write* (subpath "/opt/keryx") (subpath "/Users/me/Library/LaunchAgents"))',
	);
	expect(text).toContain('(deny network-outbound (remote ip "localhost:7717"))');
	expect(text).not.toContain("(deny file-write*)\n");
});

test("view: nothing can be written but the workspace, /tmp's folder and the write list", () => {
	expect(profile("view")).toContain(
		'(deny file-write*)\n(allow file-write* (subpath "/Users/me/work") (subpath "/private/tmp/keryx/c1") (subpath "/Users/me/out") ',
	);
	expect(profile("view", { isWorkspaceReadonly: true })).not.toContain(
		'(allow file-write* (subpath "/Users/me/work")',
	);
});

test("box: nothing but what is named, and the home last", () => {
	const text = profile("box", { network: "none" });
	expect(text).toContain("(deny default)");
	expect(text).not.toContain("(allow network");
	expect(text.trimEnd().split("\n").at(-1)).toContain(
		'(deny file-read* file-write* (subpath "/Users/me/.keryx")',
	);
	expect(profile("box")).toContain(
		"(allow network-outbound network-inbound network-bind)\n(deny network-outbound (remote unix-socket))",
	);
});

test("a name with quotes in it stays a name", () => {
	expect(profile("mask", { home: '/Users/a"b\\c' })).toContain('(subpath "/Users/a\\"b\\\\c")');
});

test("the program runs under the profile, with nothing between", () => {
	expect(sandboxCommand("/p.sb", ["bash", "-c", "ls"])).toEqual([
		"/usr/bin/sandbox-exec",
		"-f",
		"/p.sb",
		"bash",
		"-c",
		"ls",
	]);
});
