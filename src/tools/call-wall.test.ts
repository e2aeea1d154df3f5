import { expect, test } from "vitest";
import type { CommandWall, WallKind } from "../walls/index.ts";
import { isBehindWider } from "./call-wall.ts";

const walled = (kind: WallKind) => ({ run: "walled", request: { wall: { kind } } }) as unknown as CommandWall;
const refused = { run: "refused" } as unknown as CommandWall;
const open = { run: "open" } as unknown as CommandWall;

test.each([
	[walled("box"), "box", false],
	[walled("box"), "view", true],
	[walled("view"), "mask", true],
	[walled("mask"), "box", false],
	// Started where there were no walls.
	[walled("mask"), null, true],
	[refused, "box", true],
	[open, null, false],
])("whoever's commands run behind %j, a program behind %j: wider %j", (usual, running, isWider) => {
	expect(isBehindWider({ usual, running })).toBe(isWider);
});
