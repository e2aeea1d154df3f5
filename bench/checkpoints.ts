// A snapshot of a workspace beside `git add -A && git commit` in a repository of the same files, after the same few changes. The two
// take turns, so that what else the machine does falls on both. While Keryx works, the delay of the event loop is measured.
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { createCheckpoints } from "../src/checkpoints/index.ts";
import { NO_SECRETS, openStore, systemClock, systemIds } from "../src/store/index.ts";
import { atMost, measured, median, type Row } from "./harness.ts";

const SIZES = [
	{ files: 10_000, changed: 10 },
	{ files: 50_000, changed: 100 },
] as const;
const SAMPLES = 7;
const BAR = 1.3;
const DELAY_BAR_MS = 25;
const FOLDERS = 500;
const RESTORED = 50_000;
const RESTORE_BAR_S = 8;

export async function measureCheckpoints(): Promise<Row[]> {
	const rows: Row[] = [];
	for (const size of SIZES) rows.push(...(await measureSize(size)));
	return [...rows, ...(await measureRestore())];
}

/** The agent has changed every file; all of them go back. Beside it, git does the same to the same files. */
async function measureRestore(): Promise<Row[]> {
	const top = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	const [home, folder, plain] = [join(top, "home"), join(top, "ours"), join(top, "plain")];
	mkdirSync(home);
	for (const one of [folder, plain]) makeFiles(one, RESTORED);
	git(plain, "init", "-q");
	commit(plain);
	const { checkpoints, close } = await openCheckpoints(home);
	try {
		const about = { workspace: folder, label: "bench", turn: "turn" };
		const before = await checkpoints.take({ ...about, kind: "before" });
		for (const one of [folder, plain])
			for (let n = 0; n < RESTORED; n++) appendFileSync(pathOf(one, n), "// the agent's\n");
		await checkpoints.take({ ...about, kind: "after" });
		settleDisk();
		if (before.kind === "failed") throw new Error(before.reason);
		const delay = monitorEventLoopDelay({ resolution: 1 });
		delay.enable();
		const began = performance.now();
		const { restored, kept } = await checkpoints.restore(folder, before.id);
		const seconds = (performance.now() - began) / 1000;
		delay.disable();
		if (restored.length !== RESTORED || kept.length > 0) throw new Error(`${restored.length} restored`);
		settleDisk();
		const checkout = (await timed(() => git(plain, "checkout", "-q", "-f", "--", "."))) / 1000;
		const what = `${RESTORED} files restored`;
		return [
			measured(`git checkout: ${RESTORED} files`, checkout, "s"),
			measured(`Keryx to git: ${what}`, seconds / checkout, "ratio"),
			atMost(RESTORE_BAR_S, measured(what, seconds, "s")),
			measured(`event-loop delay meanwhile, p99: ${what}`, delay.percentile(99) / 1e6, "ms"),
		];
	} finally {
		await close();
		rmSync(top, { recursive: true, force: true });
	}
}

async function openCheckpoints(home: string) {
	const clock = systemClock;
	const store = await openStore({
		url: `sqlite:${join(home, "keryx.db")}`,
		clock,
		ids: systemIds(clock),
		secrets: NO_SECRETS,
	});
	const settings = { maxSnapshots: 1000, maxTotalMb: 5000, maxFileMb: 10, maxFiles: 100_000 };
	const checkpoints = createCheckpoints({ home, store, clock, settings: () => settings });
	const close = async (): Promise<void> => {
		await checkpoints.close();
		await store.close();
	};
	return { checkpoints, close };
}

async function measureSize({ files, changed }: (typeof SIZES)[number]): Promise<Row[]> {
	const top = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	const [home, ours, plain] = [join(top, "home"), join(top, "ours"), join(top, "plain")];
	mkdirSync(home);
	makeFiles(ours, files);
	cpSync(ours, plain, { recursive: true });
	const { checkpoints, close } = await openCheckpoints(home);
	const keryx = async (): Promise<void> => {
		const outcome = await checkpoints.take({ workspace: ours, label: "bench" });
		if (outcome.kind !== "taken") throw new Error(JSON.stringify(outcome));
	};
	try {
		git(plain, "init", "-q");
		commit(plain);
		await keryx();
		settleDisk();
		const samples: { keryx: number; plain: number; delay: number }[] = [];
		for (let n = 0; n < SAMPLES; n++) {
			for (const folder of [ours, plain]) change(folder, files, changed, n);
			const other = await timed(() => commit(plain));
			// A new one for each sample: one that is enabled again counts the time that it was off.
			const delay = monitorEventLoopDelay({ resolution: 1 });
			delay.enable();
			const own = await timed(keryx);
			delay.disable();
			samples.push({ keryx: own, plain: other, delay: delay.percentile(99) / 1e6 });
		}
		const what = `${files} files, ${changed} changed`;
		const ratio = median(samples.map((sample) => sample.keryx / sample.plain));
		return [
			measured(`git add -A && git commit: ${what}`, median(samples.map((sample) => sample.plain)), "ms"),
			measured(`Keryx checkpoint: ${what}`, median(samples.map((sample) => sample.keryx)), "ms"),
			atMost(BAR, measured(`Keryx to git: ${what}`, ratio, "ratio")),
			atMost(
				DELAY_BAR_MS,
				measured(
					`event-loop delay meanwhile, p99: ${what}`,
					median(samples.map((sample) => sample.delay)),
					"ms",
				),
			),
		];
	} finally {
		await close();
		rmSync(top, { recursive: true, force: true });
	}
}

/** What preparing has left in memory would be written beside what is measured, to the cost of whoever waits for the disk. */
function settleDisk(): void {
	execFileSync("sync");
}

function pathOf(folder: string, n: number): string {
	return join(folder, `folder-${n % FOLDERS}`, `file-${n}.ts`);
}

function makeFiles(folder: string, files: number): void {
	for (let n = 0; n < FOLDERS; n++) mkdirSync(join(folder, `folder-${n}`), { recursive: true });
	writeFileSync(join(folder, ".gitignore"), "*.tmp\n/private/\n");
	for (let n = 0; n < files; n++)
		writeFileSync(pathOf(folder, n), `export const value${n} = ${n};\n`.repeat(1 + (n % 40)));
}

function change(folder: string, files: number, changed: number, round: number): void {
	for (let n = 0; n < changed; n++)
		appendFileSync(pathOf(folder, (n * 97 + round * 13) % files), `// ${round}\n`);
}

function commit(folder: string): void {
	git(folder, "add", "-A");
	git(folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "bench");
}

function git(folder: string, ...args: readonly string[]): void {
	execFileSync("git", args, {
		cwd: folder,
		stdio: "ignore",
		env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
	});
}

async function timed(work: () => void | Promise<void>): Promise<number> {
	const began = performance.now();
	await work();
	return performance.now() - began;
}
