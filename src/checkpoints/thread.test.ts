import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../test/support/soon.ts";
import { FilesThread } from "./thread.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-files-thread-"));
afterAll(() => rmSync(root, { recursive: true }));
const NO_STEPS = { root, steps: "" };

test("a thread without work ends, and the next work starts another", async () => {
	const thread = new FilesThread(0);
	for (let n = 0; n < 2; n++) {
		expect(await thread.ask("undone", NO_STEPS)).toEqual([]);
		await eventually(() => expect(thread.isRunning).toBe(false));
	}
	await thread.close();
});

test("work that comes while an idle thread ends is done by another", async () => {
	const thread = new FilesThread(0);
	await thread.ask("undone", NO_STEPS);
	const ending = thread.close();
	const later = thread.ask("undone", NO_STEPS);
	await ending;
	expect(await later).toEqual([]);
	await thread.close();
});

test("work that is not done when the thread is closed fails", async () => {
	const thread = new FilesThread();
	const asked = thread.ask("undone", NO_STEPS);
	await Promise.all([expect(asked).rejects.toMatchObject({ code: "checkpoint.failed" }), thread.close()]);
});
