// The launcher's side of an update, run at every start that finds a journal. It finishes the update, or reverts everything. The order of
// the steps protects messages: until "going" is on disk the new version accepts nothing, so the store can be restored; from then on it is
// restored only if nothing was accepted or sent.
import { type ChildProcess, spawn } from "node:child_process";
import { constants, copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectHost, identityOf, isSameProcess } from "../processes/index.ts";
import { glanceAt, ownerOf, replaceStore, saveStore } from "../store/index.ts";
import { becomeLauncher } from "./follow.ts";
import { HANDED_OVER, HELD } from "./held.ts";
import {
	endJournal,
	type Journal,
	readCurrent,
	readJournal,
	updatePaths,
	writeCurrent,
	writeJournal,
} from "./journal.ts";
import { says } from "./ready.ts";
import { commandLine, removeOldVersions } from "./tidy.ts";

export interface ResumeOptions {
	readonly home: string;
	/** The version of the package whose launcher this is. */
	readonly launcher: string;
	/** Of the command line. */
	readonly words: readonly string[];
	/** This start becomes a gateway. Otherwise the journal is only finished if nobody works on it. */
	readonly isGateway: boolean;
	readonly warn: (text: string) => void;
	/** Makes the new version current without starting it: no gateway runs. */
	readonly onlySwitch?: boolean;
}

/** How long the new version may take to open the store, at least; and to answer after its start. More on a slow machine. */
const PREPARE_MS = 15_000;
const READY_MS = 12_000;
/** This many times the duration of the trial, which also starts a program and opens the store. */
const PREPARE_TRIALS = 6;
const READY_TRIALS = 5;
/** How long an earlier process may take to release the store. */
const FREE_MS = 10_000;
const LOOK_MS = 50;
const MOST_ATTEMPTS = 2;
/** An update that nobody started within this time is dropped. */
const STALE_MS = 3_600_000;

/** Returns the package to run. Does not return if this process became the parent of the new version; it then exits with it. */
export async function resume(options: ResumeOptions): Promise<string | null> {
	const { home, isGateway } = options;
	const journal = readJournal(home);
	if (journal === null) return currentRoot(home);
	if (isWorkedOn(journal)) {
		if (!isGateway) return currentRoot(home);
		options.warn(`an update to ${journal.to.version} is under way in process ${journal.worker?.pid}`);
		process.exit(1);
	}
	if (journal.phase === "asked" && Date.now() - journal.askedAt > STALE_MS) {
		endJournal(home, ended(journal, "nobody took it up"));
		return currentRoot(home);
	}
	if (!isGateway) return await settle(journal, options);
	return await goOn(journal, options);
}

/** For a command that may use the store, if the worker is gone. An update that was only requested is left to the gateway. */
async function settle(journal: Journal, options: ResumeOptions): Promise<string | null> {
	const { home, launcher } = options;
	if (journal.phase === "saving") endJournal(home, ended(journal, "it was interrupted"));
	if (journal.phase === "held") return await undo(journal, options, "it was interrupted");
	if (journal.phase === "going") pointAt(home, journal, launcher);
	return currentRoot(home);
}

async function goOn(given: Journal, options: ResumeOptions): Promise<string | null> {
	const { home, launcher } = options;
	if (given.phase === "held") return await undo(given, options, "it was interrupted");
	if (given.phase === "going") {
		pointAt(home, given, launcher);
		await storeIsFree(home, given);
		if (given.attempts >= MOST_ATTEMPTS)
			return await undo(given, options, `${given.to.version} ended soon after its start`);
		return await start({ ...given, attempts: given.attempts + 1, worker: identityOf(process.pid) }, options);
	}
	const mine = writeJournal(home, { ...given, phase: "saving", worker: identityOf(process.pid) });
	try {
		await storeIsFree(home, mine);
		await endIdleHost(home);
		save(home);
	} catch (error) {
		endJournal(home, ended(mine, `the store could not be copied: ${(error as Error).message}`));
		return currentRoot(home);
	}
	return await start({ ...mine, phase: "held" }, options);
}

/** The previous version's process host stays if it holds programs. Otherwise the new version starts its own. */
async function endIdleHost(home: string): Promise<void> {
	const host = await connectHost({ home, start: false }).catch(() => null);
	if (host === null) return;
	// A silent one is left to the new version, as at every start.
	const programs = await host.list().catch(() => null);
	await host.close();
	if (programs?.every(({ status }) => status !== "running")) process.kill(host.hostPid, "SIGTERM");
}

