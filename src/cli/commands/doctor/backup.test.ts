import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lookAtBackup } from "./backup.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-doctor-backup-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const path = join(root, "keryx.backup");
writeFileSync(path, "");
const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 2, 10);

test.each([
	{ every: "1d", hours: 30, byHand: 30, state: "fine" },
	{ every: "1d", hours: 60, byHand: 60, state: "remark" },
	// One by hand does not replace the schedule.
	{ every: "1d", hours: 60, byHand: 1, state: "remark" },
	{ every: "12h", hours: 20, byHand: 20, state: "fine" },
	{ every: undefined, hours: 60, byHand: 60, state: "fine" },
])(
	"every $every, the last scheduled $hours and any $byHand hours ago: $state",
	({ every, hours, byHand, state }) => {
		const last = {
			made: { at: NOW - byHand * HOUR, path, bytes: 1 },
			failed: null,
			scheduled: { at: NOW - hours * HOUR, path },
		};
		const config = { backup: { keep: 7, ...(every !== undefined && { every }) } };
		const { state: found, found: said } = lookAtBackup(last, { config, now: NOW });
		expect(found).toBe(state);
		if (state === "remark") expect(said).toContain("late");
	},
);
