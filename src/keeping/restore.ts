// Restores a backup: reads, checks and opens it next to the store before replacing that. The old store is kept.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { KeryxError } from "../errors.ts";
import {
	beginWitness,
	inspectStore,
	NO_SECRETS,
	OPERATOR,
	openStore,
	ownerOf,
	replaceStore,
	type StoreFacts,
	systemIds,
} from "../store/index.ts";
import { systemClock } from "../time/index.ts";
import { type EntryName, openBackup } from "./backup-file.ts";

interface RestoreOptions {
	readonly file: string;
	readonly home: string;
	readonly storePath: string;
	readonly passphrase: string | null;
	/** Everything but the last step: nothing in the home changes. */
	readonly checkOnly?: boolean;
	readonly now: number;
}

export interface Restored extends StoreFacts {
	readonly madeAt: number;
	/** Of the Keryx that made it. */
	readonly version: string;
	/** Where the previous store is now; null: there was none, or nothing was replaced. */
	readonly kept: string | null;
	/** Deliveries that were pending at the time: a person decides about them. */
	readonly doubted: number;
	/** Jobs that were due since then: they may have run, and do not run again for it. */
	readonly missed: number;
	/** Other files that were restored; existing ones stay. */
	readonly files: readonly string[];
}

const WITNESS = "audit.witness";
const KEYS: readonly EntryName[] = ["audit.key", "pseudonym.key"];

export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
	const { file, home, storePath, passphrase, checkOnly = false, now } = options;
	const backup = await openBackup(file);
	const owner = checkOnly || !existsSync(home) ? null : ownerOf(storePath);
	if (owner !== null)
		throw new KeryxError("store.owned", `the store ${storePath} belongs to a running Keryx: ${owner}`, {
			hint: "stop it first: `keryx stop`",
		});
	mkdirSync(home, { recursive: true, mode: 0o700 });
	const folder = join(home, `restore-${process.pid}`);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { mode: 0o700 });
	try {
		const entries = await backup.unpack(folder, passphrase);
		const unpacked = join(folder, "keryx.db");
		if (!entries.has("keryx.db") || !entries.has("manifest.json"))
			throw new KeryxError("backup.damaged", `${file} cannot be restored: it holds no store`);
		const facts = inspectStore(unpacked);
		const manifest: unknown = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
		if (!isDeepStrictEqual(manifest, facts))
			throw new KeryxError(
				"backup.damaged",
				`${file} cannot be restored: it should hold ${inWords(manifest)}, and holds ${inWords(facts)}`,
			);
		assertSameKeys(folder, home, entries);
		const { doubted, missed } = await openedOnce(unpacked, now);
		const { madeAt, version } = backup;
		const done = { ...facts, madeAt, version, doubted, missed };
		if (checkOnly) return { ...done, kept: null, files: [] };
		// Before the files are put back: without any of them, nothing here could say that the audit went on after the backup.
		const isNew = [storePath, join(home, "audit.key"), join(home, WITNESS)].every(
			(path) => !existsSync(path),
		);
		// Keys first: a store without its audit key cannot continue.
		const files = putBack(folder, home, entries);
		if (isNew && entries.has("audit.key"))
			beginWitness(unpacked, join(home, WITNESS), readFileSync(join(home, "audit.key")));
		return { ...done, kept: replaceStore(storePath, unpacked, { now }), files };
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Migrates it to the current version, and checks every row, like a start and `keryx doctor`. */
async function openedOnce(path: string, now: number): Promise<Pick<Restored, "doubted" | "missed">> {
	const ids = systemIds(systemClock);
	const clock = { now: () => now };
	const store = await openStore({ url: `sqlite:${path}`, clock, ids, secrets: NO_SECRETS });
	try {
		const { problems } = await store.checkIntegrity({ scope: OPERATOR });
		const [first] = problems;
		if (first !== undefined)
			throw new KeryxError(
				"backup.damaged",
				`the backup's store is damaged: ${first}${problems.length > 1 ? ` (and ${problems.length - 1} more)` : ""}`,
			);
		return { ...(await store.doubtDeliveries()), ...(await store.missRestored()) };
	} finally {
		await store.close();
	}
}

/** A different key would invalidate every code of the restored audit. */
function assertSameKeys(folder: string, home: string, entries: ReadonlySet<EntryName>): void {
	for (const name of KEYS) {
		const [ours, theirs] = [join(home, name), join(folder, name)];
		if (!entries.has(name) || !existsSync(ours) || readFileSync(ours).equals(readFileSync(theirs))) continue;
		throw new KeryxError("backup.failed", `the backup was made with another ${name} than ${ours}`, {
			hint: `to restore another Keryx's backup, use an empty home, or move ${ours} away first`,
		});
	}
}

function putBack(folder: string, home: string, entries: ReadonlySet<EntryName>): string[] {
	const wanted = [...KEYS, "config.yaml" as const].filter(
		(name) => entries.has(name) && !existsSync(join(home, name)),
	);
	for (const name of wanted) renameSync(join(folder, name), join(home, name));
	return wanted;
}

function inWords(facts: unknown): string {
	const { conversations, messages } = facts as Partial<StoreFacts>;
	return `${conversations} conversations and ${messages} messages`;
}
