// Makes backups of a store in use: on request, and on a schedule. One at a time. Each is recorded in the store, so that its age survives
// a restart.
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat, statfs } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Config, Environment } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { isAlive, OPERATOR, type Store, type StoreFacts } from "../store/index.ts";
import { type Clock, Rounds } from "../time/index.ts";
import { type BackupContents, type EntryName, writeBackup } from "./backup-file.ts";

/** For scheduled backups: other files in the same folder are left alone. */
const BACKUP_NAME = /^keryx-\d{8}T\d{6}Z\.backup$/;

const HOUR_MS = 3_600_000;
const UNITS = { h: HOUR_MS, d: 24 * HOUR_MS } as const;
/** After a failed scheduled backup. */
const RETRY_MS = HOUR_MS;

interface BackupsOptions {
	readonly home: string;
	readonly storePath: string;
	readonly store: Pick<Store, "copyTo" | "recordBackup" | "lastBackup">;
	/** Read each time: it may change. */
	readonly config: () => Pick<Config, "backup">;
	readonly env: Environment;
	readonly clock: Clock;
	readonly version: string;
	readonly warn: (text: string) => void;
}

interface BackupMade extends StoreFacts {
	readonly path: string;
	readonly bytes: number;
	readonly encrypted: boolean;
}

export class Backups {
	readonly #options: BackupsOptions;
	readonly #rounds: Rounds;
	#last: Promise<unknown> = Promise.resolve();

	constructor(options: BackupsOptions) {
		this.#options = options;
		this.#rounds = new Rounds({
			clock: options.clock,
			round: () => this.#look(),
			failed: (error) => options.warn(`the schedule of backups failed: ${(error as Error).message}`),
		});
	}

	start(): void {
		this.#rounds.start();
	}

	/** The configuration may have changed. */
	look(): void {
		this.#rounds.look();
	}

	async stop(): Promise<void> {
		await this.#rounds.stop();
		await this.#last;
	}

	/** Throws backup.failed, and leaves nothing behind. */
	make(path: string, passphrase: string | null, { scheduled = false } = {}): Promise<BackupMade> {
		const made = this.#last.then(() => this.#make(path, passphrase, scheduled));
		this.#last = made.catch(() => undefined);
		return made;
	}

	async #make(path: string, passphrase: string | null, scheduled: boolean): Promise<BackupMade> {
		const { store, home, storePath, clock, version } = this.#options;
		const copy = `${storePath}.copy-${process.pid}`;
		await this.#forgetCopies();
		try {
			await assertSpace(storePath, home);
			const madeAt = clock.now();
			const facts = await store.copyTo(copy);
			const bytes = await writeBackup(
				path,
				{ madeAt, version, entries: this.#entries(copy, facts) },
				passphrase,
			);
			await store.recordBackup({ kind: "made", path, bytes, scheduled });
			return { path, bytes, encrypted: passphrase !== null, ...facts };
		} catch (error) {
			const reason = (error as Error).message;
			// A full disk may refuse this, too; what went wrong first is what helps.
			await store.recordBackup({ kind: "failed", reason }).catch(() => {});
			throw error;
		} finally {
			await rm(copy, { force: true });
			await rm(`${copy}-journal`, { force: true });
		}
	}

	#entries(copy: string, facts: StoreFacts): BackupContents["entries"] {
		const { home } = this.#options;
		const besides: readonly EntryName[] = ["audit.key", "pseudonym.key", "config.yaml"];
		return [
			{ name: "manifest.json", from: Buffer.from(JSON.stringify(facts)) },
			{ name: "keryx.db", from: copy },
			...besides.flatMap((name) => {
				const from = join(home, name);
				return existsSync(from) ? [{ name, from }] : [];
			}),
		];
	}

	/** Copies left behind by a killed Keryx. */
	async #forgetCopies(): Promise<void> {
		const { storePath } = this.#options;
		const folder = dirname(storePath);
		for (const name of await readdir(folder)) {
			const [, pid] = /\.copy-(\d+)(?:-journal)?$/.exec(name) ?? [];
			if (pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid))))
				await rm(join(folder, name), { force: true });
		}
	}

	async #look(): Promise<number | null> {
		const { config, store, clock, warn } = this.#options;
		const { backup } = config();
		const every = backupInterval(backup.every);
		if (every === null) return null;
		const last = await store.lastBackup({ scope: OPERATOR });
		const due = dueAt(last, every, clock.now());
		if (due > clock.now()) return due;
		try {
			const folder = this.folder();
			assertMounted(folder, last.scheduled);
			await mkdir(folder, { recursive: true, mode: 0o700 });
			await this.make(join(folder, nameAt(clock.now())), this.#passphrase(), { scheduled: true });
			await this.#prune(folder, backup.keep);
		} catch (error) {
			warn(`no backup was made: ${(error as Error).message}`);
			return clock.now() + Math.min(every, RETRY_MS);
		}
		return clock.now() + every;
	}

	/** Where scheduled backups go. */
	folder(): string {
		const { config, home } = this.#options;
		const { to } = config().backup;
		if (to === undefined) return join(home, "backups");
		return to.startsWith("~") ? resolve(homedir(), to.slice(2)) : to;
	}

	/** A schedule that should encrypt never makes an unencrypted backup. */
	#passphrase(): string | null {
		const { config, env } = this.#options;
		const { passphrase_env: variable } = config().backup;
		if (variable === undefined) return null;
		const value = env[variable];
		if (!value)
			throw new KeryxError("backup.failed", `the variable ${variable} with the passphrase is not set`, {
				field: "backup.passphrase_env",
			});
		return value;
	}

	/** A name with a future time was made while the clock was ahead: it is deleted first. */
	async #prune(folder: string, keep: number): Promise<void> {
		const newest = nameAt(this.#options.clock.now());
		const names = (await readdir(folder)).filter((name) => BACKUP_NAME.test(name)).sort();
		const old = [...names.filter((name) => name > newest), ...names.filter((name) => name <= newest)];
		for (const name of old.slice(0, Math.max(0, old.length - keep))) await rm(join(folder, name));
	}
}

