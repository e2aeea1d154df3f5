import { expect, test } from "vitest";
import { formatCursor, mayBeNew, parseCursor } from "./cursor.ts";

const DAY = 24 * 3_600_000;
const CURSOR = { validity: "17", uid: 5, begun: 100 * DAY, newest: 200 * DAY, again: 0 };

test("a cursor is read as it was written, and anything else is none", () => {
	for (const cursor of [CURSOR, { ...CURSOR, again: 9 }])
		expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
	for (const text of [null, "", "1:2", "1:2:3:x", "1:2:3:4:", "1:2:3:4:5:6", "-1:2:3:4"])
		expect(parseCursor(text)).toBeNull();
});

test("when everything is read again, only what came in the last days may be new", () => {
	expect(mayBeNew(CURSOR, 201 * DAY, 201 * DAY)).toBe(true);
	expect(mayBeNew(CURSOR, 199 * DAY, null)).toBe(true);
	expect(mayBeNew(CURSOR, 197 * DAY, null)).toBe(false);
	// The server has lost its times: the sender's is old.
	expect(mayBeNew(CURSOR, 300 * DAY, 150 * DAY)).toBe(false);
	// Before Keryx was there.
	const fresh = { ...CURSOR, newest: CURSOR.begun };
	expect(mayBeNew(fresh, CURSOR.begun, CURSOR.begun)).toBe(false);
	expect(mayBeNew(fresh, CURSOR.begun + 1000, CURSOR.begun)).toBe(true);
	expect(mayBeNew({ ...CURSOR, begun: 0, newest: 0 }, 1000, null)).toBe(true);
});
