// What the system refuses: folders that cannot be changed, mount points. Root is refused nothing, so these tests run as nobody. Then random
// histories in such a world: whatever is refused, nothing of a person's is lost, and each restore ends and says what it left.
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asNobody, type Bench, filesOf, makePipe, openBench, put, takeTurn, treeOf } from "./support.ts";

/** `npm run test:crash` draws new histories each time; `npm test` tells the same ones. */
const GIVEN = process.env.KERYX_RESTORE_RUNS;
const RUNS = Number(GIVEN ?? 20);
const LARGEST = 40;

let bench: Bench;
let back: () => void;
beforeAll(async () => {
	back = asNobody();
	bench = await openBench({ maxFileMb: LARGEST / 1024 / 1024 });
});
afterAll(async () => {
	await bench.end();
	back();
});

test("a folder that cannot be removed is named, and the restore ends; later ones are not in its way", async () => {
	const folder = bench.workspace();
	put(folder, "a", "old");
	mkdirSync(join(folder, "locked"));
	const before = await takeTurn(bench, folder, () => {
		put(folder, "a", "agent");
		put(folder, "locked/made/by/agent", "agent");
	});
	chmodSync(join(folder, "locked"), 0o555);
	try {
		const report = await bench.checkpoints.restore(folder, before);
		expect(report).toMatchObject({
			restored: ["a"],
			removed: ["locked/made/by/agent"],
			kept: [{ path: "locked/made/", reason: "refused" }],
		});
		expect(filesOf(folder)).toEqual({ a: "file old" });
		await bench.checkpoints.restore(folder, report.before.id);
		expect(filesOf(folder)).toEqual({ a: "file agent", "locked/made/by/agent": "file agent" });
	} finally {
		chmodSync(join(folder, "locked"), 0o755);
	}
});

test("a file in a folder that cannot be changed is kept and named, and so is one that cannot be put there", async () => {
	const folder = bench.workspace();
	put(folder, "locked/gone", "old");
	const before = await takeTurn(bench, folder, () => {
		rmSync(join(folder, "locked/gone"));
		put(folder, "locked/made", "agent");
	});
	chmodSync(join(folder, "locked"), 0o555);
	try {
		expect(await bench.checkpoints.restore(folder, before)).toMatchObject({
			restored: [],
			removed: [],
			kept: [
				{ path: "locked/made", reason: "refused" },
				{ path: "locked/gone", reason: "refused" },
			],
		});
	} finally {
		chmodSync(join(folder, "locked"), 0o755);
	}
	expect(await bench.checkpoints.restore(folder, before)).toMatchObject({
		restored: ["locked/gone"],
		removed: ["locked/made"],
		kept: [],
	});
	expect(readdirSync(join(folder, "locked"))).toEqual(["gone"]);
});

const PATHS = ["a", "d/e", "d/f/g", "d/f/h", "m/x", "m/y/z", "n", ".gitignore", "t.tmp", ".env"];
const TEXTS = ["", "one\n", "two\n", "*.tmp\n", "x".repeat(LARGEST + 1)];
type Edit =
	| { readonly kind: "write"; readonly path: string; readonly text: string }
	| { readonly kind: "mode"; readonly path: string; readonly mode: number }
	| { readonly kind: "remove" | "pipe" | "lock" | "mount"; readonly path: string };

const path = fc.constantFrom(...PATHS);
const edit: fc.Arbitrary<Edit> = fc.oneof(
	{
		weight: 5,
		arbitrary: fc.record({ kind: fc.constant("write" as const), path, text: fc.constantFrom(...TEXTS) }),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			kind: fc.constant("mode" as const),
			path,
			mode: fc.constantFrom(0o644, 0o755, 0o600, 0o440, 0o711),
		}),
	},
	{
		weight: 4,
		arbitrary: fc.record({
			kind: fc.constantFrom(
				"remove" as const,
				"remove" as const,
				"pipe" as const,
				"lock" as const,
				"mount" as const,
			),
			path: fc.constantFrom(...PATHS, "d", "d/f", "m", "m/y"),
		}),
	},
);
const history = fc.record({
	first: fc.array(edit, { maxLength: 10 }),
	agent: fc.array(edit, { maxLength: 6 }),
	person: fc.array(edit, { maxLength: 4 }),
});

