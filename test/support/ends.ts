// For work whose cost nobody counts, such as that of regular expressions: its text is so long that only a cost that grows no faster than
// the text comes to an end.
import { runInNewContext } from "node:vm";

/** Only ends work that would go on for an hour. Nothing else can: it leaves no turn to the test's own limit. */
const LONGEST_MS = 100_000;

export function mustEnd<Value>(work: () => Value): Value {
	return runInNewContext("work()", { work }, { timeout: LONGEST_MS }) as Value;
}
