// `keryx doctor`: what is fine is said to be fine, what was broken is named with what to do, and --fix puts it right.
import {
	appendFileSync,
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import { NO_SECRETS, openStore } from "../src/store/index.ts";
import { countedIds, createWallClock } from "./support/clock.ts";
import { asJson, call, commandIn, homeWithPast, type Run } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-doctor-"));
const { keryx, start } = commandIn(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));

let homes = 0;

async function home(): Promise<string> {
	return (await homeWithPast(join(root, `home-${homes++}`))).home;
}

const doctor = (path: string, ...args: readonly string[]): Promise<Run> =>
	call(["doctor", ...args], { env: { KERYX_HOME: path } });

interface Check {
	readonly check: string;
	readonly state: string;
	readonly found: string;
	readonly remedy: string | null;
}

/** What is not fine, but that no backup was made yet, and which limits this machine has: that is said of each of these homes. */
async function ailments(path: string, ...args: readonly string[]): Promise<[number | null, ...Check[]]> {
	const run = await doctor(path, "--json", ...args);
	const { ok, checks } = asJson(run);
	expect(ok).toBe(run.code === 0);
	return [
		run.code,
		...checks.filter(({ check, state }: Check) => state !== "fine" && !["backup", "limits"].includes(check)),
	];
}

