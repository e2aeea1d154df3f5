// Two updates at once: the second is refused, also in the moment when the Keryx that runs has let go of its store for the first.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identityOf } from "../src/processes/index.ts";
import { runUpdate } from "../src/update/index.ts";

test("an update that somebody waits for keeps others out, though no Keryx has the store", async () => {
	const home = mkdtempSync(join(tmpdir(), "keryx-alone-"));
	const file = join(home, "versions", "journal.json");
	const build = (version: string) => ({ version, root: join(home, version), schema: 1 });
	const journal = {
		phase: "asked",
		from: build("1.0.0"),
		to: build("1.1.0"),
		by: home,
		askedAt: Date.now(),
		trialMs: 1,
		wasReady: true,
		attempts: 0,
		worker: null,
		asker: identityOf(process.pid),
	};
	mkdirSync(join(home, "versions"));
	writeFileSync(file, JSON.stringify(journal));
	try {
		const second = runUpdate({
			home,
			env: {},
			plan: { spec: join(home, "none.tgz"), version: null, neededBytes: 0, freeBytes: 1 },
			launcher: "1.0.0",
			stopMs: 0,
			tell: () => {},
			warn: () => {},
		});
		await expect(second).rejects.toMatchObject({ code: "update.under_way" });
		expect(existsSync(file)).toBe(true);
		expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(journal);
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
});
