// Runs lines on the throw-away machine, each behind its wall, and says of each how it ended, what outside of the workspace it changed and
// which secrets it got: `child.ts <secret>`, with the
// lines on its stdin. See machine.sh, which starts it.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, type Stats } from "node:fs";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { configSchema } from "../../../src/config/schema.ts";
import { createWalls, type Walls } from "../../../src/gateway/turn/walls/walls.ts";
import { startBehindWall } from "../../../src/walls/index.ts";
import {
	HOME,
	keep,
	OTHERS,
	PROGRAM,
	PROJECT,
	putBack,
	type Tokens,
	USER_HOME,
	writeKeryx,
	writeUser,
} from "./files.ts";
import type { Job, Outcome } from "./types.ts";

/** Descriptor 9: everything on this machine that is not as it was when it began. */
const WRITTEN = "/proc/self/fd/9";
const STATUS = "line-status";
const BUSY = /^bwrap: .*Resource temporarily unavailable$/m;
const KINDS = ["view", "mask", "box"] as const;
const NOT_TRIED: Outcome = { code: "not tried", changed: [], leaked: [], said: "" };
const KEPT_OUTPUT = 256 * 1024;
const PATH = "/usr/local/bin:/usr/bin:/bin";
/** As a user would have it, but for the keys, which no line may see. */
const env = {
	PATH,
	HOME: USER_HOME,
	USER: "ann",
	LOGNAME: "ann",
	SHELL: "/bin/bash",
	LANG: "C.UTF-8",
	TERM: "dumb",
};

const [own = ""] = process.argv.slice(2);
const tokens: Tokens = { keryx: own, other: randomBytes(16).toString("hex") };
const config = configSchema.parse({
	profiles: Object.fromEntries(KINDS.map((kind) => [kind, {}])),
	walls: {
		by_profile: Object.fromEntries(KINDS.map((kind) => [kind, { owner: kind }])),
		limits: { open_files: 1024, memory_mb: 1024 },
	},
});
const walls = createWalls({
	home: HOME,
	program: PROGRAM,
	env,
	workspaceOf: () => ({ folder: PROJECT, fixed: true }),
	root: join(USER_HOME, "none"),
	openEnvironment: () => env,
	config: () => config,
});

const jobs = (await json(process.stdin)) as Job[];
mkdirSync(HOME, { recursive: true });
writeKeryx(tokens);
writeUser(tokens);
const user = keep(USER_HOME, [HOME]);
const others = keep(OTHERS);
const project = keep(PROJECT);
let before = written();
let projectBefore = signature(PROJECT);
let keryxInode = lstatSync(HOME).ino;
let lastWithout: Outcome["code"] = null;
for (const [index, job] of jobs.entries()) {
	const outcome: Outcome = job.isConditional && lastWithout !== 0 ? NOT_TRIED : await tried(job, walls);
	if (job.wall === "none") lastWithout = outcome.code;
	process.stdout.write(`${JSON.stringify({ index, ...outcome })}\n`);
}

async function tried(job: Job, walls: Walls): Promise<Outcome> {
	const { output, code } = await begun(() =>
		job.wall === "none" ? unwalled(job) : walled(job, job.wall, walls),
	);
	const after = written();
	const changed = changes(before, after).filter((path) => !isAllowed(path));
	if (lstatSync(HOME, { throwIfNoEntry: false })?.ino !== keryxInode) changed.push(HOME);
	const told = [output, ...contents(PROJECT), ...contents(join(HOME, "tmp"))];
	const leaked = (["keryx", "other"] as const).filter((name) =>
		told.some((text) => spellings(tokens[name]).some((one) => text.includes(one))),
	);
	rmSync(join(HOME, "tmp"), { recursive: true, force: true });
	// What Keryx has is put back only where a line without a wall took it.
	if (changed.some(isKeryxs)) {
		writeKeryx(tokens);
		keryxInode = lstatSync(HOME).ino;
	}
	if (changed.length > 0) {
		putBack(user, [HOME]);
		putBack(others);
	} else if (signature(PROJECT) !== projectBefore) putBack(project);
	projectBefore = signature(PROJECT);
	before = written();
	return { code, changed, leaked, said: output.slice(-400) };
}

interface Ended {
	readonly output: string;
	/** Null: it was ended. */
	readonly code: number | null;
}

/**
 * Again, while the processes of a line before are still being ended: together they may be as many as a user can have, and what they wrote
 * fills the disk until they are gone.
 */
async function begun(begin: () => Promise<Ended>): Promise<Ended> {
	for (;;) {
		const ended = await begin().catch((error: NodeJS.ErrnoException) => {
			if (error.code === "ENOSPC") return null;
			throw error;
		});
		if (ended && !BUSY.test(ended.output)) return ended;
		await delay(100);
	}
}