describe.concurrent("keryx doctor", () => {
	test("a healthy home is fine, and each look says what it saw", async () => {
		const path = await home();
		appendFileSync(join(path, "config.yaml"), "walls: {limits: {processes: 4096}}\n");
		const run = await keryx(["doctor"], { env: { KERYX_HOME: path } });
		expect(run).toMatchObject({ code: 0, stderr: "" });
		const looks = run.stdout.trimEnd().split("\n");
		expect(looks.filter((line) => line.startsWith("ok     ") && !line.includes(" limits: "))).toHaveLength(
			20,
		);
		// Where a cgroup can be made it is in force, and elsewhere it is said why not.
		expect(run.stdout).toMatch(
			/ok {5}limits: each program, with everything it starts, gets at most 4096 processes|note {3}limits: .* has no limit: /,
		);
		expect(run.stdout).toContain(`ok     node: Node ${process.versions.node}`);
		expect(run.stdout).toContain("ok     keryx: not running; commands open the store themselves");
		expect(run.stdout).toMatch(/ok {5}store: .*keryx\.db, \d+ KB, schema version \d+\n/);
		expect(run.stdout).toContain(
			"ok     walls: walls are up: commands run behind view, mask or box; a box has no network",
		);
		expect(looks.at(-1)).toBe("Everything is fine.");
	});

	test("a box's own network is tried, and where there is none, one command helps", async () => {
		const path = await home();
		writeFileSync(join(path, "config.yaml"), "walls:\n  box_network: on\n");
		const { checks } = asJson(await doctor(path, "--json"));
		const found = checks.find(({ check }: Check) => check === "box network");
		if (found?.state === "fine") expect(found.found).toContain("its own network");
		else
			expect(found).toMatchObject({
				state: "wrong",
				found: expect.stringContaining("although walls.box_network is on: "),
				remedy: expect.any(String),
			});
	});

	test("a home that is not there yet is no fault, and is not made", async () => {
		const path = join(root, "none");
		expect(await ailments(path)).toEqual([
			0,
			{ check: "home", state: "remark", found: expect.stringContaining("does not exist yet"), remedy: null },
		]);
		expect(existsSync(path)).toBe(false);
	});

	test("a Keryx that runs is named, and its search index is built anew by it", async () => {
		const path = await home();
		const gateway = await start(path);
		try {
			const run = await doctor(path, "--rebuild-search");
			expect(run.stdout).toContain(`is running as process ${gateway.pid} since `);
			expect(run.stdout).toContain("fixed  search: rebuilt: 9 messages and titles\n");
			expect(run.code).toBe(0);
		} finally {
			await gateway.stop();
		}
	});

	test("what others can open is told, and closed with --fix", async () => {
		const path = await home();
		chmodSync(path, 0o755);
		chmodSync(join(path, "keryx.db"), 0o644);
		const found = await ailments(path, "--quick");
		expect(found).toMatchObject([
			1,
			{ check: "home", state: "wrong", remedy: expect.stringContaining("chmod 700") },
			{ check: "files", state: "wrong", found: "other users can open keryx.db" },
		]);
		const planned = await ailments(path, "--quick", "--fix", "--dry-run");
		expect(planned).toMatchObject([1, { mends: expect.stringContaining("chmod 700") }, { state: "wrong" }]);
		expect(statSync(path).mode & 0o777).toBe(0o755);
		expect(await ailments(path, "--quick", "--fix")).toMatchObject([
			0,
			{ state: "fixed" },
			{ state: "fixed" },
		]);
		expect(statSync(path).mode & 0o777).toBe(0o700);
		expect(statSync(join(path, "keryx.db")).mode & 0o777).toBe(0o600);
		expect(await ailments(path, "--quick")).toEqual([0]);
	});

	test("a secret that others can open is told", async () => {
		const path = await home();
		for (const name of ["operator.secret", "service.env"])
			writeFileSync(join(path, name), "x".repeat(40), { mode: 0o644 });
		expect(await ailments(path, "--quick")).toMatchObject([
			1,
			{ check: "files", found: "other users can open operator.secret, service.env" },
		]);
	});

	test("what a killed restore or update left behind is named, and removed with --fix", async () => {
		const path = await home();
		// No process has this number: Linux counts to four million.
		const left = ["restore-99999999", "keryx.db.copy-99999999", "versions/trial-99999999"];
		for (const name of left) mkdirSync(join(path, name), { recursive: true });
		mkdirSync(join(path, `restore-${process.pid}`));
		writeFileSync(join(path, "restore-99999999", "keryx.db"), "x".repeat(5000));
		const all = async (...words: string[]) => {
			const { checks } = asJson(await doctor(path, "--quick", "--json", ...words));
			return checks.find(({ check }: Check) => check === "leftovers");
		};
		expect(await all("--fix", "--dry-run")).toMatchObject({ state: "remark", mends: "remove them" });
		expect(left.every((name) => existsSync(join(path, name)))).toBe(true);
		expect(await all("--fix")).toMatchObject({ state: "fixed", found: expect.stringContaining("5.0 KB") });
		expect(left.some((name) => existsSync(join(path, name)))).toBe(false);
		// Of a process that lives.
		expect(existsSync(join(path, `restore-${process.pid}`))).toBe(true);
	});

	test("a search index that lacks something is found, and built anew with --fix", async () => {
		const path = await home();
		const db = new Database(join(path, "keryx.db"));
		db.exec("DELETE FROM search WHERE rowid = (SELECT min(id) FROM messages)");
		db.close();
		const search = (): Promise<Run> =>
			call(["sessions", "search", "tulips", "--json"], { env: { KERYX_HOME: path } });
		expect(asJson(await search()).hits).toHaveLength(1);
		expect(await ailments(path)).toMatchObject([
			1,
			{ check: "search", state: "wrong", remedy: expect.stringContaining("--fix") },
		]);
		expect(await ailments(path, "--quick")).toEqual([0]);
		expect(await ailments(path, "--fix")).toMatchObject([0, { check: "search", state: "fixed" }]);
		expect(asJson(await search()).hits).toHaveLength(2);
		expect(await ailments(path)).toEqual([0]);
	});

	test("a broken rule of the store is told, and not repaired", async () => {
		const path = await home();
		const db = new Database(join(path, "keryx.db"));
		db.exec("UPDATE conversations SET message_count = message_count + 5 WHERE platform = 'telegram'");
		db.close();
		const found = await ailments(path, "--fix");
		expect(found).toMatchObject([1, { check: "integrity", state: "wrong" }]);
		expect(found[1]?.found).toMatch(
			/^3 problems: conversation \S+ counts \d+ messages, its rows say otherwise/,
		);
	});

	test("a store of a newer Keryx and one that is none are told apart", async () => {
		const [newer, none] = [await home(), await home()];
		const db = new Database(join(newer, "keryx.db"));
		db.pragma("user_version = 99");
		db.close();
		writeFileSync(join(none, "keryx.db"), "this is not a database, it only has its name".repeat(100));
		expect(await ailments(newer)).toMatchObject([
			1,
			{
				check: "store",
				found: expect.stringContaining("version 99"),
				remedy: expect.stringContaining("newer"),
			},
		]);
		expect(await ailments(none)).toMatchObject([1, { check: "store", state: "wrong" }]);
	});

	test("a wrong configuration does not keep it from looking at the rest", async () => {
		const path = await home();
		writeFileSync(join(path, "config.yaml"), "rooting: {}\n");
		expect(await ailments(path)).toMatchObject([
			1,
			{
				check: "configuration",
				found: expect.stringMatching(/^1 problem: .*config\.yaml:1:1: unknown key "rooting"/),
			},
		]);
	});

	test("an image or an engine that commands need and that is not there is named", async () => {
		const path = await home();
		const container = "terminal: {backend: podman, container: {image: nowhere.invalid/none:1}}\n";
		writeFileSync(join(path, "config.yaml"), container, { mode: 0o600 });
		const [code, ...found] = await ailments(path, "--quick");
		expect(code).toBe(1);
		expect(found).toContainEqual({
			check: "commands",
			state: "wrong",
			found: expect.stringContaining("podman container of nowhere.invalid/none:1, which cannot be started"),
			remedy: expect.stringContaining("podman pull nowhere.invalid/none:1"),
		});
	});

	test("a process that owns the store without listening is named", async () => {
		const path = await home();
		const url = `sqlite:${join(path, "keryx.db")}`;
		const store = await openStore({ url, clock: createWallClock(), ids: countedIds(), secrets: NO_SECRETS });
		try {
			expect(await ailments(path)).toMatchObject([
				0,
				{ check: "keryx", state: "remark", found: expect.stringContaining(`pid ${process.pid}`) },
			]);
			expect(await ailments(path, "--rebuild-search")).toMatchObject([
				1,
				{ check: "keryx" },
				{ check: "search", state: "wrong", found: expect.stringContaining("belongs to a running Keryx") },
			]);
		} finally {
			await store.close();
		}
	});

	test("one that listens and does not answer is stuck", async () => {
		const path = await home();
		const callers: Socket[] = [];
		const server = createServer((caller) => callers.push(caller));
		await new Promise<void>((resolve) => server.listen(join(path, "keryx.sock"), resolve));
		chmodSync(join(path, "keryx.sock"), 0o600);
		try {
			expect(await ailments(path, "--quick")).toMatchObject([
				1,
				{ check: "keryx", state: "wrong", found: expect.stringContaining("does not answer") },
			]);
		} finally {
			for (const caller of callers) caller.destroy();
			await new Promise((resolve) => server.close(resolve));
		}
	});

	test("a home that is a file, wrong options and help", async () => {
		const path = join(root, "file");
		writeFileSync(path, "");
		expect(await ailments(path)).toMatchObject([1, { check: "home", found: `${path} is not a folder` }]);
		expect(await call(["doctor", "--fxi"])).toMatchObject({ code: 2, stdout: "" });
		expect(await call(["doctr"])).toMatchObject({
			code: 2,
			stderr: expect.stringContaining("did you mean doctor?"),
		});
		const { stdout } = await call(["doctor", "--help"]);
		expect(stdout).toContain("$ keryx doctor --quick --json");
		expect(stdout).toContain("Exit codes: 0 ");
	});
});
