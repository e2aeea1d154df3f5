// A workspace below /tmp, of which every wall shows the conversation's own: what a command puts in the place of a folder above it must
// not lead the next start out of the wall.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WallScene } from "./scene.ts";

let scene: WallScene;
let top: string;
beforeEach(() => {
	scene = new WallScene();
	top = realpathSync(mkdtempSync("/tmp/keryx-swapped-"));
});
afterEach(async () => {
	await scene.close();
	rmSync(top, { recursive: true, force: true });
});

test.each(["view", "mask", "box"] as const)(
	"behind %s, a folder above a workspace in /tmp cannot be exchanged for a way out",
	async (kind) => {
		const workspace = join(top, "a/b/ws");
		mkdirSync(workspace, { recursive: true });
		const outside = join(scene.user, "outside");
		mkdirSync(outside);
		const wall = scene.wall(kind, { workspace });
		// Until a wall stands, bubblewrap sees the machine as /oldroot.
		const swap = `cd /tmp; mv '${top}' away; ln -s '/oldroot${outside}' '${top}'; ls -d '${top}'; echo done`;
		const first = await scene.run(wall, swap, { cwd: "/" });
		expect(first.out).toContain("done");
		const second = await scene.run(wall, "echo kept > file; cat file", { cwd: workspace });
		expect(readdirSync(outside)).toEqual([]);
		expect(second).toMatchObject({ out: "kept\n", exit: { kind: "exited", code: 0 } });
		expect(existsSync(join(workspace, "file"))).toBe(true);
	},
);

test("a workspace elsewhere keeps /tmp from command to command", async () => {
	const wall = scene.wall("box");
	await scene.run(wall, "echo kept > /tmp/file");
	expect((await scene.run(wall, "cat /tmp/file")).out).toBe("kept\n");
});

test.each(["view", "box"] as const)(
	"behind %s, a folder that another wall shows stays where it is, with those above it, and can be written",
	async (kind) => {
		const inner = join(scene.workspace, "a/site");
		mkdirSync(inner, { recursive: true });
		const script =
			"mv a/site away; mv a away; rmdir a/site; ln -sfn / a/site; echo kept > a/site/file; mv a/site/file a/b && ls a";
		const { out } = await scene.run(scene.wall(kind, { keep: [inner] }), script);
		expect(out.split("\n")).toEqual(["b", "site", ""]);
		expect(readdirSync(join(scene.workspace, "a"))).toEqual(["b", "site"]);
	},
);
