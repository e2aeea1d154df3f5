// An audit that was deleted or put back as a whole: told at the start, by `--verify` and by doctor, until a human accepts it.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { homeAt } from "../src/app/home.ts";
import { openHost } from "../src/app/host.ts";
import { type CliContext, openConfig } from "../src/cli/context.ts";
import { asJson, call } from "./support/keryx.ts";

let home: string;
beforeEach(async () => {
	home = mkdtempSync(join(tmpdir(), "keryx-audit-"));
	await make("one", "two");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (...args: readonly string[]) => call(args, { env: { KERYX_HOME: home } });

async function make(...names: readonly string[]): Promise<void> {
	for (const name of names) expect((await run("token", "create", name, "--role", "reader")).code).toBe(0);
}

function deleteAudit(): void {
	const raw = new Database(homeAt(home).storePath);
	raw.exec(
		"DROP TRIGGER audit_kept; DROP TRIGGER audit_head_kept; DELETE FROM audit; DELETE FROM audit_head",
	);
	raw.close();
}

async function doctor() {
	const { checks } = asJson(await run("doctor", "--quick", "--json"));
	return checks.find(({ check }: { check: string }) => check === "audit");
}

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

test("a whole audit is told of by nobody", async () => {
	expect(await said()).not.toContain("audit");
	expect((await run("confirm", "audit", "--verify")).code).toBe(0);
	expect(await doctor()).toMatchObject({ state: "fine", found: "2 entries, all unchanged" });
	expect(await run("confirm", "audit", "--accept", "--yes")).toMatchObject({
		code: 1,
		stderr: expect.stringContaining("there is nothing to accept"),
	});
});

test("one that was deleted is told of at each start, and cannot be hidden by what follows", async () => {
	deleteAudit();
	expect(await said()).toContain("warning: the audit was changed or replaced");
	const verified = await run("confirm", "audit", "--verify");
	expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining("WRONG")]);
	expect(await doctor()).toMatchObject({ state: "wrong", remedy: expect.stringContaining("--accept") });
	await make("three", "four", "five");
	expect(await said()).toContain("the audit's witness saw");
	expect((await run("confirm", "audit", "--verify", "--json")).code).toBe(1);
});

test("after a restore the operator accepts it, by hand and not from inside Keryx, and all is well again", async () => {
	const { storePath } = homeAt(home);
	copyFileSync(storePath, `${storePath}.backup`);
	await make("three", "four");
	copyFileSync(`${storePath}.backup`, storePath);
	expect(await said()).toContain("the audit's witness saw 4, the store has 2");
	const inside = await call(["confirm", "audit", "--accept", "--yes"], {
		env: { KERYX_HOME: home, KERYX_PROCESS: "p_1" },
	});
	expect(inside.stderr).toContain("which Keryx started");
	expect((await run("confirm", "audit", "--accept")).code).toBe(2);
	const no = await call(["confirm", "audit", "--accept"], {
		env: { KERYX_HOME: home },
		stdin: "n\n",
		columns: 100,
	});
	expect([no.code, no.stderr]).toEqual([1, expect.stringContaining("you did not say yes")]);
	expect((await run("confirm", "audit", "--verify")).code).toBe(1);
	const accepted = await run("confirm", "audit", "--accept", "--yes");
	expect(accepted).toMatchObject({
		code: 0,
		stdout: expect.stringContaining("Accepted the audit: 3 entries"),
	});
	expect(await said()).not.toContain("audit");
	expect((await run("confirm", "audit", "--verify")).code).toBe(0);
	expect(await doctor()).toMatchObject({ state: "fine" });
	expect((await run("confirm", "audit")).stdout).toMatch(/audit_accepted\t\toperator\tcli/);
	expect(JSON.parse(readFileSync(join(home, "audit.witness"), "utf8"))).toMatchObject({ count: 3 });
});

test("a confirmd keeps a witness of its own", async () => {
	const path = join(home, "confirmations.db");
	const db = ["--db-path", path];
	await run("token", "create", "ci", "--role", "agent", ...db);
	expect(JSON.parse(readFileSync(`${path}.audit.witness`, "utf8"))).toMatchObject({ count: 1 });
	rmSync(path);
	expect((await run("confirm", "audit", "--verify", ...db)).code).toBe(1);
	await run("token", "create", "ci", "--role", "agent", ...db);
	expect((await run("confirm", "audit", "--verify", ...db)).code).toBe(1);
	expect((await run("confirm", "audit", "--accept", "--yes", ...db)).code).toBe(0);
	expect((await run("confirm", "audit", "--verify", ...db)).code).toBe(0);
});
