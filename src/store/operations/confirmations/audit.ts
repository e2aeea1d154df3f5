// The audit of confirmations: append-only, every entry with a code over itself and the previous one, made with a key outside the store.
// The head (number of entries, last code) is read and written in the same transaction as each entry, and has its own code: altered,
// missing and cut-off rows all show. If the head is altered too, the witness shows it.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { KeryxError } from "../../../errors.ts";
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { AuditEntry, AuditVia, OperatorScope } from "../../types.ts";

const HOUR_MS = 3_600_000;
/** How many refused attempts of one caller are recorded per hour; repeated attempts must not fill the disk. */
const REFUSALS_AN_HOUR = 100;
const PAGE = 1000;

interface AuditRow {
	readonly n: number;
	readonly at: number;
	readonly kind: AuditEntry["kind"];
	readonly confirmation: string | null;
	readonly who: string;
	readonly via: AuditVia;
	readonly body: string;
	readonly body_key: number | null;
	readonly mac: string;
}

interface HeadRow {
	readonly count: number;
	readonly last: string;
	readonly mac: string;
}

const COLUMNS = "n, at, kind, confirmation, who, via, body, body_key, mac";
const readHead = sql<HeadRow>("SELECT count, last, mac FROM audit_head WHERE one = 1");
const writeHead = sql(
	`INSERT INTO audit_head (one, count, last, mac) VALUES (1, ?, ?, ?)
	ON CONFLICT (one) DO UPDATE SET count = excluded.count, last = excluded.last, mac = excluded.mac`,
);
const insertEntry = sql(`INSERT INTO audit (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)`);
const entriesAfter = sql<AuditRow>(`SELECT ${COLUMNS} FROM audit WHERE n > ? ORDER BY n LIMIT ?`);
const entryAt = sql<AuditRow>(`SELECT ${COLUMNS} FROM audit WHERE n = ?`);
const newestEntries = sql<AuditRow>(`SELECT ${COLUMNS} FROM audit ORDER BY n DESC LIMIT ?`);
const entriesOf = sql<AuditRow>(
	`SELECT ${COLUMNS} FROM audit WHERE confirmation = ? AND n > 0 ORDER BY n LIMIT ?`,
);
/** Anything without a place in the chain. */
const beforeFirst = sql<{ n: number }>("SELECT n FROM audit WHERE n < 1 ORDER BY n LIMIT 1");
const refusalsSince = sql<{ n: number }>(
	"SELECT count(*) AS n FROM audit WHERE who = ? AND kind = 'refused' AND at > ?",
);

export interface NewAuditEntry {
	readonly kind: AuditEntry["kind"];
	readonly confirmation?: string | null;
	/** The authenticated caller, or the part of Keryx that did it. */
	readonly who: string;
	readonly via: AuditVia;
	readonly facts?: Readonly<Record<string, unknown>>;
}

/** The claimed name, unchecked. */
export function* auditHead(): Op<HeadRow | undefined> {
	return yield* get(readHead);
}

export function headProblem(key: Uint8Array, head: HeadRow): string | null {
	const known = signedHeads.get(key);
	if (known?.mac === head.mac && known.count === head.count && known.last === head.last) return null;
	return isCode(head.mac, headMac(key, head)) ? null : "the head was changed";
}

/** The last head signed here with each key: read back unchanged, it needs no new code. */
const signedHeads = new WeakMap<Uint8Array, HeadRow>();

/** Must run in the transaction of what it records. Returns the entry's number. */
export function* audit(context: Context, entry: NewAuditEntry): Op<number> {
	const key = keyOf(context.auditKey);
	const head = yield* auditHead();
	// A tampered head must not be signed again: that would hide the damage.
	if (head && headProblem(key, head) !== null)
		throw new KeryxError("audit.broken", "the head of the audit does not verify, so nothing can be added");
	const row = {
		n: (head?.count ?? 0) + 1,
		at: context.now,
		kind: entry.kind,
		confirmation: entry.confirmation ?? null,
		who: entry.who,
		via: entry.via,
		body: seal(entry.facts ?? {}),
		body_key: null,
	};
	const mac = entryMac(key, row, head?.last ?? "");
	yield* run(insertEntry, row.n, row.at, row.kind, row.confirmation, row.who, row.via, row.body, mac);
	const signed = { count: row.n, last: mac, mac: headMac(key, { count: row.n, last: mac }) };
	yield* run(writeHead, signed.count, signed.last, signed.mac);
	signedHeads.set(key, signed);
	return row.n;
}

/** Decided by the file, not here. */
export function* auditWallsOff(context: Context): Op<void> {
	yield* audit(context, { kind: "walls_off", who: "config.yaml", via: "system" });
}

