import { expect, test } from "vitest";
import { conversationId } from "../../domain/index.ts";
import type { Delta } from "../../gateway/index.ts";
import type { WireEvent } from "../schemas.ts";
import { Tail } from "./tail.ts";

const [HERE, THERE] = [conversationId("here"), conversationId("there")];

function event(cursor: string, conversation = HERE, more = ""): WireEvent {
	const facts = more === "" ? {} : { more };
	const event = { cursor, at: "", conversation, session: null, turn: null, subject: null } as const;
	return { ...event, type: "turn.resumed", facts } as unknown as WireEvent;
}

function delta(text: string): Delta {
	return { conversation: HERE, turn: "t", index: 0, offset: 0, text };
}

test("followers with the same filter at the same place get the very same bytes", () => {
	const tail = new Tail("e1");
	tail.addEvent(event("e2"));
	tail.addEvent(event("e3", THERE));
	tail.settle();
	const stretch = tail.after(0);
	const bytes = stretch?.bytes({}, 0);
	expect(tail.after(0)?.bytes({}, 0)).toBe(bytes);
	expect(stretch?.bytes({ conversation: HERE }, 0)).toBe(stretch?.bytes({ conversation: HERE }, 0));
	expect(String(stretch?.bytes({ conversation: THERE }, 0))).toContain("id: e3\n");
	expect(String(stretch?.bytes({ conversation: THERE }, 0))).not.toContain("id: e2\n");
	expect(stretch?.bytes({ types: new Set(["turn.ended"]) }, 0)).toHaveLength(0);
});

test("whoever asks for no type of event, or for a strange one, takes nothing away from others", () => {
	const tail = new Tail("e1");
	tail.addEvent(event("e2"));
	tail.settle();
	for (const types of [[], [""], ["null"], [" ", ""]])
		expect(tail.after(0)?.bytes({ types: new Set(types) }, 0)).toHaveLength(0);
	for (const conversation of ["", "here false", "null"].map((id) => id as typeof HERE))
		expect(tail.after(0)?.bytes({ conversation }, 0)).toHaveLength(0);
	expect(String(tail.after(0)?.bytes({}, 0))).toContain("id: e2\n");
	expect(String(tail.after(0)?.bytes({ conversation: HERE }, 0))).toContain("id: e2\n");
});

test("names of secrets are left out for those who may not see them, and only for those", () => {
	const tail = new Tail("e1");
	tail.addEvent(event("e2", HERE, "\u0024{secret:KEY}"));
	tail.settle();
	expect(String(tail.after(0)?.bytes({}, 0))).toContain("secret:KEY");
	expect(String(tail.after(0)?.bytes({ nameless: true }, 0))).not.toContain("secret:KEY");
});

test("a follower is not told a text that it was given when it came", () => {
	const tail = new Tail("e1");
	tail.addText(delta("before"), 1);
	tail.addEvent(event("e2"));
	tail.addText(delta("after"), 2);
	tail.settle();
	expect(
		tail
			.after(0)
			?.shown({}, 1)
			.map(({ frame }) => frame),
	).toEqual([
		{ kind: "event", event: event("e2") },
		{ kind: "delta", delta: delta("after") },
	]);
	expect(String(tail.after(0)?.bytes({}, 1))).not.toContain("before");
	expect(String(tail.after(0)?.bytes({}, 0))).toContain("before");
});

test("a place is found by the last event that was seen, also between cursors of another length", () => {
	const tail = new Tail("ez");
	for (const cursor of ["e10", "e12", "e13"]) tail.addEvent(event(cursor));
	tail.settle();
	expect(["ez", "e10", "e11", "e12", "e13"].map((cursor) => tail.positionAfter(cursor))).toEqual([
		0, 1, 1, 2, 3,
	]);
	expect(tail.positionAfter("ey")).toBeUndefined();
	expect(tail.cursor).toBe("e13");
});

test("what is too old is forgotten, and whoever stood there reads the log", () => {
	const tail = new Tail("e1");
	tail.addEvent(event("e2", HERE, "x".repeat(3 * 1024 * 1024)));
	tail.addEvent(event("e3", HERE, "x".repeat(3 * 1024 * 1024)));
	tail.settle();
	expect(tail.after(0)).toBeUndefined();
	expect(tail.positionAfter("e1")).toBeUndefined();
	expect(tail.positionAfter("e2")).toBe(1);
	expect(tail.after(1)?.cursor).toBe("e3");
});

test("once earlier messages are hidden or deleted, older positions are read from the log", () => {
	const tail = new Tail("e1");
	tail.addEvent(event("e2"));
	tail.addEvent(event("e3"));
	expect([tail.knows("e1"), tail.knows("e2"), tail.knows("e3")]).toEqual([true, true, true]);
	tail.addEvent({ ...event("e4"), type: "transcript.undone" } as WireEvent);
	tail.addEvent(event("e5"));
	const known = ["e1", "e2", "e3", "e4", "e5"].filter((cursor) => tail.knows(cursor));
	expect(known).toEqual(["e4", "e5"]);
});
