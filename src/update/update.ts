// An update from start to end, for the command line. Until the journal says "asked", only drafts in `versions` exist. From then on the
// running Keryx and its launcher do the rest without this process, which only reports.
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Environment } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { identityOf, isSameProcess } from "../processes/index.ts";
import { isAlive, ownerOf } from "../store/index.ts";
import {
	beginJournal,
	endJournal,
	type Journal,
	type Last,
	readCurrent,
	readJournal,
	readLast,
	updatePaths,
} from "./journal.ts";
import { ownBuild, type Plan, ROOT } from "./plan.ts";
import { says } from "./ready.ts";
import { resume } from "./resume.ts";
import { removeDrafts } from "./tidy.ts";
import { fetchVersion, tryVersion } from "./trial.ts";

export type UpdateStep = "fetching" | "trying" | "stopping" | "saving" | "starting" | "waiting";

export interface UpdateOptions {
	readonly home: string;
	readonly env: Environment;
	readonly plan: Plan;
	/** The address of a store on a server; null: the store is in the home. */
	readonly server: string | null;
	/** The version of the installed package, whose launcher this process came through. */
	readonly launcher: string;
	/** How long the running Keryx may take to stop. */
	readonly stopMs: number;
	readonly tell: (step: UpdateStep, version: string) => void;
	readonly warn: (text: string) => void;
}

export type Outcome =
	| { readonly kind: "same"; readonly version: string }
	| { readonly kind: "updated"; readonly last: Last; readonly wasRunning: boolean };

const LOOK_MS = 100;

/** Throws update.refused, update.fetch, update.under_way, update.not_taken; update.undone where the old version runs again. */
export async function runUpdate(options: UpdateOptions): Promise<Outcome> {
	const { home, env, plan, server, tell } = options;
	assertRoom(home, plan);
	mkdirSync(updatePaths(home).folder, { recursive: true, mode: 0o700 });
	removeDrafts(home, isAlive);
	await assertAlone(options);
	const since = readCurrent(home)?.since;
	const from = ownBuild();
	if (plan.version === from.version) return { kind: "same", version: from.version };
	tell("fetching", plan.version ?? plan.spec);
	const fetched = await fetchVersion({ home, env }, plan);
	if (fetched.version === from.version) return { kind: "same", version: from.version };
	tell("trying", fetched.version);
	const { schema, trialMs } = await tryVersion({ home, env, server }, fetched);
	await assertAlone(options);
	if (readCurrent(home)?.since !== since)
		throw new KeryxError("update.under_way", "another update was made in the meantime");
	const askedAt = Date.now();
	const isRunning = await runs(options);
	const wasReady = isRunning && (await says(home, "ready"));
	const journal = beginJournal(home, {
		phase: "asked",
		from,
		to: { ...fetched, schema },
		by: ROOT,
		askedAt,
		trialMs: Math.round(trialMs),
		wasReady,
		attempts: 0,
		worker: null,
		asker: identityOf(process.pid),
	});
	if (isRunning) await followed(journal, options);
	else await resume({ ...options, words: [], isGateway: true, onlySwitch: true });
	const last = readLast(home);
	if (last === null || last.at < askedAt) throw lost();
	if (last.problem === null) return { kind: "updated", last, wasRunning: isRunning };
	throw new KeryxError("update.undone", `the update to ${last.to} was not made: ${last.problem}`);
}

/** Whether a Keryx runs in the home. A store on a server does not show whether this home uses it. */
async function runs({ home, server }: Pick<UpdateOptions, "home" | "server">): Promise<boolean> {
	if (server !== null) return await says(home, "health");
	return existsSync(home) && ownerOf(join(home, "keryx.db")) !== null;
}

const STEPS: Readonly<Record<Journal["phase"], UpdateStep>> = {
	asked: "stopping",
	saving: "saving",
	held: "starting",
	going: "waiting",
};
/** In addition to the time that the running Keryx has to stop. */
const SPARE_MS = 20_000;
/** Its worker has been gone this long. A service manager would have restarted it by then. */
const GONE_MS = 30_000;
/** If the journal does not change for this long, nobody works on it any more. */
const SILENCE_MS = 600_000;

async function followed(journal: Journal, { home, stopMs, tell }: UpdateOptions): Promise<void> {
	let shown: UpdateStep | null = null;
	let changed = performance.now();
	let seen = performance.now();
	for (;;) {
		const now = readJournal(home);
		if (now === null || now.askedAt !== journal.askedAt) return;
		if (now.worker === null || isSameProcess(now.worker)) seen = performance.now();
		if (performance.now() - seen > GONE_MS) throw lost();
		const step = STEPS[now.phase];
		if (step !== shown) {
			tell(step, now.to.version);
			shown = step;
			changed = performance.now();
		}
		const waited = performance.now() - changed;
		if (now.phase === "asked" && waited > stopMs + SPARE_MS) {
			rmSync(updatePaths(home).journal, { force: true });
			throw new KeryxError(
				"update.not_taken",
				`the Keryx that runs (${ownerOf(join(home, "keryx.db")) ?? "unknown process"}) did not make room`,
			);
		}
		if (waited > SILENCE_MS) throw lost();
		await pause(LOOK_MS);
	}
}

function lost(): KeryxError {
	return new KeryxError("update.not_taken", "nothing is left to finish the update", {
		hint: "start Keryx: it finishes the update or undoes it",
	});
}

function assertRoom(home: string, { neededBytes, freeBytes }: Plan): void {
	if (freeBytes >= neededBytes) return;
	const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
	throw new KeryxError(
		"update.refused",
		`an update needs ${megabytes(neededBytes)} on the disk with ${home}, and ${megabytes(freeBytes)} are free`,
		{ hint: "free up space on that disk, then try again" },
	);
}

/** How long it may take from the running Keryx releasing its store until its launcher has recorded that it works on the update. */
const HAND_OVER_MS = 10_000;

async function assertAlone(options: UpdateOptions): Promise<void> {
	const { home } = options;
	const until = performance.now() + HAND_OVER_MS;
	for (;;) {
		const journal = readJournal(home);
		if (journal === null) return;
		const isLeft = journal.phase === "asked" && !(await runs(options));
		if (!isLeft || (journal.asker !== null && isSameProcess(journal.asker)))
			throw new KeryxError("update.under_way", `an update to ${journal.to.version} is already under way`);
		if (performance.now() > until) {
			// Its Keryx ended before it could make room. This update takes its place.
			endJournal(home, {
				from: journal.from.version,
				to: journal.to.version,
				at: Date.now(),
				problem: "another update replaced it",
				awayMs: 0,
			});
			return;
		}
		await pause(LOOK_MS);
	}
}
