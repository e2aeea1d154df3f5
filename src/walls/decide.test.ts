import fc from "fast-check";
import { expect, test } from "vitest";
import { decideWall, type WallMode, wallsInWords } from "./decide.ts";
import type { ProbeResult } from "./probe.ts";
import type { WallKind } from "./types.ts";

const yes: ProbeResult = { isPossible: true, ms: 7 };
const no: ProbeResult = {
	isPossible: false,
	cause: "missing",
	said: "",
	remedy: "sudo apt install bubblewrap",
};
const all = { view: yes, mask: yes, box: yes };
const none = { view: no, mask: no, box: no };

test("where the wall can be made, the command runs behind it, whoever asks", () => {
	for (const mode of ["auto", "required"] as const)
		for (const isOwner of [true, false])
			expect(decideWall({ mode, kind: "box", isOwner, probe: all })).toEqual({ run: "walled", kind: "box" });
});

test("auto without a wall: the owner is asked about everything, others have no terminal", () => {
	expect(decideWall({ mode: "auto", kind: "view", isOwner: true, probe: none })).toEqual({
		run: "open",
		asks: true,
		reason: "bubblewrap is not installed",
		remedy: "sudo apt install bubblewrap",
	});
	expect(decideWall({ mode: "auto", kind: "view", isOwner: false, probe: none })).toEqual({
		run: "refused",
		reason: "bubblewrap is not installed, and without a wall only the owner has a terminal",
		remedy: "sudo apt install bubblewrap",
	});
});

test("required without a wall: nobody runs anything", () => {
	expect(decideWall({ mode: "required", kind: "mask", isOwner: true, probe: none })).toMatchObject({
		run: "refused",
		reason: "bubblewrap is not installed, and walls.mode is required",
	});
});

test("only off runs commands in the open without asking", () => {
	fc.assert(
		fc.property(
			fc.constantFrom<WallMode>("off", "auto", "required"),
			fc.constantFrom<WallKind>("view", "mask", "box"),
			fc.boolean(),
			fc.record({
				view: fc.constantFrom(yes, no),
				mask: fc.constantFrom(yes, no),
				box: fc.constantFrom(yes, no),
			}),
			(mode, kind, isOwner, probe) => {
				const decision = decideWall({ mode, kind, isOwner, probe });
				if (decision.run === "walled") expect([decision.kind, probe[kind]]).toEqual([kind, yes]);
				if (decision.run === "open")
					expect(mode === "off" || (mode === "auto" && isOwner && decision.asks)).toBe(true);
				if (mode === "off") expect(decision.run).toBe("open");
			},
		),
	);
});

test("one sentence says which walls there are", () => {
	expect(wallsInWords("auto", all)).toBe("walls are up: commands run behind view, mask or box");
	expect(wallsInWords("auto", none)).toBe(
		"there are no walls: bubblewrap is not installed. What to do: sudo apt install bubblewrap",
	);
	const loopback: ProbeResult = {
		isPossible: false,
		cause: "apparmor",
		said: "bwrap: loopback\nmore",
		remedy: "x",
	};
	expect(wallsInWords("required", { ...all, box: loopback })).toBe(
		"there is no box: AppArmor does not let bubblewrap create user namespaces (bwrap: loopback). What to do: x",
	);
	expect(wallsInWords("off", all)).toContain("walls are off");
});
