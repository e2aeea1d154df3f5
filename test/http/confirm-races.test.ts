// I14 over HTTP: of two decisions one wins, and what was decided cannot be altered unseen.
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AuditEntry } from "../../src/store/index.ts";
import { onPort, type Ported, SECRET } from "./port.ts";

let keryx: Ported;
beforeEach(async () => {
	keryx = await onPort({ confirmations: { rate_limit: 100_000, global_limit: 1_000_000 } });
});
afterEach(() => keryx.close());

async function log(): Promise<readonly AuditEntry[]> {
	const entries: AuditEntry[] = [];
	for (let after: number | null = 0; after !== null; ) {
		const { body } = await keryx.call("GET", `/audit/log?limit=500&after=${after}`, { bearer: SECRET });
		entries.push(...(body.entries as readonly AuditEntry[]));
		after = body.next as number | null;
	}
	return entries;
}

test("I14: of 1,000 pairs of an approval and a denial that race, exactly one each wins", async () => {
	const agent = await keryx.token("agent");
	const [first, second] = [await keryx.token("approver"), await keryx.token("approver")];
	const PAIRS = 1000;
	const ids = await inBatches(PAIRS, () => keryx.ask(agent, "race"));
	const pairs = await inBatches(PAIRS, async (n) => {
		const id = ids[n] as string;
		const said = [
			() => keryx.call("POST", `/confirm/${id}/approve`, { bearer: first, body: {} }),
			() => keryx.call("POST", `/confirm/${id}/deny`, { bearer: second, body: {} }),
		];
		// Either is sent first as often as the other.
		const answers = await Promise.all((n % 2 === 0 ? said : said.toReversed()).map((send) => send()));
		return answers.toSorted((a, b) => a.status - b.status);
	});
	for (const [won, lost] of pairs) {
		expect([won?.status, lost?.status]).toEqual([200, 409]);
		expect(lost?.body.status).toBe(won?.body.status);
	}
	const decisions = new Map<string, number>();
	for (const { kind, confirmation } of await log())
		if (kind === "approved" || kind === "denied")
			decisions.set(confirmation as string, (decisions.get(confirmation as string) ?? 0) + 1);
	expect([...decisions.values()].filter((n) => n !== 1)).toEqual([]);
	expect(new Set(decisions.keys())).toEqual(new Set(ids));
	const verified = await keryx.call("GET", "/audit/verify", { bearer: first });
	expect(verified.body).toMatchObject({ ok: true, bad: null });
});

describe("an audit that was tampered with", () => {
	async function dialogue(): Promise<number> {
		const [agent, approver] = [await keryx.token("agent"), await keryx.token("approver")];
		for (const verb of ["approve", "deny", "approve"]) {
			const id = await keryx.ask(agent, "restart_service");
			await keryx.call("POST", `/confirm/${id}/${verb}`, { bearer: approver, body: { reason: "seen" } });
		}
		return (await log()).length;
	}

	/** With the store closed, behind Keryx's back; the triggers go first, as somebody who means it would do. */
	async function tamper(
		change: (database: Database.Database) => void,
	): Promise<Readonly<Record<string, unknown>>> {
		await keryx.shut();
		const database = new Database(keryx.file);
		const triggers = database
			.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name LIKE 'audit%'")
			.pluck()
			.all() as string[];
		expect(triggers.length).toBeGreaterThan(0);
		for (const name of triggers) database.exec(`DROP TRIGGER ${name}`);
		change(database);
		database.close();
		await keryx.open();
		return (await keryx.call("GET", "/audit/verify", { bearer: SECRET })).body;
	}

	test("is untouched as it was written", async () => {
		const count = await dialogue();
		expect(await tamper(() => {})).toMatchObject({ ok: true, count });
	});

	test("an altered entry is named", async () => {
		await dialogue();
		const found = await tamper((database) =>
			database.exec("UPDATE audit SET who = 'token:somebody-else' WHERE n = 4"),
		);
		expect(found).toMatchObject({ ok: false, bad: { n: 4 } });
	});

	test("a missing entry is named", async () => {
		await dialogue();
		const found = await tamper((database) => database.exec("DELETE FROM audit WHERE n = 5"));
		expect(found).toMatchObject({ ok: false, bad: { n: 5, problem: "it is missing" } });
	});

	test("a cut tail shows, and where it was cut", async () => {
		const count = await dialogue();
		const found = await tamper((database) => database.exec(`DELETE FROM audit WHERE n > ${count - 2}`));
		expect(found).toMatchObject({ ok: false, count: count - 2, bad: { n: count - 1 } });
	});

	test("a head that was altered to fit a cut tail shows, and nothing is added to it", async () => {
		const count = await dialogue();
		const agent = await keryx.token("agent");
		const found = await tamper((database) => {
			database.exec(`DELETE FROM audit WHERE n > ${count - 2}`);
			database.exec(
				`UPDATE audit_head SET count = ${count - 2}, last = (SELECT mac FROM audit WHERE n = ${count - 2})`,
			);
		});
		expect(found).toMatchObject({ ok: false, bad: { problem: "the head was changed" } });
		const refused = await keryx.call("POST", "/confirm", {
			bearer: agent,
			body: { action: "restart_service", description: "once more" },
		});
		expect(refused.status).toBe(500);
		expect(refused.body.error).toContain("audit");
	});
});

async function inBatches<Result>(count: number, work: (n: number) => Promise<Result>): Promise<Result[]> {
	const results: Result[] = [];
	for (let start = 0; start < count; start += 50)
		results.push(
			...(await Promise.all(Array.from({ length: Math.min(50, count - start) }, (_, n) => work(start + n)))),
		);
	return results;
}
