import { expect, test } from "vitest";
import { unitOf } from "./running.ts";

test.each([
	["0::/system.slice/keryx.service\n", { name: "keryx.service", isUsers: false }],
	[
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/keryx.service\n",
		{ name: "keryx.service", isUsers: true },
	],
	["0::/user.slice/user-1000.slice/session-3.scope\n", null],
	["0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-term.scope\n", null],
	["0::/user.slice/user-1000.slice/user@1000.service\n", null],
	["0::/docker/0123456789abcdef\n", null],
	["0::/\n", null],
	["", null],
])("a process in %j belongs to the service %j", (cgroup, expected) => {
	expect(unitOf(cgroup)).toEqual(expected);
});