function save(home: string): void {
	const { before } = updatePaths(home);
	rmSync(before, { recursive: true, force: true });
	mkdirSync(before, { recursive: true, mode: 0o700 });
	if (existsSync(witnessIn(home))) copyFileSync(witnessIn(home), join(before, WITNESS));
	if (existsSync(storeIn(home))) saveStore(storeIn(home), join(before, STORE), { now: Date.now() });
}

/** Starts the new version, and waits until it works. Then this process is its parent and nothing else. */
async function start(given: Journal, options: ResumeOptions): Promise<string | null> {
	const { home, launcher, words, onlySwitch = false } = options;
	const began = performance.now();
	let journal = writeJournal(home, given);
	const child = spawn(process.execPath, [...process.execArgv, join(journal.to.root, BIN), ...words], {
		stdio: ["inherit", "inherit", "inherit", "ipc"],
		env: { ...process.env, [HELD]: "1" },
	});
	const life = follow(child);
	const limit = Math.max(PREPARE_MS, journal.trialMs * PREPARE_TRIALS);
	const prepared = await first(life, limit, () => life.isPrepared);
	if (prepared !== null) {
		await end(child, life);
		const root = await undo(journal, options, `${journal.to.version} ${prepared}`);
		return life.isStopping ? process.exit(0) : root;
	}
	journal = writeJournal(home, { ...journal, phase: "going" });
	pointAt(home, journal, launcher);
	if (onlySwitch) {
		await end(child, life);
		finish(journal, options);
		return null;
	}
	child.send("go");
	const working = await first(life, Math.max(READY_MS, journal.trialMs * READY_TRIALS), () =>
		// If not everything worked before the update, not everything must work now.
		says(home, journal.wasReady ? "ready" : "health"),
	);
	// A stopped process stops; the next start continues from here.
	if (working !== null && life.isStopping)
		return await life.ended.then(({ code, signal }) => leave(code, signal, words));
	if (working !== null) {
		await end(child, life);
		return await undo(journal, options, `${journal.to.version} ${working}`);
	}
	finish(journal, options, performance.now() - began);
	return await life.ended.then(({ code, signal }) => leave(code, signal, words));
}

/** Exits like its child, so that a service manager sees the same as without this parent. */
function leave(code: number | null, signal: NodeJS.Signals | null, words: readonly string[]): never {
	if (code === HANDED_OVER) becomeLauncher(process.argv[1] ?? "", words);
	if (signal !== null) {
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
	}
	process.exit(code ?? 1);
}

interface Life {
	readonly isPrepared: boolean;
	readonly hasEnded: boolean;
	/** To stop, by a signal. */
	readonly isStopping: boolean;
	readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

function follow(child: ChildProcess): Life {
	const life = { isPrepared: false, hasEnded: false, isStopping: false };
	child.on("message", () => {
		life.isPrepared = true;
	});
	// What a terminal sends reaches the child, too.
	process.on("SIGINT", () => {
		life.isStopping = true;
	});
	process.on("SIGTERM", () => {
		life.isStopping = true;
		child.kill("SIGTERM");
	});
	const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
		child.once("error", () => resolve({ code: 1, signal: null }));
		child.once("exit", (code, signal) => resolve({ code, signal }));
	}).then((how) => {
		life.hasEnded = true;
		return how;
	});
	return Object.assign(life, { ended });
}

/** Null: the condition was met. Otherwise what happened instead. */
async function first(
	life: Life,
	limitMs: number,
	isTrue: () => boolean | Promise<boolean>,
): Promise<string | null> {
	const until = performance.now() + limitMs;
	while (!(await isTrue())) {
		if (life.hasEnded) {
			const { code, signal } = await life.ended;
			return `ended at its start (${signal ?? `exit code ${code}`})`;
		}
		if (performance.now() > until) return `was not ready within ${Math.round(limitMs / 1000)} s`;
		await pause(LOOK_MS);
	}
	return null;
}

/** Safe to kill: it accepted nothing, or everything it accepted is on disk. */
async function end(child: ChildProcess, life: Life): Promise<void> {
	if (!life.hasEnded) child.kill("SIGKILL");
	await life.ended;
	process.removeAllListeners("SIGINT");
	process.removeAllListeners("SIGTERM");
}

