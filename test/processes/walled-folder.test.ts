// A program behind a wall is started in a folder by its name. What is said of one that the wall does not show is the same whether it is
// there or not, also where a link in the workspace leads to it.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WallKind } from "../../src/walls/index.ts";
import { WalledScene } from "./walled-scene.ts";

let scene: WalledScene;
let backend: Awaited<ReturnType<WalledScene["connect"]>>;
let count = 0;
beforeAll(async () => {
	scene = new WalledScene();
	backend = await scene.connect();
	mkdirSync(join(scene.home, "there"));
	mkdirSync(join(scene.workspace, "own"));
	symlinkSync(scene.home, join(scene.workspace, "link"));
});
afterAll(() => scene.close());

async function saidOf(kind: WallKind, cwd: string): Promise<string> {
	const { end } = await backend.spawn({
		id: `folder_${++count}`,
		argv: ["true"],
		cwd,
		env: { PATH: "/usr/bin:/bin" },
		pty: null,
		maxLogBytes: 4096,
		wall: scene.wall(kind),
	});
	return (end?.reason ?? "started").replace(cwd, "it");
}

const NOT_THERE = "the directory it does not exist";

test.each(["view", "mask", "box"] as const)(
	"%s tells nothing of folders that it does not show",
	async (kind) => {
		const hidden = [scene.home, join(scene.workspace, "link")].flatMap((home) => [
			join(home, "there"),
			join(home, "not-there"),
		]);
		for (const cwd of hidden) expect(await saidOf(kind, cwd)).toBe(NOT_THERE);
		expect(await saidOf(kind, join(scene.workspace, "own"))).toBe("started");
		expect(await saidOf(kind, join(scene.workspace, "none"))).toBe(NOT_THERE);
	},
);

test("a box tells nothing of what else there is", async () => {
	for (const cwd of ["/root", "/var/lib", "/var/none"]) expect(await saidOf("box", cwd)).toBe(NOT_THERE);
	expect(await saidOf("box", "/usr")).toBe("started");
});