async function walled({ line, seconds }: Job, kind: (typeof KINDS)[number], walls: Walls): Promise<Ended> {
	const place = await walls.forCommand({ conversation: "c1", profile: kind, standing: "owner" });
	if (place.run !== "walled")
		throw new Error(`there is no ${kind}: ${"reason" in place ? place.reason : place.run}`);
	const started = await startBehindWall(
		{
			wall: place.request.wall,
			argv: ["bash", "-c", line],
			cwd: PROJECT,
			env: place.env,
			statusFile: join(HOME, STATUS),
			streams: ["ignore", "pipe", "pipe"],
		},
		place.request.machine,
	);
	const output = outputOf(started.child);
	const timer = setTimeout(() => started.kill(), seconds * 1000);
	const exit = await started.exit;
	clearTimeout(timer);
	if (exit.kind === "failed" && !BUSY.test(output()))
		throw new Error(`no ${kind} could be made: ${output()}`);
	return { output: output(), code: exit.kind === "exited" ? exit.code : null };
}

/** With processes of its own, so that it cannot end this one; everything else is as it is. */
async function unwalled({ line, seconds }: Job): Promise<Ended> {
	const open = [
		"--unshare-user",
		"--unshare-pid",
		"--die-with-parent",
		"--dev-bind",
		"/",
		"/",
		"--proc",
		"/proc",
	];
	const child = spawn("/usr/bin/bwrap", [...open, "--chdir", PROJECT, "--", "bash", "-c", line], {
		env,
		stdio: ["ignore", "pipe", "pipe"],
		detached: true,
	});
	const output = outputOf(child);
	const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), seconds * 1000);
	const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
	clearTimeout(timer);
	return { output: output(), code };
}

function outputOf(child: ChildProcess): () => string {
	let kept = "";
	for (const stream of [child.stdout, child.stderr])
		stream?.on("data", (data) => {
			if (kept.length < KEPT_OUTPUT) kept += String(data);
		});
	return () => kept;
}

/** Every path on the machine that was written, with what would tell a change. */
function written(): Map<string, string> {
	const found = new Map<string, string>();
	const walk = (below: string) => {
		for (const entry of namesIn(join(WRITTEN, below))) {
			const path = join(below, entry);
			if (isInside(path, PROJECT) || isInside(path, join(HOME, "tmp"))) continue;
			const looked = lookAt(join(WRITTEN, path));
			if (!looked) {
				found.set(path, "out of reach");
				continue;
			}
			const { mode, size, mtimeMs, ino } = looked;
			const isFolder = (mode & 0o170000) === 0o040000;
			found.set(path, isFolder ? `${mode}` : `${mode} ${size} ${mtimeMs} ${ino}`);
			if (isFolder) walk(path);
		}
	};
	walk("/");
	return found;
}

function signature(folder: string): string {
	return namesIn(folder)
		.map((name) => {
			const path = join(folder, name);
			const found = lookAt(path);
			if (!found) return `${name} out of reach`;
			const { mode, size, mtimeMs, ino } = found;
			const isFolder = (mode & 0o170000) === 0o040000;
			return isFolder ? `${name} ${mode} (${signature(path)})` : `${name} ${mode} ${size} ${mtimeMs} ${ino}`;
		})
		.join("\n");
}

function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
	const paths = new Set([...before.keys(), ...after.keys()]);
	return [...paths].filter((path) => before.get(path) !== after.get(path));
}

function isAllowed(path: string): boolean {
	return [STATUS, "tmp"].some((name) => path === join(HOME, name));
}

function isKeryxs(path: string): boolean {
	return [HOME, PROGRAM].some((folder) => path === folder || isInside(path, folder));
}

function isInside(path: string, folder: string): boolean {
	return path.startsWith(`${folder}/`);
}

function contents(folder: string): string[] {
	return namesIn(folder).flatMap((name) => {
		const path = join(folder, name);
		const found = lookAt(path);
		if (found?.isDirectory()) return contents(path);
		if (!found?.isFile() || found.size > 1024 * 1024) return [];
		try {
			return [readFileSync(path, "latin1")];
		} catch {
			return [];
		}
	});
}

/** Null: it is not there, or its folder's mode no longer lets anyone look. */
function lookAt(path: string): Stats | null {
	try {
		return lstatSync(path);
	} catch {
		return null;
	}
}

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}

/** As a line could print it. */
function spellings(token: string): string[] {
	const hex = Buffer.from(token).toString("hex");
	// In the middle of other bytes, base64 knows three beginnings; the ends depend on the neighbours.
	const base64 = [0, 1, 2].map((skip) => Buffer.from(token.slice(skip)).toString("base64").slice(0, 36));
	return [token, token.toUpperCase(), [...token].reverse().join(""), hex, hex.toUpperCase(), ...base64];
}
