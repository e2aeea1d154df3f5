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
		view.sent("mine");
		event("message.appended", { message: row("user", "mine") });
		event("message.appended", { message: row("user", "theirs", { author: { principal: "p", name: "Bo" } }) });
		expect(shown).toEqual([
			{ kind: "user", author: null, text: "mine", mine: true },
			{ kind: "user", author: "Bo", text: "theirs", mine: false },
		]);
	});

	test("a message that was not taken does not hide the same words of another", () => {
		const { view, event, shown } = watch();
		view.sent("hello");
		view.notSent("hello");
		event("message.appended", { message: row("user", "hello") });
		expect(shown.at(-1)).toMatchObject({ mine: false });
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