/** A folder that held backups and is gone: creating it again would put them on the disk below, without a word. */
function assertMounted(folder: string, last: { readonly path: string } | null): void {
	if (last === null || dirname(last.path) !== resolve(folder) || existsSync(folder)) return;
	throw new KeryxError("backup.failed", `the folder ${folder} with earlier backups is not there`, {
		field: "backup.to",
		hint: "mount its disk, or create the folder again",
	});
}

/**
 * A backup made by hand does not count: it may be anywhere. Counts from the last failed attempt if that is newer, so that a full disk is not tried over and over. A future time was written while
 * the clock was ahead, and is ignored.
 */
function dueAt(
	{ scheduled, failed }: Awaited<ReturnType<Store["lastBackup"]>>,
	every: number,
	now: number,
): number {
	const next = scheduled === null || scheduled.at > now ? now : scheduled.at + every;
	return failed === null || failed.at > now ? next : Math.max(next, failed.at + Math.min(every, RETRY_MS));
}

/** Of `backup.every`, in milliseconds; null: no schedule. */
export function backupInterval(text: string | undefined): number | null {
	const [, count, unit] = /^(\d+)([hd])$/.exec(text ?? "") ?? [];
	return count === undefined ? null : Number(count) * UNITS[unit as "h" | "d"];
}

function nameAt(now: number): string {
	return `keryx-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, "")}.backup`;
}

/** The copy must not fill the disk that the store is on. */
async function assertSpace(storePath: string, home: string): Promise<void> {
	// The engine refuses this for a store on a server.
	if (!existsSync(storePath)) return;
	const { size } = await stat(storePath);
	const { bavail, bsize } = await statfs(home);
	if (bavail * bsize < size * 1.1 + 50e6)
		throw new KeryxError("backup.failed", `too little space in ${home} for a copy of the store`, {
			hint: "free up space on the disk with Keryx's home, then try again",
		});
}
