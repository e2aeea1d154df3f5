import { describe, expect, test } from "vitest";
import type { WireDelivery, WireEvent, WireMessage } from "../http/index.ts";
import type { ChatEvent } from "./chat/index.ts";
import { ConversationView } from "./conversation-view.ts";

function watch() {
	const shown: ChatEvent[] = [];
	const view = new ConversationView((event) => shown.push(event));
	let n = 0;
	const event = (type: WireEvent["type"], rest: object = {}) =>
		view.take({
			kind: "event",
			event: {
				cursor: `e${n++}`,
				at: "2026-03-01T12:00:00.000Z",
				type,
				conversation: "c",
				session: "s",
				turn: "t",
				subject: null,
				facts: {},
				...rest,
			} as WireEvent,
		});
	return { shown, view, event, kinds: () => shown.map(({ kind }) => kind) };
}

let ids = 0;
function row(role: WireMessage["role"], content: string, rest: Partial<WireMessage> = {}): WireMessage {
	return {
		id: ++ids,
		session: "s",
		seq: ids,
		role,
		kind: null,
		content,
		tool_calls: [],
		tool_call_id: null,
		tool_name: null,
		is_error: false,
		finish_reason: null,
		author: null,
		observed: false,
		reasoning: null,
		confirmation: null,
		sent_from: null,
		hidden: false,
		turn: "t",
		created_at: "2026-03-01T12:00:00.000Z",
		...rest,
	};
}

const delivery = (kind: WireDelivery["kind"], plain: string) =>
	({ kind, plain, text: `**${plain}**`, turn: "t" }) as WireDelivery;

describe("a conversation as a chat shows it", () => {
	test("what is written here is shown once, what another client writes is shown with its author", () => {
		const { view, event, shown } = watch();
		view.sent("mine")(7);
		event("message.appended", { message: row("user", "mine"), facts: { inbound: 7 } });
		event("message.appended", { message: row("user", "theirs", { author: { principal: "p", name: "Bo" } }) });
		expect(shown).toEqual([
			{ kind: "user", author: null, text: "mine", mine: true },
			{ kind: "user", author: "Bo", text: "theirs", mine: false },
		]);
	});

	test("a message that was not taken does not hide the same words of another", () => {
		const { view, event, shown } = watch();
		view.sent("hello")(null);
		event("message.appended", { message: row("user", "hello") });
		expect(shown.at(-1)).toMatchObject({ mine: false });
	});

	test("what is written here is shown once, though the store has it in other words", () => {
		const { view, event, shown } = watch();
		view.sent("the key is AKIA...")(7);
		event("message.appended", { message: row("user", "the key is [masked AWS key]"), facts: { inbound: 7 } });
		expect(shown).toEqual([{ kind: "user", author: null, text: "the key is AKIA...", mine: true }]);
	});

	test("what comes before it is known which of it was written here waits for that, in its order", () => {
		const { view, event, shown } = watch();
		const first = view.sent("first");
		const second = view.sent("second");
		event("turn.begun");
		for (const [inbound, text] of [
			[7, "first"],
			[8, "theirs"],
		] as const)
			event("message.appended", { message: row("user", text), facts: { inbound } });
		event("message.appended", { message: row("assistant", "the answer") });
		first(7);
		expect(shown.map(({ kind }) => kind)).toEqual(["user", "user", "turn"]);
		second(9);
		expect(shown.slice(3)).toMatchObject([
			{ kind: "user", text: "theirs", mine: false },
			{ kind: "answer", text: "the answer" },
		]);
	});

	test("what was written before is shown as one's own", () => {
		const { view, shown } = watch();
		view.load([row("user", "mine")], true);
		view.load([row("user", "theirs", { author: { principal: "p", name: "Bo" } })], false);
		expect(shown).toEqual([
			{ kind: "user", author: null, text: "mine", mine: true },
			{ kind: "user", author: "Bo", text: "theirs", mine: false },
		]);
	});

	test("rows that were loaded are not shown again when their events come", () => {
		const { view, event, shown } = watch();
		const before = row("assistant", "from before");
		view.load([before], true);
		event("message.appended", { message: before });
		expect(shown).toEqual([{ kind: "answer", turn: "t", index: null, text: "from before" }]);
	});

	test("an answer is the transcript's row; its delivery is not shown beside it", () => {
		const { event, kinds } = watch();
		event("turn.begun");
		event("message.appended", { message: row("assistant", "the answer"), facts: { index: 1 } });
		event("delivery.pending", { delivery: delivery("reply", "the answer") });
		event("turn.ended", { facts: { outcome: "completed" } });
		expect(kinds()).toEqual(["turn", "answer", "turn"]);
	});

	test("why a turn failed is said, though no row says it", () => {
		const { event, shown } = watch();
		event("message.appended", { message: row("assistant", "I was about to") });
		event("delivery.pending", { delivery: delivery("reply", "The provider cannot be reached.") });
		event("turn.ended", { facts: { outcome: "failed" } });
		expect(shown).toContainEqual({ kind: "notice", text: "The provider cannot be reached." });
	});

	test("notices are plain, answers of commands keep their markup", () => {
		const { event, shown } = watch();
		event("delivery.pending", { delivery: delivery("notice", "away") });
		event("delivery.pending", { delivery: delivery("command", "done") });
		expect(shown).toEqual([
			{ kind: "notice", text: "away" },
			{ kind: "reply", text: "**done**" },
		]);
	});

	test("calls and their results are told apart from what is said", () => {
		const { event, kinds } = watch();
		const tool_calls = [{ id: "1", name: "search", input: { q: "x" } }];
		event("message.appended", { message: row("assistant", "", { tool_calls }) });
		event("message.appended", { message: row("tool", "found", { tool_call_id: "1", tool_name: "search" }) });
		expect(kinds()).toEqual(["call", "result"]);
	});

	test("it knows which turn runs", () => {
		const { view, event } = watch();
		expect(view.running).toBeNull();
		event("turn.begun");
		expect(view.running).toBe("t");
		event("turn.ended", { facts: { outcome: "stopped" } });
		expect(view.running).toBeNull();
	});
});
