// Workspaces leave Keryx's home: each by one rename, once nothing uses it, and its snapshots go with it.
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isFirstWithWalls, leaveHome } from "../../src/app/leave-home.ts";
import { createCheckpoints } from "../../src/checkpoints/index.ts";
import {
	createWorkspaces,
	moveWorkspaces,
	snapshotName,
	type WorkspaceFolders,
	workspaceFolders,
} from "../../src/gateway/index.ts";
import { NO_SECRETS, openStore, type Store, systemIds } from "../../src/store/index.ts";
import { systemClock } from "../../src/time/index.ts";

const IDS = ["01a1df6124a57928b4169b8dca60f65e", "11a1df6124a57928b4169b8dca60f65e"] as const;
const [ONE, TWO] = IDS;
const SETTINGS = { maxSnapshots: 20, maxTotalMb: 100, maxFileMb: 10, maxFiles: 1000 };
let top: string;
let folders: WorkspaceFolders;
beforeEach(() => {
	top = mkdtempSync("/var/tmp/keryx-move-");
	folders = { home: join(top, "home"), root: join(top, "data/workspaces") };
	for (const id of IDS) {
		mkdirSync(join(folders.home, "workspaces", id), { recursive: true });
		writeFileSync(join(folders.home, "workspaces", id, "kept"), id);
	}
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const none = () => false;
const oldOf = (id: string) => join(folders.home, "workspaces", id);
const newOf = (id: string) => join(folders.root, id);

describe("moving", () => {
	test("takes every workspace out of the home with what is in it, and once", () => {
		mkdirSync(join(folders.home, "workspace"));
		expect(moveWorkspaces(folders, none)).toEqual({ moved: 3, kept: [] });
		for (const id of IDS) expect(readFileSync(join(newOf(id), "kept"), "utf8")).toBe(id);
		expect(readdirSync(folders.home)).toEqual([]);
		expect(readdirSync(folders.root).toSorted()).toEqual([...IDS, "shared"]);
		expect(moveWorkspaces(folders, none)).toEqual({ moved: 0, kept: [] });
	});

	test("leaves one whose programs run where it is, and works there, until a later start", () => {
		const workspaces = createWorkspaces({ mode: "per_conversation" }, folders);
		expect(moveWorkspaces(folders, (folder) => folder === oldOf(ONE))).toEqual({
			moved: 1,
			kept: [{ folder: oldOf(ONE), why: "its programs are still running" }],
		});
		expect(IDS.map((id) => workspaces.of(id))).toEqual([oldOf(ONE), newOf(TWO)]);
		expect(moveWorkspaces(folders, none)).toEqual({ moved: 1, kept: [] });
		expect(workspaces.of(ONE)).toBe(newOf(ONE));
	});

	test("never puts one in the place of another", () => {
		mkdirSync(newOf(ONE), { recursive: true });
		writeFileSync(join(newOf(ONE), "new"), "");
		expect(moveWorkspaces(folders, none).kept).toEqual([
			{ folder: oldOf(ONE), why: `${newOf(ONE)} already exists` },
		]);
		expect(readdirSync(newOf(ONE))).toEqual(["new"]);
		expect(readdirSync(oldOf(ONE))).toEqual(["kept"]);
	});

	test("goes on after whatever part of it was done", () => {
		fc.assert(
			fc.property(fc.subarray([...IDS]), (done) => {
				moveWorkspaces(folders, (folder) => !done.some((id) => folder === oldOf(id)));
				moveWorkspaces(folders, none);
				for (const id of IDS) expect(readFileSync(join(newOf(id), "kept"), "utf8")).toBe(id);
				// Back, for the next.
				for (const id of IDS) {
					mkdirSync(oldOf(id), { recursive: true });
					writeFileSync(join(oldOf(id), "kept"), id);
					rmSync(newOf(id), { recursive: true });
				}
			}),
			{ seed: 16, numRuns: 20 },
		);
	});
});

describe("the place", () => {
	test("is named after the home, so that two homes do not meet", () => {
		const env = { HOME: "/home/me" };
		const one = workspaceFolders("/home/me/.keryx", {}, env).root;
		expect(one).toMatch(/^\/home\/me\/\.local\/share\/keryx\/[0-9a-f]{16}\/workspaces$/);
		expect(workspaceFolders("/home/me/.other", {}, env).root).not.toBe(one);
		expect(workspaceFolders("/x", {}, { ...env, XDG_DATA_HOME: "/data" }).root).toMatch(/^\/data\/keryx\//);
		expect(workspaceFolders("/x", { root: "~/work" }, env).root).toBe("/home/me/work");
		expect(workspaceFolders("/x", { root: "/srv/work" }, env).root).toBe("/srv/work");
	});

	test("is never in the home", () => {
		const home = "/home/me/.local/share/keryx";
		expect(workspaceFolders(home, {}, { HOME: "/home/me" }).root).toMatch(
			/^\/home\/me\/\.local\/share\/keryx-workspaces\/[0-9a-f]{16}$/,
		);
	});
});

describe("through the start", () => {
	let store: Store;
	beforeEach(async () => {
		const ids = systemIds(systemClock);
		store = await openStore({ url: "sqlite::memory:", clock: systemClock, ids, secrets: NO_SECRETS });
	});
	afterEach(() => store.close());

	test("a home without workspaces hears once what is new for its commands, a new home never", async () => {
		const home = join(folders.home, "..", "other");
		const paths = { path: home, storePath: join(home, "keryx.db") };
		mkdirSync(home);
		expect(isFirstWithWalls(paths)).toBe(false);
		writeFileSync(paths.storePath, "");
		expect(isFirstWithWalls(paths)).toBe(false);
		rmSync(join(home, "walls"), { recursive: true });
		expect(isFirstWithWalls(paths)).toBe(true);
		const said: string[] = [];
		const output = { note: (text: string) => said.push(text), warn: (text: string) => said.push(text) };
		await leaveHome({ ...folders, home }, store, output, { isFirst: true });
		expect(said).toEqual([expect.stringMatching(/^New in this version: .*walls\.env_pass/)]);
		expect(isFirstWithWalls(paths)).toBe(false);
	});

	test("snapshots of a workspace are still its own after the move", async () => {
		const checkpoints = createCheckpoints({
			home: folders.home,
			nameOf: (folder) => snapshotName(folder, folders),
			store,
			clock: systemClock,
			settings: () => SETTINGS,
		});
		try {
			const taken = await checkpoints.take({ workspace: oldOf(ONE), label: "before", kind: "manual" });
			expect(taken.kind).toBe("taken");
			const said: string[] = [];
			const output = { note: (text: string) => said.push(text), warn: (text: string) => said.push(text) };
			await leaveHome(folders, store, output);
			expect(said).toEqual([expect.stringContaining("2 workspaces were moved out of Keryx's home")]);
			expect(said[0]).toContain("walls.env_pass");
			await leaveHome(folders, store, output);
			expect(said).toHaveLength(1);
			expect(existsSync(oldOf(ONE))).toBe(false);
			const [listed] = await checkpoints.list(newOf(ONE));
			expect(listed?.label).toBe("before");
			writeFileSync(join(newOf(ONE), "kept"), "changed");
			await checkpoints.restore(newOf(ONE), listed?.id as string, { force: true });
			expect(readFileSync(join(newOf(ONE), "kept"), "utf8")).toBe(ONE);
		} finally {
			await checkpoints.close();
		}
	});
});
