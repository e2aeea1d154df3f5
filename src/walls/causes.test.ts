import { expect, test } from "vitest";
import { causeInWords, causeOf, installCommand, remedyOf, type WallCause } from "./causes.ts";

const plain = { isContainer: false, isApparmorRestricting: false };

test.each<[string, Partial<typeof plain>, WallCause]>([
	["bwrap: setting up uid map: Permission denied", { isApparmorRestricting: true }, "apparmor"],
	[
		"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
		{ isApparmorRestricting: true },
		"apparmor",
	],
	["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", { isContainer: true }, "container"],
	[
		"bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
		{},
		"userns_off",
	],
	["bwrap: No permissions to creating new namespace, likely because ...", {}, "userns_off"],
	["bwrap: No permissions to create new namespace, likely ...", { isContainer: true }, "container"],
	["bwrap: No permissions to create new namespace, likely ...", { isApparmorRestricting: true }, "apparmor"],
	[
		"bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
		{},
		"userns_limit",
	],
	[
		"bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
		{ isContainer: true },
		"proc_covered",
	],
	["bwrap: Unknown option --disable-userns", {}, "too_old"],
	["/usr/bin/env: unrecognized option '--ignore-signal=HUP,INT'", {}, "no_gnu_env"],
	["bwrap: the moon is in the wrong house", {}, "unknown"],
])("%j with %j is %s", (said, facts, cause) => {
	expect(causeOf({ said, ...plain, ...facts })).toBe(cause);
});

test("every cause has words and one remedy", () => {
	const causes: Record<WallCause, true> = {
		missing: true,
		apparmor: true,
		userns_off: true,
		container: true,
		userns_limit: true,
		proc_covered: true,
		too_old: true,
		no_gnu_env: true,
		processor: true,
		platform: true,
		unknown: true,
	};
	for (const cause of Object.keys(causes) as WallCause[]) {
		expect(causeInWords(cause)).toMatch(/^[a-zA-Z]/);
		expect(remedyOf(cause, { install: "sudo apt install bubblewrap" }).length).toBeGreaterThan(10);
	}
	expect(remedyOf("missing", { install: "sudo apt install bubblewrap" })).toBe("sudo apt install bubblewrap");
});

test("the command that installs bubblewrap is the one of this system", () => {
	expect(installCommand((name) => name === "pacman")).toBe("sudo pacman -S bubblewrap");
	expect(installCommand((name) => name === "apt-get" || name === "apk")).toBe("sudo apt install bubblewrap");
	expect(installCommand(() => false)).toBe("install the package bubblewrap");
});