/**
 * Reverts to the previous version. Its store is restored if nothing was accepted or sent since. Otherwise the store stays; and if the
 * previous version cannot read it, the new version stays, too.
 */
async function undo(journal: Journal, options: ResumeOptions, problem: string): Promise<string> {
	const { home, warn } = options;
	await storeIsFree(home, journal);
	const store = storeIn(home);
	const saved = join(updatePaths(home).before, STORE);
	if (!existsSync(store) || !existsSync(saved)) return backIn(journal, options, problem);
	const [now, before] = [glanceAt(store), glanceAt(saved)];
	const isOld = now.schema === before.schema;
	if (now.dealings === before.dealings && (journal.phase === "held" || !isOld))
		putBack(home, journal.to.schema);
	else if (!isOld) {
		const stays = `${problem}; it has taken or sent messages, which would be lost by going back to ${journal.from.version}`;
		endJournal(home, ended(journal, stays));
		warn(`${stays}. The store before is ${saved}`);
		return journal.to.root;
	}
	return backIn(journal, options, problem);
}

/** By a copy: if killed here, it is repeated. The new version's own copy, whole or half, goes with its store. */
function putBack(home: string, newSchema: number): void {
	const { before } = updatePaths(home);
	const [store, copy] = [storeIn(home), join(before, "copy.db")];
	const { schema: own } = glanceAt(join(before, STORE));
	copyFileSync(join(before, STORE), copy, constants.COPYFILE_FICLONE);
	const replaced = replaceStore(store, copy, { now: Date.now() });
	for (const ending of ["", "-wal", "-shm"])
		if (replaced !== null) rmSync(`${replaced}${ending}`, { force: true });
	if (newSchema > own)
		for (const ending of ["", "-journal"]) rmSync(`${store}.before-v${newSchema}${ending}`, { force: true });
	if (existsSync(join(before, WITNESS))) copyFileSync(join(before, WITNESS), witnessIn(home));
}

function backIn(journal: Journal, { home, launcher, warn }: ResumeOptions, problem: string): string {
	pointAt(home, { ...journal, to: journal.from, from: journal.to }, launcher, null);
	endJournal(home, ended(journal, problem));
	rmSync(updatePaths(home).before, { recursive: true, force: true });
	warn(`the update to ${journal.to.version} was undone: ${problem}. ${journal.from.version} runs as before`);
	return journal.from.root;
}

function pointAt(
	home: string,
	{ to, from }: Journal,
	launcher: string,
	before: { readonly version: string; readonly store: string } | null = {
		version: from.version,
		store: join(updatePaths(home).before, STORE),
	},
): void {
	writeCurrent(home, { version: to.version, root: to.root, launcher, since: Date.now(), before });
}

function finish(journal: Journal, { home }: ResumeOptions, awayMs = 0): void {
	endJournal(home, { ...ended(journal, null), awayMs });
	removeOldVersions(home, [journal.to.root, journal.from.root]);
}

function ended({ from, to }: Journal, problem: string | null) {
	return { from: from.version, to: to.version, at: Date.now(), problem, awayMs: 0 };
}

function currentRoot(home: string): string | null {
	return readCurrent(home)?.root ?? null;
}

function isWorkedOn({ worker }: Journal): boolean {
	return worker !== null && worker.pid !== process.pid && isSameProcess(worker);
}

/** A new version without its launcher exits by itself. A hanging one is killed: it may run only under a launcher. */
async function storeIsFree(home: string, { to }: Journal): Promise<void> {
	const began = performance.now();
	for (;;) {
		const owner = ownerOf(storeIn(home));
		if (owner === null) return;
		const waited = performance.now() - began;
		if (waited > FREE_MS) throw new Error(`it belongs to a running Keryx: ${owner}`);
		const [, pid] = / pid (\d+) /.exec(owner) ?? [];
		if (waited > FREE_MS / 2 && pid !== undefined && commandLine(Number(pid)).includes(join(to.root, BIN)))
			process.kill(Number(pid), "SIGKILL");
		await pause(LOOK_MS);
	}
}

const BIN = "bin/keryx.mjs";
const STORE = "keryx.db";
const WITNESS = "audit.witness";

function storeIn(home: string): string {
	return join(home, STORE);
}

function witnessIn(home: string): string {
	return join(home, WITNESS);
}