/** A refused attempt of an authenticated caller. Limited per hour; the last recorded one says so. */
export function* auditRefusal(
	context: Context,
	args: {
		readonly who: string;
		readonly via: AuditVia;
		readonly confirmation?: string;
		readonly attempt: string;
		readonly reason: string;
	},
): Op<void> {
	const { n } = (yield* get(refusalsSince, args.who, context.now - HOUR_MS)) ?? { n: 0 };
	if (n >= REFUSALS_AN_HOUR) return;
	yield* audit(context, {
		kind: "refused",
		who: args.who,
		via: args.via,
		confirmation: args.confirmation ?? null,
		facts: {
			attempt: args.attempt,
			reason: args.reason,
			...(n === REFUSALS_AN_HOUR - 1 && { last: "more within the hour are not recorded" }),
		},
	});
}

export interface AuditFilter {
	/** Only those of this one. */
	readonly confirmation?: string;
	readonly after?: number;
	/** The last entries, instead of those from the beginning or after a number. */
	readonly newest?: boolean;
	readonly limit: number;
}

/** Every change of state, oldest first. */
export function* auditLog(args: AuditFilter & { readonly scope: OperatorScope }): Op<readonly AuditEntry[]> {
	return (yield* entriesFor(args)).map(toEntry);
}

/** One entry by its number. */
export function* auditEntry(n: number): Op<AuditEntry | null> {
	const row = yield* get(entryAt, n);
	return row ? toEntry(row) : null;
}

function* entriesFor({ confirmation, after = 0, newest, limit }: AuditFilter): Op<readonly AuditRow[]> {
	if (confirmation !== undefined) return yield* all(entriesOf, confirmation, limit);
	if (newest) return (yield* all(newestEntries, limit)).toReversed();
	return yield* all(entriesAfter, after, limit);
}

export interface Verified {
	readonly count: number;
	/** The code of the last entry. Kept elsewhere, it later proves that nothing before it was replaced. */
	readonly head: string;
	/** The first wrong entry, and how; null: all unchanged. */
	readonly bad: { readonly n: number; readonly problem: string } | null;
}

/** Checks the whole chain on one fresh snapshot. */
export function* verifyChain(key: Uint8Array): Op<Verified> {
	const stray = yield* get(beforeFirst);
	if (stray) return { count: 0, head: "", bad: { n: stray.n, problem: "it was added before the first" } };
	const head = yield* auditHead();
	let last = "";
	let count = 0;
	for (;;) {
		const rows = yield* all(entriesAfter, count, PAGE);
		for (const row of rows) {
			const bad = (problem: string) => ({ count, head: last, bad: { n: count + 1, problem } });
			if (row.n !== count + 1) return bad("it is missing");
			if (!isCode(row.mac, entryMac(key, row, last)))
				return bad("it was changed, or an earlier one was replaced");
			last = row.mac;
			count++;
		}
		if (rows.length < PAGE) break;
	}
	const at = (n: number, problem: string) => ({ count, head: last, bad: { n, problem } });
	if (!head) return count === 0 ? { count, head: last, bad: null } : at(count, "the head is missing");
	const altered = headProblem(key, head);
	if (altered !== null) return at(count, altered);
	if (head.count > count)
		return at(count + 1, `it is missing: the end was cut off, there were ${head.count} entries`);
	if (head.count < count) return at(head.count + 1, "it was added without the head");
	if (head.last !== last) return at(count, "the head belongs to another entry");
	return { count, head: last, bad: null };
}

function toEntry(row: AuditRow): AuditEntry {
	const { n, at, kind, confirmation, who, via, mac } = row;
	return { n, at, kind, confirmation, who, via, facts: unseal(row.body, row.body_key), mac };
}

/** The sealing key comes last, and is absent for plain text: older entries keep their codes. */
function entryMac(key: Uint8Array, row: Omit<AuditRow, "mac">, before: string): string {
	const { n, at, kind, confirmation, who, via, body, body_key } = row;
	const sealed = body_key === null ? [] : [body_key];
	return codeOf(key, ["entry", n, at, kind, confirmation, who, via, body, before, ...sealed]);
}

function headMac(key: Uint8Array, { count, last }: Omit<HeadRow, "mac">): string {
	return codeOf(key, ["head", count, last]);
}

/** JSON of a flat list is unambiguous. */
export function codeOf(key: Uint8Array, values: readonly (string | number | null)[]): string {
	return createHmac("sha256", keyObject(key)).update(JSON.stringify(values)).digest("hex");
}

/** Node takes five times as long with a key in bytes. */
function keyObject(key: Uint8Array): KeyObject {
	const known = keyObjects.get(key);
	if (known) return known;
	const made = createSecretKey(key);
	keyObjects.set(key, made);
	return made;
}

const keyObjects = new WeakMap<Uint8Array, KeyObject>();

export function isCode(a: string, b: string): boolean {
	return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

export function keyOf(key: Uint8Array | null): Uint8Array {
	if (key) return key;
	throw new KeryxError("audit.no_key", "this store was opened without its audit key");
}
