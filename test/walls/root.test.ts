import { expect, test } from "vitest";
import { wallConformance } from "../conformance/walls.ts";

if (process.getuid?.() === 0) {
	wallConformance("as root");
	wallConformance("as root who administers", { privileges: "admin", kinds: ["view", "mask"] });
} else
	test("as root: nothing can be shown, these tests run as an ordinary user", () => {
		expect(process.getuid?.()).not.toBe(0);
	});
