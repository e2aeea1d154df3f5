// A backup and its way back, exactly as the reference writes them.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asJson, call } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-backup-"));
const home = join(root, ".keryx");
const env = { KERYX_HOME: home };
afterAll(() => rmSync(root, { recursive: true, force: true }));

const reference = readFileSync(new URL("../docs/reference/store.md", import.meta.url), "utf8");
const [backup = "", restore = ""] = [
	...reference.slice(reference.indexOf("## Backups")).matchAll(/```sh\n([^`]+)```/g),
].map(([, lines]) => lines);

/** sqlite3 is not on every machine: this is what is used of it, by the same library. */
const SQLITE3 = `#!${process.execPath}
import { createRequire } from "node:module";
const Database = createRequire(${JSON.stringify(pathToFileURL(import.meta.filename).href)})("better-sqlite3");
const [path, sql] = process.argv.slice(2);
new Database(path).exec(sql);
`;

beforeAll(async () => {
	mkdirSync(join(root, "bin"));
	writeFileSync(join(root, "bin", "package.json"), '{"type":"module"}');
	writeFileSync(join(root, "bin", "sqlite3"), SQLITE3);
	chmodSync(join(root, "bin", "sqlite3"), 0o755);
	await call(["token", "create", "before", "--role", "reader"], { env });
});

function shell(lines: string): Promise<[number | null, string]> {
	const child = spawn("/bin/sh", ["-eu", "-c", `umask 022\n${lines}`], {
		cwd: root,
		env: { HOME: root, PATH: `${join(root, "bin")}:${process.env.PATH}` },
	});
	let said = "";
	child.stderr.on("data", (data) => (said += data));
	return new Promise((resolve) => child.on("close", (code) => resolve([code, said])));
}

test("it is for the user alone, holds everything, and an older one is accepted by hand", async () => {
	expect(await shell(backup)).toEqual([0, ""]);
	for (const name of ["keryx-backup.db", "audit.key", "pseudonym.key"])
		expect([name, statSync(join(root, name)).mode & 0o777]).toEqual([name, 0o600]);
	await call(["token", "create", "after", "--role", "reader"], { env });
	expect(await shell(restore)).toEqual([0, ""]);
	expect(statSync(join(home, "keryx.db")).mode & 0o777).toBe(0o600);
	const { tokens } = asJson(await call(["token", "list", "--json"], { env }));
	expect(tokens.map(({ name }: { name: string }) => name)).toEqual(["before"]);
	expect((await call(["confirm", "audit", "--verify"], { env })).code).toBe(1);
	expect((await call(["confirm", "audit", "--accept", "--yes"], { env })).code).toBe(0);
	expect((await call(["confirm", "audit", "--verify"], { env })).code).toBe(0);
});
