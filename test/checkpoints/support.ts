// Workspaces on the disk and checkpoints of them, on a store in memory.
import { execFileSync } from "node:child_process";
import {
	chmodSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type CheckpointSettings, type Checkpoints, createCheckpoints } from "../../src/checkpoints/index.ts";
import type { Secrets } from "../../src/secrets/index.ts";
import { NO_SECRETS, openStore, type Store } from "../../src/store/index.ts";
import { countedIds, createWallClock, type WallClock } from "../support/clock.ts";

export const SETTINGS: CheckpointSettings = {
	maxSnapshots: 20,
	maxTotalMb: 500,
	maxFileMb: 1,
	maxFiles: 5000,
};

export interface Bench {
	readonly folder: string;
	readonly home: string;
	readonly store: Store;
	readonly clock: WallClock;
	readonly checkpoints: Checkpoints;
	/** What was logged. */
	readonly logged: string[];
	/** A new empty folder. */
	workspace(): string;
	/** Others on the same store, as another life of the process has them. */
	again(settings?: Partial<CheckpointSettings>): Checkpoints;
	end(): Promise<void>;
}

export async function openBench(
	settings: Partial<CheckpointSettings> = {},
	secrets: Secrets = NO_SECRETS,
): Promise<Bench> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-checkpoints-"));
	const home = join(folder, "home");
	mkdirSync(home);
	const clock = createWallClock();
	const store = await openStore({ url: "sqlite::memory:", clock, ids: countedIds(), secrets });
	const logged: string[] = [];
	const opened: Checkpoints[] = [];
	const again = (changed: Partial<CheckpointSettings> = {}): Checkpoints => {
		const checkpoints = createCheckpoints({
			home,
			store,
			clock,
			settings: () => ({ ...SETTINGS, ...settings, ...changed }),
			log: (message, error) => logged.push(`${message}: ${(error as Error).message}`),
		});
		opened.push(checkpoints);
		return checkpoints;
	};
	let made = 0;
	return {
		folder,
		home,
		store,
		clock,
		logged,
		checkpoints: again(),
		again,
		workspace: () => {
			const path = join(folder, `workspace-${++made}`);
			mkdirSync(path);
			return path;
		},
		end: async () => {
			for (const checkpoints of opened) await checkpoints.close();
			await store.close();
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

export function put(folder: string, path: string, text: string | Buffer, mode?: number): void {
	mkdirSync(dirname(join(folder, path)), { recursive: true });
	writeFileSync(join(folder, path), text);
	if (mode !== undefined) chmodSync(join(folder, path), mode);
}

export function makePipe(path: string): void {
	execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", path]);
}

export function run(folder: string, ...args: readonly string[]): string {
	return execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
		cwd: folder,
		encoding: "utf8",
		env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
		stdio: ["ignore", "pipe", "pipe"],
	});
}

/** Everything in a folder, by path: what it is, whether it may be run, and its content. Names as bytes. */
export function treeOf(folder: string, below = "", found = new Map<string, string>()): Map<string, string> {
	for (const entry of readdirSync(Buffer.from(join(folder, below), "latin1"), {
		encoding: "latin1",
		withFileTypes: true,
	})) {
		const path = below === "" ? entry.name : `${below}/${entry.name}`;
		const full = Buffer.from(`${folder}/${path}`, "latin1");
		if (entry.isDirectory()) {
			found.set(`${path}/`, "folder");
			treeOf(folder, path, found);
		} else if (entry.isSymbolicLink()) found.set(path, `link ${readlinkSync(full, "latin1")}`);
		else if (entry.isFile())
			found.set(path, `${lstatSync(full).mode & 0o111 ? "program" : "file"} ${readFileSync(full, "latin1")}`);
		else found.set(path, "special");
	}
	return found;
}

/** As an object, sorted, without folders: what snapshots are about. */
export function filesOf(folder: string): Record<string, string> {
	return Object.fromEntries([...treeOf(folder)].filter(([, what]) => what !== "folder").sort());
}

let turns = 0;

/** One turn of the agent, with a checkpoint before and after; answers the one before. */
export async function takeTurn(
	{ checkpoints }: Pick<Bench, "checkpoints">,
	workspace: string,
	work: () => void,
): Promise<string> {
	const about = { workspace, label: "turn", turn: `turn-${++turns}` };
	const before = await checkpoints.take({ ...about, kind: "before" });
	work();
	const after = await checkpoints.take({ ...about, kind: "after" });
	if (before.kind === "failed" || after.kind === "failed") throw new Error(JSON.stringify([before, after]));
	return before.id;
}

const NOBODY = 65_534;

/** An ordinary user from now on, where it is root, whom the system refuses nothing. Answers the way back. */
export function asNobody(): () => void {
	if (process.geteuid?.() !== 0) return () => {};
	process.seteuid?.(NOBODY);
	return () => process.seteuid?.(0);
}