test(`of ${RUNS} histories with locks, mounts, pipes and odd modes none loses anything of a person's, and each restore says what it left`, {
	timeout: 6000 * RUNS,
}, async () => {
	await fc.assert(
		fc.asyncProperty(history, async (told) => {
			const folder = bench.workspace();
			const mounts: string[] = [];
			try {
				await tell(folder, mounts, told);
			} finally {
				asRoot(() => {
					for (const mount of mounts.toReversed()) shell('umount -l "$1"', mount);
				});
				unlock(folder);
			}
			rmSync(folder, { recursive: true });
		}),
		{ numRuns: RUNS, ...(GIVEN === undefined && { seed: 17 }) },
	);
});

async function tell(
	folder: string,
	mounts: string[],
	{ first, agent, person }: typeof history extends fc.Arbitrary<infer Value> ? Value : never,
): Promise<void> {
	const act = (edits: readonly Edit[]): void => {
		for (const one of edits) attempt(folder, one, mounts);
	};
	act(first);
	const then = stateOf(folder);
	const id = await takeTurn(bench, folder, () => act(agent));
	const after = stateOf(folder);
	act(person);
	const now = stateOf(folder);
	const report = await bench.checkpoints.restore(folder, id);
	const found = stateOf(folder);
	const named = new Set([...report.kept.map(({ path }) => path), ...report.untouched]);
	for (const path of new Set([...then.keys(), ...now.keys(), ...found.keys()])) {
		// A pipe that the agent has left and a person has removed was no file in either state.
		const wasNone = isSpecial(after.get(path)) && !now.has(path);
		const persons = after.get(path) !== now.get(path) && !wasNone;
		if (persons) expect(found.get(path), `${path} is a person's`).toBe(now.get(path));
		// Back at what it was, or named; what is no file is nobody's to put back.
		const isBack = found.get(path) === then.get(path);
		// Of what rules exclude nobody knows the content.
		const isUnknown = (path === ".env" || path === "t.tmp") && found.has(path);
		if (!isBack && !isUnknown && !isSpecial(then.get(path)) && !isSpecial(found.get(path)))
			expect([...named], `${path} is not back`).toContain(path);
	}
	// And the way back is as safe.
	const undone = await bench.checkpoints.restore(folder, report.before.id);
	for (const { path, reason } of undone.kept) expect([path, reason]).toEqual([path, expect.any(String)]);
	expect(await bench.store.openRestores({ scope: { kind: "operator" } })).toEqual([]);
}

function isSpecial(what: string | undefined): boolean {
	return what === "special";
}

function stateOf(folder: string): ReadonlyMap<string, string> {
	const files = [...treeOf(folder)].filter(([, what]) => what !== "folder");
	return new Map(
		files.map(([path, what]) =>
			what === "special"
				? [path, what]
				: [path, `${(lstatSync(join(folder, path)).mode & 0o7777).toString(8)} ${what}`],
		),
	);
}

/** What the system refuses to the agent, or to the person, they do not do. */
function attempt(folder: string, one: Edit, mounts: string[]): void {
	const full = join(folder, one.path);
	try {
		if (one.kind === "write") {
			const stats = lstatSync(full, { throwIfNoEntry: false });
			if (stats && !stats.isFile()) rmSync(full, { recursive: true });
			put(folder, one.path, one.text);
		} else if (one.kind === "remove") rmSync(full, { recursive: true, force: true });
		else if (one.kind === "mode") {
			if (lstatSync(full).isFile()) chmodSync(full, one.mode);
		} else if (one.kind === "pipe") {
			mkdirSync(dirname(full), { recursive: true });
			rmSync(full, { recursive: true, force: true });
			makePipe(full);
		} else if (one.kind === "lock") {
			if (lstatSync(full).isDirectory()) chmodSync(full, 0o555);
		} else if (lstatSync(full).isDirectory() && !mounts.includes(full)) {
			asRoot(() => shell('mount -t tmpfs -o mode=777 none "$1"', full));
			mounts.push(full);
		}
	} catch (error) {
		const { code, status } = error as NodeJS.ErrnoException & { status?: number };
		if (code === undefined && status === undefined) throw error;
	}
}

/** Where it is: an ordinary user mounts nothing. */
function asRoot(work: () => void): void {
	const own = process.geteuid?.();
	if (process.getuid?.() === 0) process.seteuid?.(0);
	try {
		work();
	} finally {
		if (own !== undefined) process.seteuid?.(own);
	}
}

function shell(command: string, path: string): void {
	execFileSync("sh", ["-c", command, "sh", path], { stdio: "ignore" });
}

function unlock(folder: string): void {
	for (const entry of readdirSync(folder, { withFileTypes: true })) {
		if (!entry.isDirectory()) continue;
		chmodSync(join(folder, entry.name), 0o755);
		unlock(join(folder, entry.name));
	}
}
