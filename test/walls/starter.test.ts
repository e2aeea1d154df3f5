// What becomes of a program when its starter dies, and of what its starter was given.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
	endNamespace,
	findNamespace,
	isNamespaceAlive,
	pruneStatus,
	readStatus,
} from "../../src/walls/index.ts";
import { WallScene } from "./scene.ts";

const CHILD = fileURLToPath(new URL("./starter-child.ts", import.meta.url));
let scene: WallScene;

beforeEach(() => {
	scene = new WallScene();
});

afterEach(() => scene.close());

/** With a descriptor of the secret far behind its streams: those right behind them Node itself closes. */
const begin = (mode: string, script: string) =>
	spawn(
		"bash",
		[
			...["-c", 'exec 251<"$0" && exec "$@"', join(scene.home, "operator.secret")],
			...[process.execPath, "--disable-warning=ExperimentalWarning", CHILD],
			...[scene.home, scene.workspace, mode, script],
		],
		{ stdio: ["ignore", "pipe", "inherit"] },
	);

async function said(child: ReturnType<typeof begin>, text: string): Promise<string> {
	let seen = "";
	for await (const data of child.stdout ?? []) {
		seen += String(data);
		if (seen.includes(text)) return seen;
	}
	throw new Error(`it ended after ${JSON.stringify(seen)}`);
}

test.each(["outlives", "ends with it"])(
	"a program %s when its starter is killed, and can be ended by what is on the disk",
	async (mode) => {
		const child = begin(mode, "echo up; sleep 600");
		await said(child, "up\n");
		const { namespace } = readStatus(join(scene.home, "status"));
		if (!namespace) throw new Error("nothing is on the disk");
		child.kill("SIGKILL");
		if (mode === "outlives") {
			await new Promise((resolve) => child.once("exit", resolve));
			expect(isNamespaceAlive(namespace)).toBe(true);
			expect(await endNamespace(namespace)).toEqual([]);
		}
		await expect.poll(() => isNamespaceAlive(namespace)).toBe(false);
	},
);

test("a namespace is known by its status file, and by no other that names the same numbers", async () => {
	const walled = await scene.start(scene.wall("view", { outlivesStarter: true }), ["sleep", "600"]);
	await expect.poll(() => findNamespace(scene.lastStatus)).not.toBeNull();
	const other = join(scene.home, "another");
	copyFileSync(scene.lastStatus, other);
	expect(findNamespace(other)).toEqual(findNamespace(scene.lastStatus));
	// Written before this program began: the numbers were somebody else's then.
	utimesSync(other, new Date(), new Date(Date.now() - 3_600_000));
	expect(findNamespace(other)).toBeNull();
	expect(findNamespace(join(scene.home, "nowhere"))).toBeNull();
	walled.kill();
	await walled.exit;
	expect(findNamespace(scene.lastStatus)).toBeNull();
});

test("what a starter left behind is ended by its note, and the note goes", async () => {
	const walled = await scene.start(scene.wall("view"), ["bash", "-c", "echo up; exec sleep 600"]);
	// Before the program runs, there is nothing whose end could be told.
	await once(walled.child.stdout as Readable, "data");
	const notes = join(scene.home, "notes");
	mkdirSync(notes);
	const note = join(notes, "left.status");
	copyFileSync(scene.lastStatus, note);
	await pruneStatus(notes);
	expect(readdirSync(notes)).toEqual([]);
	expect(await walled.exit).toMatchObject({ kind: "exited", signal: "SIGKILL" });
});

const LIST = `exec perl -e 'opendir D, "/proc/self/fd"; print "$_ ", readlink("/proc/self/fd/$_"), "\\n" for readdir D; print "end\\n"'`;

test.each(["covers", "close"])(
	"a descriptor that the starter was given does not reach the program (%s)",
	async (mode) => {
		const text = await said(begin(mode, LIST), "end\n");
		expect(text).not.toContain("operator.secret");
		expect(text).toMatch(/^0 /m);
		if (mode === "close") {
			expect(text).toContain('"closed":[251');
			expect(text).not.toMatch(/^251 /m);
		} else expect(text).toMatch(/^251 \/dev\/null$/m);
	},
);
