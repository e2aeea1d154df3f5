import { expect, test } from "vitest";
import type { ConversationId } from "../../domain/index.ts";
import { LastAnswered } from "./last-answered.ts";

const ada = "ada" as ConversationId;

test("the last turn decides, whether it is heard of before or after it ran here", () => {
	const last = new LastAnswered();
	expect([last.isHere(ada), last.isElsewhere(ada)]).toEqual([false, false]);
	last.heard(ada, "t1");
	expect([last.isHere(ada), last.isElsewhere(ada)]).toEqual([false, true]);
	last.ran(ada, "t2");
	// Heard late.
	last.heard(ada, "t1");
	last.heard(ada, "t2");
	expect([last.isHere(ada), last.isElsewhere(ada)]).toEqual([true, false]);
	last.heard(ada, "t3");
	expect(last.isElsewhere(ada)).toBe(true);
});

test("a gateway that is gone is not waited for", () => {
	const last = new LastAnswered();
	last.heard(ada, "t1");
	last.forgetOthers();
	expect(last.isElsewhere(ada)).toBe(false);
	last.ran(ada, "t2");
	last.forgetOthers();
	expect(last.isHere(ada)).toBe(true);
});
