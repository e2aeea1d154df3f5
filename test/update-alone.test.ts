// What an update refuses before it changes anything: a second update at once, also in the moment when the Keryx that runs has let go of its
// store for the first; and a package that is not whole.
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { identityOf } from "../src/processes/index.ts";
import { runUpdate } from "../src/update/index.ts";
import { fetchVersion } from "../src/update/trial.ts";

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
			server: null,
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

test("a package file that was cut short is named, and not the registry", async () => {
	const home = mkdtempSync(join(tmpdir(), "keryx-cut-"));
	try {
		mkdirSync(join(home, "versions"));
		const file = join(home, "keryx.tgz");
		const whole = gzipSync(Buffer.alloc(100_000, "tulips"));
		writeFileSync(file, whole.subarray(0, whole.length - 50));
		const env = { PATH: process.env.PATH, HOME: home, npm_config_cache: join(home, "cache") };
		const plan = { spec: file, version: null, neededBytes: 0, freeBytes: 1 };
		await expect(fetchVersion({ home, env }, plan)).rejects.toMatchObject({
			code: "update.fetch",
			hint: expect.stringContaining(`${file} may be cut short`),
		});
		expect(readdirSync(join(home, "versions"))).toEqual([]);
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
});
