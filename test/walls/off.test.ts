// `walls.mode: off` is named in the audit: at each start, and when it is set while Keryx runs.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { asJson, call, commandIn } from "../support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-off-"));
const home = join(root, "home");
mkdirSync(home, { mode: 0o700 });
const { start } = commandIn(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));

function configure(mode: "auto" | "off"): void {
	writeFileSync(join(home, "config.new"), JSON.stringify({ walls: { mode } }));
	renameSync(join(home, "config.new"), join(home, "config.yaml"));
}

async function audited(): Promise<readonly unknown[]> {
	return asJson(await call(["confirm", "audit", "--json"], { env: { KERYX_HOME: home } })).entries;
}

const OFF = expect.objectContaining({ kind: "walls_off", who: "config.yaml", via: "system" });

test("walls that are off are named in the audit, at each start and when they are switched off meanwhile", async () => {
	configure("auto");
	const first = await start(home);
	expect(await audited()).toEqual([]);
	configure("off");
	await expect.poll(audited).toEqual([OFF]);
	await first.stop();
	const second = await start(home);
	await expect.poll(audited).toEqual([OFF, OFF]);
	await second.stop();
});
