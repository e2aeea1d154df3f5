// A store from before an unused approval kept who gave it: the audit still knows, and approvals of the compat port no longer run out.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { NO_SECRETS, openStore } from "../src/store/index.ts";
import { migration, SCHEMA_VERSION } from "../src/store/schema.ts";
import { countedIds, MINUTE, NOON } from "./support/clock.ts";

const OPERATOR = { kind: "operator" } as const;
const folder = mkdtempSync(join(tmpdir(), "keryx-approvals-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ASKED = NOON - 60 * MINUTE;
const APPROVED = NOON - 50 * MINUTE;
const USE_BY = NOON - 35 * MINUTE;

test("an approval that ran out gets back who gave it and when, and one of the compat port stays", async () => {
	const path = join(folder, "old.db");
	const db = before(path);
	add(db, { id: "by hand", status: "expired", askedBy: "token:ci", resolved: [USE_BY, "system:timeout"] });
	entry(db, 1, "by hand", "approved", "token:ada", {});
	add(db, { id: "by grant", status: "expired", askedBy: "token:ci", resolved: [USE_BY, "system:timeout"] });
	entry(db, 2, "by grant", "auto_approved", "token:ci", { grant: "g1" });
	add(db, {
		id: "unanswered",
		status: "expired",
		askedBy: "token:ci",
		resolved: [NOON, "system:timeout"],
		useBy: null,
	});
	add(db, { id: "old client", status: "approved", askedBy: "compat", resolved: [APPROVED, "token:ada"] });
	add(db, { id: "program", status: "approved", askedBy: "token:ci", resolved: [APPROVED, "token:ada"] });
	db.close();

	const store = await openStore({
		url: `sqlite:${path}`,
		clock: { now: () => NOON },
		ids: countedIds(),
		secrets: NO_SECRETS,
		auditKey: new Uint8Array(32),
	});
	const shown = async (id: string) => store.confirmation({ scope: OPERATOR, id, now: NOON });
	const lapsed = { status: "expired", resolvedAt: APPROVED, useExpiredAt: USE_BY };
	expect(await shown("by hand")).toMatchObject({ ...lapsed, resolvedBy: "token:ada" });
	expect(await shown("by grant")).toMatchObject({ ...lapsed, resolvedBy: "grant:g1" });
	expect(await shown("unanswered")).toMatchObject({ resolvedBy: "system:timeout", useExpiredAt: null });
	expect(await shown("old client")).toMatchObject({ status: "approved", useExpiredAt: null });
	expect(await shown("program")).toMatchObject({ ...lapsed, resolvedBy: "token:ada" });
	const { problems } = await store.checkIntegrity({ scope: OPERATOR });
	expect(problems.filter((problem) => problem.startsWith("I14"))).toEqual([]);
	await store.close();
});

test("I14: who resolved a confirmation cannot be changed, by whatever writes", async () => {
	const path = join(folder, "new.db");
	const options = { url: `sqlite:${path}`, ids: countedIds(), secrets: NO_SECRETS };
	await (await openStore({ ...options, clock: { now: () => NOON } })).close();
	const db = new Database(path);
	add(db, { id: "one", status: "approved", askedBy: "token:ci", resolved: [APPROVED, "token:ada"] });
	expect(() =>
		db.exec("UPDATE confirmations SET status = 'expired', resolved_by = 'system:timeout', due_at = NULL"),
	).toThrow("who resolved a confirmation does not change");
	expect(() => db.exec("UPDATE confirmations SET use_by = 1")).toThrow("resolved once and used once");
	db.exec("UPDATE confirmations SET status = 'expired', due_at = NULL");
	db.close();
});

/** As the last version before left it. */
function before(path: string): Database.Database {
	const db = new Database(path);
	for (let version = 0; version < SCHEMA_VERSION; version++) {
		const sql = migration(version, "sqlite");
		if (sql.includes("confirmations_resolver")) break;
		db.exec(sql);
		db.pragma(`user_version = ${version + 1}`);
	}
	return db;
}

interface Row {
	readonly id: string;
	readonly status: string;
	readonly askedBy: string;
	readonly resolved: readonly [at: number, by: string];
	readonly useBy?: null;
}

function add(db: Database.Database, { id, status, askedBy, resolved, useBy = undefined }: Row): void {
	const until = useBy === undefined ? USE_BY : null;
	db.prepare(
		`INSERT INTO confirmations (id, action, status, digest, asked_by, session_key, waiter, timeout_seconds, created_at, expires_at,
			resolved_at, resolved_by, use_by, body, decision_body, due_at)
		VALUES (?, 'restart', ?, 'd', ?, '', 'program', 3600, ?, ?, ?, ?, ?, ?, '{}', ?)`,
	).run(
		id,
		status,
		askedBy,
		ASKED,
		ASKED + 60 * MINUTE,
		...resolved,
		until,
		JSON.stringify({ description: "d", details: {}, requester: "agent", digest: "d" }),
		status === "approved" ? until : null,
	);
}

function entry(
	db: Database.Database,
	n: number,
	confirmation: string,
	kind: string,
	who: string,
	facts: object,
): void {
	db.prepare(
		"INSERT INTO audit (n, at, kind, confirmation, who, via, body, mac) VALUES (?, ?, ?, ?, ?, 'api', ?, '')",
	).run(n, APPROVED, kind, confirmation, who, JSON.stringify(facts));
}
