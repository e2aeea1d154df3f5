// Compares the audit with its witness: the number of entries and the code of the last one, kept outside the store. The store may be
// ahead, because a crash can come between a commit and the witness. If it is behind, or has another entry there, something was removed or
// replaced.
import { KeryxError } from "../../../errors.ts";
import { OPERATOR } from "../../operator.ts";
import { type Context, get, type Op, run, sql } from "../../query.ts";
import type { AuditVia, OperatorScope, Witness, WitnessFound } from "../../types.ts";
import { audit, auditHead, codeOf, headProblem, isCode, keyOf, type Verified, verifyChain } from "./audit.ts";

export interface AuditStanding {
	readonly count: number;
	readonly problem: string | null;
}

/** The store has had a witness: if it is missing, it was removed. Stored next to the epoch, so that an older Keryx ignores it. */
const MARK = "audit_witness";

const entryAt = sql<{ mac: string }>("SELECT mac FROM audit WHERE n = ?");
const mark = sql<{ value: string }>("SELECT value FROM settings WHERE name = ?");
const setMark = sql(
	"INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);
/** Kept by the schema. Deleting everything about an audit deletes this too, and that shows. */
const BEGUN = "audit";
/** Each of these was audited in its own transaction, and tokens are never deleted. */
const anythingAudited = sql<{ found: number }>(
	`SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM tokens) OR EXISTS (SELECT 1 FROM confirmations)
		OR EXISTS (SELECT 1 FROM grants)`,
);

export function witnessOf(key: Uint8Array, { count, last }: Omit<Witness, "mac">): Witness {
	return { count, last, mac: codeOf(key, ["witness", count, last]) };
}

/** Checks at start without reading the entries: the same cost with ten as with a million. */
export function* auditStanding(
	_: { readonly scope: OperatorScope },
	auditKey: Uint8Array | null,
	witness: () => WitnessFound,
): Op<AuditStanding> {
	// Before the first query, which takes the snapshot: a witness read later may know more than the snapshot.
	const found = witness();
	const key = keyOf(auditKey);
	const head = yield* auditHead();
	const count = head?.count ?? 0;
	if (head) {
		const problem = headProblem(key, head);
		if (problem !== null) return { count, problem };
	}
	return { count, problem: (yield* witnessProblem(key, count, found)) ?? (yield* emptiedProblem(count)) };
}

/** The chain from its beginning, and compared with the witness. */
export function* verifyAudit(
	_: { readonly scope: OperatorScope },
	auditKey: Uint8Array | null,
	witness: () => WitnessFound,
): Op<Verified> {
	// As above: before the first query.
	const found = witness();
	const key = keyOf(auditKey);
	const verified = yield* verifyChain(key);
	const { count } = verified;
	if (verified.bad) return verified;
	const problem = yield* witnessProblem(key, count, found);
	if (problem !== null) return { ...verified, bad: { n: firstBad(found, count), problem } };
	const emptied = yield* emptiedProblem(count);
	return emptied === null ? verified : { ...verified, bad: { n: 1, problem: emptied } };
}

/** The first known wrong entry. */
function firstBad(found: WitnessFound, count: number): number {
	return found.kind === "found" ? Math.min(found.witness.count, count + 1) : count;
}

/** An empty audit never began, or everything was removed from it. */
function* emptiedProblem(count: number): Op<string | null> {
	const begun = (yield* get(mark, BEGUN))?.value;
	if (begun === undefined) return "the mark that says whether there is an audit was removed";
	if (begun === "begun again") return "the audit was emptied and started again";
	if (count > 0) return null;
	if (begun !== "none" || (yield* get(anythingAudited)))
		return "the audit is empty, but there are confirmations it should list";
	return null;
}

/** Null if the store contains what the witness saw. */
export function* witnessProblem(key: Uint8Array, count: number, found: WitnessFound): Op<string | null> {
	if (found.kind === "unkept") return null;
	if (found.kind === "missing") return (yield* get(mark, MARK)) ? "the audit's witness was removed" : null;
	if (found.kind !== "found" || !isCode(found.witness.mac, witnessOf(key, found.witness).mac))
		return "the audit's witness was changed, or belongs to another audit";
	const { witness } = found;
	if (witness.count === 0) return null;
	if (count < witness.count)
		return `entries are missing: the audit's witness saw ${witness.count}, the store has ${count}`;
	const entry = yield* get(entryAt, witness.count);
	if (entry && isCode(entry.mac, witness.last)) return null;
	return `entry ${witness.count} is not the one the audit's witness saw`;
}

/** Called after the first witness is on disk. */
export function* markWitnessed(): Op<void> {
	if (yield* get(mark, MARK)) return;
	yield* run(setMark, MARK, "kept");
}

/** A human accepts the store as it is, after a restore. The engine then makes a new witness. */
export function* acceptAudit(
	context: Context,
	{ by, via }: { readonly by: string; readonly via: AuditVia },
): Op<AuditStanding> {
	const { count, problem } = yield* auditStanding({ scope: OPERATOR }, context.auditKey, context.witness);
	if (problem === null)
		throw new KeryxError("audit.sound", "the audit matches its witness: there is nothing to accept");
	yield* audit(context, { kind: "audit_accepted", who: by, via, facts: { entries: count, problem } });
	// After the entry, which may be the first again.
	yield* run(setMark, BEGUN, "begun");
	return { count: count + 1, problem: null };
}
