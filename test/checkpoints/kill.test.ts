// kill -9 in the middle of a snapshot, of a prune and of a restore: what was acknowledged is there, and what was begun is finished.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Checkpoints, createCheckpoints } from "../../src/checkpoints/index.ts";
import { NO_SECRETS, openStore, type Store, systemClock, systemIds } from "../../src/store/index.ts";
import { programFile } from "../support/programs.ts";
import type { ChildOrders } from "./child.ts";
import { filesOf, put, SETTINGS } from "./support.ts";

const CHILD = programFile(new URL("./child.ts", import.meta.url));
const top = mkdtempSync(join(tmpdir(), "keryx-checkpoint-kills-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let scenes = 0;

interface Scene {
	readonly folder: string;
	readonly home: string;
	readonly store: string;
}

function newScene(): Scene {
	const at = join(top, `${++scenes}`);
	const scene = {
		folder: join(at, "workspace"),
		home: join(at, "home"),
		store: join(at, "home", "keryx.db"),
	};
	for (const path of [scene.folder, scene.home, join(scene.home, "checkpoints")])
		mkdirSync(path, { recursive: true });
	return scene;
}

async function live<T>(
	scene: Scene,
	settings: ChildOrders["settings"],
	work: (checkpoints: Checkpoints, store: Store) => Promise<T>,
): Promise<T> {
	const store = await openStore({
		url: `sqlite:${scene.store}`,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
	const checkpoints = createCheckpoints({
		home: scene.home,
		store,
		clock: systemClock,
		settings: () => settings,
	});
	try {
		return await work(checkpoints, store);
	} finally {
		await checkpoints.close();
		await store.close();
	}
}

/** Answers what the child said; it is killed at the `event`th thing that happens in the repository after its first checkpoint. */
async function runAndKill(orders: ChildOrders, event: number): Promise<string[]> {
	const child = spawn(
		process.execPath,
		["--disable-warning=ExperimentalWarning", CHILD, JSON.stringify(orders)],
		{
			stdio: ["ignore", "pipe", "inherit"],
		},
	);
	let said = "";
	let left = event;
	const ended = once(child, "close");
	const watching = watch(join(orders.home, "checkpoints"), { recursive: true }, () => {
		if (said.includes("taken") && --left <= 0) child.kill("SIGKILL");
	});
	child.stdout.setEncoding("utf8").on("data", (data: string) => {
		said += data;
	});
	await ended;
	watching.close();
	return said.split("\n").slice(0, -1);
}

/** Everything that is listed can be read to its last byte, and a new snapshot, a prune and a restore work. */
async function expectUsable(
	scene: Scene,
	settings: ChildOrders["settings"],
	acknowledged: readonly string[],
): Promise<void> {
	await live(scene, settings, async (checkpoints) => {
		await checkpoints.recover();
		const listed = await checkpoints.list(scene.folder);
		const newest = acknowledged
			.filter((line) => line.startsWith("taken "))
			.at(-1)
			?.slice("taken ".length);
		expect(listed.map(({ id }) => id)).toContain(newest);
		const [repository = ""] = readdirSync(join(scene.home, "checkpoints")).filter((name) =>
			/^[0-9a-f]{32}$/.test(name),
		);
		const env = { PATH: process.env.PATH, GIT_DIR: join(scene.home, "checkpoints", repository) };
		for (const { commit } of listed)
			execFileSync("git", ["rev-list", "--objects", "--quiet", commit], { env });
		put(scene.folder, "after-the-kill.txt", `${Math.random()}`);
		expect(await checkpoints.take({ workspace: scene.folder, label: "again" })).toMatchObject({
			kind: "taken",
		});
		const { bytes } = await checkpoints.prune(scene.folder);
		expect(bytes).toBeGreaterThan(0);
		const kept = await checkpoints.list(scene.folder);
		const before = filesOf(scene.folder);
		const { before: undo } = await checkpoints.restore(scene.folder, kept.at(-1)?.id ?? "", { force: true });
		await checkpoints.restore(scene.folder, undo.id, { force: true });
		expect(filesOf(scene.folder)).toEqual(before);
		execFileSync("git", ["fsck", "--full", "--no-dangling", "--no-reflogs"], { env, stdio: "ignore" });
	});
}

test("a snapshot that is killed leaves everything acknowledged behind, and the next one is taken", async () => {
	const scene = newScene();
	for (let n = 0; n < 200; n++) put(scene.folder, `many/${n}`, `${n}`);
	for (const event of [1, 6, 13, 22]) {
		const said = await runAndKill({ ...scene, settings: SETTINGS, work: { kind: "take" } }, event);
		await expectUsable(scene, SETTINGS, said);
	}
});

test("a prune that is killed leaves the snapshots that are listed whole", async () => {
	const scene = newScene();
	const settings = { ...SETTINGS, maxSnapshots: 3 };
	for (const event of [12, 24, 37, 50]) {
		const said = await runAndKill({ ...scene, settings, work: { kind: "prune" } }, event);
		await expectUsable(scene, settings, said);
	}
});

test("a restore that is killed at any file is finished at the next start, and then it is as if it had not been", async () => {
	const steps = 6;
	for (const dieAt of [1, 2, 4, steps, steps + 1]) {
		const scene = newScene();
		for (const name of ["a", "b", "sub/c", "sub/d"]) put(scene.folder, name, "old");
		const id = await live(scene, SETTINGS, async (checkpoints) => {
			const turn = { workspace: scene.folder, label: "turn", turn: "t" };
			const before = await checkpoints.take({ ...turn, kind: "before" });
			for (const name of ["a", "b", "sub/c"]) put(scene.folder, name, "agent");
			rmSync(join(scene.folder, "sub/d"));
			put(scene.folder, "new/e", "agent");
			put(scene.folder, "new/f", "agent");
			await checkpoints.take({ ...turn, kind: "after" });
			put(scene.folder, "person", "person");
			return before.kind === "failed" ? "" : before.id;
		});
		const torn = filesOf(scene.folder);
		const said = await runAndKill(
			{ ...scene, settings: SETTINGS, work: { kind: "restore", id, dieAt } },
			1e9,
		);
		expect(said).toEqual(dieAt > steps ? ["ready", "restored"] : ["ready"]);
		// What a person does before the next start is kept, too.
		writeFileSync(join(scene.folder, "meanwhile"), "person");
		await live(scene, SETTINGS, async (checkpoints, store) => {
			const recovered = await checkpoints.recover();
			expect(recovered).toMatchObject(
				dieAt > steps ? [] : [{ problem: null, left: [], report: { target: { id } } }],
			);
			expect(await store.openRestores({ scope: { kind: "operator" } })).toEqual([]);
			const persons = { meanwhile: "file person", person: "file person" };
			const old = { a: "file old", b: "file old", "sub/c": "file old", "sub/d": "file old" };
			expect(filesOf(scene.folder)).toEqual({ ...old, ...persons });
			const list = await checkpoints.list(scene.folder);
			const undo = list.find(({ label }) => label.startsWith("before the restore"));
			await checkpoints.restore(scene.folder, undo?.id ?? "");
			// Between its begin and its end everything is the restore's.
			expect(filesOf(scene.folder)).toEqual({ ...torn, ...(dieAt > steps && { meanwhile: "file person" }) });
		});
	}
});

test("a restore that several threads write is finished after a kill, keeps what a person changed meanwhile, and leaves no draft", async () => {
	const scene = newScene();
	const names = Array.from({ length: 2400 }, (_, n) => `folder-${n % 8}/${n}`);
	for (const name of names) put(scene.folder, name, `old ${name}`);
	put(scene.folder, "folder-0/linked", "old");
	linkSync(join(scene.folder, "folder-0/linked"), join(scene.folder, "folder-7/linked"));
	const old = filesOf(scene.folder);
	const id = await live(scene, SETTINGS, async (checkpoints) => {
		const turn = { workspace: scene.folder, label: "turn", turn: "t" };
		const before = await checkpoints.take({ ...turn, kind: "before" });
		for (const name of [...names, "folder-0/linked"]) put(scene.folder, name, "agent");
		await checkpoints.take({ ...turn, kind: "after" });
		return before.kind === "failed" ? "" : before.id;
	});
	expect(filesOf(scene.folder)["folder-7/linked"]).toBe("file agent");
	const orders = { ...scene, settings: SETTINGS, work: { kind: "restore", id, dieAt: 400 } } as const;
	expect(await runAndKill(orders, 1e9)).toEqual(["ready"]);
	// It had begun, and not ended.
	const torn = filesOf(scene.folder);
	const left = names.filter((name) => torn[name] === "file agent");
	expect(left.length).toBeGreaterThan(0);
	expect(left.length).toBeLessThan(names.length);
	const [edited = ""] = left;
	put(scene.folder, edited, "person");
	await live(scene, SETTINGS, async (checkpoints) => {
		const kept = [{ path: edited, reason: "changing" }];
		expect(await checkpoints.recover()).toMatchObject([{ problem: null, left: [], report: { kept } }]);
	});
	expect(filesOf(scene.folder)).toEqual({ ...old, [edited]: "file person" });
	const present = readdirSync(scene.folder, { recursive: true }).map(String);
	expect(present.filter((name) => name.includes(".keryx-restore-"))).toEqual([]);
});

test("a restore that cannot be finished stays open, and says what is left; the next one finishes it", async () => {
	const scene = newScene();
	put(scene.folder, "a", "old");
	put(scene.folder, "b", "old");
	const id = await live(scene, SETTINGS, async (checkpoints) => {
		const turn = { workspace: scene.folder, label: "turn", turn: "t" };
		const before = await checkpoints.take({ ...turn, kind: "before" });
		put(scene.folder, "a", "agent");
		put(scene.folder, "b", "agent");
		await checkpoints.take({ ...turn, kind: "after" });
		return before.kind === "failed" ? "" : before.id;
	});
	await runAndKill({ ...scene, settings: SETTINGS, work: { kind: "restore", id, dieAt: 2 } }, 1e9);
	const path = process.env.PATH;
	await live(scene, SETTINGS, async (checkpoints) => {
		process.env.PATH = scene.folder;
		try {
			expect(await checkpoints.recover()).toMatchObject([
				{
					workspace: scene.folder,
					report: null,
					left: ["b"],
					problem: "the restore is not finished: checkpoints need git, but there is no git on the PATH",
				},
			]);
		} finally {
			process.env.PATH = path;
		}
		// The next one finishes it first, without a start in between.
		expect(await checkpoints.restore(scene.folder, id)).toMatchObject({ restored: [], kept: [] });
		expect(filesOf(scene.folder)).toEqual({ a: "file old", b: "file old" });
		expect(await checkpoints.recover()).toEqual([]);
	});
});
