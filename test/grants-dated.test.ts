// Grants from before they had an end get one of 30 days, and the owner is told once.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { homeAt } from "../src/app/home.ts";
import { openHost } from "../src/app/host.ts";
import { type CliContext, openConfig } from "../src/cli/context.ts";
import { migration, SCHEMA_VERSION } from "../src/store/schema.ts";
import { asJson, call } from "./support/keryx.ts";

const DAY = 86_400_000;
const home = mkdtempSync(join(tmpdir(), "keryx-dated-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test("existing grants end 30 days after the update at the latest, and the first start says how many", async () => {
	const before = Date.now();
	old([
		["endless", null, null],
		["far away", before + 400 * DAY, null],
		["soon", before + 2 * DAY, null],
		["over", before - DAY, null],
		["revoked", null, before - DAY],
	]);
	expect(await said()).toContain("3 grants from before this version now end within 30 days");
	const { grants } = asJson(await call(["confirm", "grants", "--json"], { env: { KERYX_HOME: home } }));
	const until = (action: string) => {
		const grant = grants.find((one: { action: string }) => one.action === action);
		return grant.until === null ? null : grant.until * 1000;
	};
	for (const action of ["endless", "far away"]) {
		expect(until(action)).toBeGreaterThanOrEqual(before + 30 * DAY - 1000);
		expect(until(action)).toBeLessThanOrEqual(Date.now() + 30 * DAY);
	}
	expect([until("soon"), until("over")]).toEqual([before + 2 * DAY, before - DAY]);
	expect(await said()).not.toContain("standing yes");
});

/** What a start says on stderr. */
async function said(): Promise<string> {
	const lines: string[] = [];
	const context: CliContext = {
		env: { KERYX_HOME: home, KERYX_HTTP_PORT: "0", TZ: "UTC" },
		stdin: Object.assign(Readable.from([]), { isTTY: false }),
		stdout: { write: () => {} },
		stderr: { write: (text: string) => void lines.push(text) },
		now: () => Date.now(),
		json: false,
		exitWith: () => {},
	};
	const { config, output } = openConfig(context);
	await (await openHost({ context, config, output, as: "run", onPorts: true })).close();
	return lines.join("");
}

/** A store as the last version before left it. */
function old(
	grants: readonly (readonly [action: string, until: number | null, revoked: number | null])[],
): void {
	mkdirSync(home, { recursive: true, mode: 0o700 });
	const db = new Database(homeAt(home).storePath);
	for (let version = 0; version < SCHEMA_VERSION; version++) {
		const sql = migration(version, "sqlite");
		if (sql.includes("grants_dated")) break;
		db.exec(sql);
		db.pragma(`user_version = ${version + 1}`);
	}
	const insert = db.prepare(
		"INSERT INTO grants (id, scope, action, until, created_at, created_by, revoked_at) VALUES (?, 'always', ?, ?, 1, 'operator', ?)",
	);
	for (const [action, until, revoked] of grants) insert.run(action, action, until, revoked);
	db.close();
}
