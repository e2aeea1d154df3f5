// Unprompted messages: once per id, with the transcript row that a reply finds.
import { expect } from "vitest";
import type { Store } from "../../../store/index.ts";
import { MINUTE } from "../clock.ts";
import {
	ADA,
	BOB,
	delivery,
	GROUP,
	OPERATOR,
	policy,
	QUIET,
	refusal,
	type Scene,
	type Tell,
} from "./scene.ts";

type SendArgs = Parameters<Store["send"]>[0];
type Chat = Extract<SendArgs["to"], { kind: "chat" }>;

const OPENING = { policy: QUIET, context: "opened by a send" };
const FROM = { where: "the job Morning report" };

export function sendConformance(tell: Tell): void {
	tell(
		"a send is one commit: its row, and its deliveries; the same id again writes nothing",
		async (scene) => {
			const { conversation } = await scene.exchange("hello", "hi");
			const sent = await send(scene, "s1", "Rain today", { conversation });
			expect(sent).toMatchObject({ id: "s1", conversation, repeated: false, by: "operator", turn: null });
			expect(sent.deliveries.map(({ id, state, turn, conversation: of }) => [id, state, turn, of])).toEqual([
				["send:s1:1", "pending", null, conversation],
			]);
			const { id } = await scene.live(conversation);
			const row = (await scene.rows(id)).at(-1);
			expect(row).toMatchObject({ role: "assistant", kind: "sent", content: "Rain today", sentFrom: FROM });
			expect(row?.id).toBe(sent.message);
			await expect(send(scene, "s1", "Something else", { conversation })).rejects.toMatchObject({
				code: "send.conflict",
			});
			const again = await send(scene, "s1", "Rain today", { conversation });
			expect(again).toMatchObject({ repeated: true, message: sent.message });
			expect(await scene.texts(conversation)).toEqual(["hello", "hi", "Rain today"]);
			expect(await scene.deliverAll()).toEqual(["Rain today"]);
			expect(await scene.store.sent({ scope: OPERATOR, id: "s1" })).toMatchObject({
				deliveries: [{ state: "sent", receipt: "r-send:s1:1" }],
			});
			expect(await scene.store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
		},
	);

	tell("I19: a send keeps its place between the replies of its chat", async (scene) => {
		const turn = await scene.turn("hello");
		await send(scene, "s1", "first", { conversation: turn.conversation });
		await scene.reply(turn, "hi", { deliveries: [delivery("d1", "second")] });
		await send(scene, "s2", "third", { conversation: turn.conversation });
		expect(await scene.deliverAll()).toEqual(["first", "second", "third"]);
	});

	tell("a send opens a session where none is live, and ends none", async (scene) => {
		const idle = policy({ mode: "idle", idle_minutes: 10 });
		const { conversation, session } = await scene.exchange("hello", "hi", ADA, { policy: idle });
		scene.clock.advance(60 * MINUTE);
		await send(scene, "s1", "still the old session", { conversation });
		expect((await scene.live(conversation)).id).toBe(session);
		await scene.store.newSession({ conversation, ...OPENING });
		const { id } = await scene.live(conversation);
		if (scene.canRestart) await scene.suspend(await scene.turn("hello again"));
		await send(scene, "s2", "in the new one", { conversation });
		expect((await scene.live(conversation)).id).toBe(id);
	});

	tell("a reply that opens a session is told what was sent before it", async (scene) => {
		const idle = policy({ mode: "idle", idle_minutes: 10, carry_over: "none" });
		const { conversation, session } = await scene.exchange("hello", "hi", ADA, { policy: idle });
		scene.clock.advance(60 * MINUTE);
		await send(scene, "s1", "Your parcel is here", { conversation });
		scene.clock.advance(MINUTE);
		const turn = await scene.turn("thanks", ADA, { policy: idle });
		expect(turn.session).not.toBe(session);
		const rows = await scene.rows(turn.session);
		expect(rows.map(({ role, kind }) => [role, kind])).toEqual([
			["meta", "note"],
			["user", undefined],
		]);
		expect(rows[0]?.content).toContain("Your parcel is here");
		expect(rows[0]?.content).toContain("the job Morning report");
		await scene.reply(turn, "you are welcome", { policy: idle });
		const next = await scene.turn("and now?", ADA, { policy: idle });
		expect((await scene.rows(next.session)).filter(({ kind }) => kind === "note")).toHaveLength(1);
	});

	tell("a chat that nobody wrote in yet gets the row when somebody does", async (scene) => {
		const sent = await send(scene, "s1", "Hello Bob", { conversation: null, chatId: "200" });
		expect(sent).toMatchObject({ conversation: null, message: null });
		expect(await scene.deliverAll()).toEqual(["Hello Bob"]);
		const { session, conversation } = await scene.turn("who is this?", BOB);
		const rows = await scene.rows(session);
		expect(rows.map(({ role, kind, content }) => [role, kind, content])).toEqual([
			["assistant", "sent", "Hello Bob"],
			["user", undefined, "who is this?"],
		]);
		expect(await scene.store.sent({ scope: OPERATOR, id: "s1" })).toMatchObject({
			conversation,
			message: rows[0]?.id,
		});
		expect(await scene.store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
	});

	tell("in a group where everybody has a conversation of their own, each gets it once", async (scene) => {
		const routing = { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null };
		const speak = async (user: string, text: string) => {
			const { id, conversation } = await scene.say(text, { ...GROUP, user_id: user }, { routing });
			const turn = await scene.begin(conversation, [id]);
			await scene.reply(turn, "ok");
			return (await scene.rows(turn.session)).filter(({ kind }) => kind === "sent").length;
		};
		expect(await speak("1", "hi")).toBe(0);
		await send(scene, "s1", "Lunch at one", { conversation: null, chatId: "-7" });
		expect(await speak("1", "where?")).toBe(1);
		expect(await speak("2", "who pays?")).toBe(1);
		expect(await speak("1", "fine")).toBe(1);
	});

	tell("a thread that hangs on a sent message begins with it", async (scene) => {
		await send(scene, "s1", "Lunch at one?", { conversation: null, chatId: "-7" });
		await send(scene, "s2", "Something else", { conversation: null, chatId: "-7" });
		await scene.deliverAll();
		const inThread = { ...GROUP, thread_id: "r-send:s1:1" };
		const turn = await scene.turn("yes", { ...inThread, user_id: "1" });
		await scene.reply(turn, "ok");
		const next = await scene.turn("where?", { ...inThread, user_id: "1" });
		const rows = await scene.rows(next.session);
		expect(rows.map(({ kind, content }) => [kind, content])).toEqual([
			["sent", "Lunch at one?"],
			[undefined, "yes"],
			[undefined, "ok"],
			[undefined, "where?"],
		]);
	});

	tell("what a turn sent by itself is known by the turn; a file has a name and no row", async (scene) => {
		const { turn, conversation } = await scene.turn("send it");
		await send(scene, "s1", "done", { conversation, turn });
		const target = { kind: "local" } as const;
		const file = { kind: "file", file: "20260310-120000-0a.md" } as const;
		await scene.store.send({ id: "s2", target, by: "agent:default", turn, to: file });
		expect(
			(await scene.store.sentByTurn({ scope: OPERATOR, turn })).map((one) => [one.id, one.file, one.message]),
		).toEqual([
			["s1", null, expect.any(Number)],
			["s2", "20260310-120000-0a.md", null],
		]);
	});

	tell("a conversation that was deleted is not sent to, and one in the archive comes back", async (scene) => {
		const { conversation } = await scene.exchange("hello", "hi");
		await scene.store.setConversationState({ conversation, state: "archived" });
		await send(scene, "s1", "news", { conversation });
		const ref = { id: conversation };
		expect((await scene.store.conversation({ scope: OPERATOR, ref })).state).toBe("open");
		await scene.store.setConversationState({ conversation, state: "deleted" });
		expect(await refusal(send(scene, "s2", "more", { conversation }))).toBe("store.not_found");
		expect(await scene.store.sent({ scope: OPERATOR, id: "s2" })).toBeNull();
	});

	tell("asking again leaves what was sent from elsewhere", async (scene) => {
		const { conversation } = await scene.exchange("hello", "hi");
		await send(scene, "s1", "Rain today", { conversation });
		await scene.store.retry({ conversation, deadlineAt: scene.clock.now() + MINUTE });
		expect(await scene.texts(conversation)).toEqual(["hello", "Rain today"]);
	});

	tell(
		"the conversations of a chat are found by its id, and those of single people in it are not",
		async (scene) => {
			const { conversation } = await scene.exchange("hello", "hi");
			const find = (chatId: string, threadId?: string) =>
				scene.store.chatConversations({
					scope: OPERATOR,
					destination: { platform: "telegram", account: "", chatId, ...(threadId && { threadId }) },
				});
			expect(await find("100")).toEqual({ conversations: [conversation], known: true });
			expect(await find("100", "7")).toEqual({ conversations: [], known: true });
			expect(await find("999")).toEqual({ conversations: [], known: false });
			const routing = { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null };
			await scene.say("hi", { ...GROUP, user_id: "1" }, { routing });
			expect(await find("-7")).toEqual({ conversations: [], known: true });
			const shared = await scene.say("hi", GROUP);
			expect(await find("-7")).toEqual({ conversations: [shared.conversation], known: true });
		},
	);
}

async function send(
	scene: Scene,
	id: string,
	text: string,
	to: {
		readonly conversation: NonNullable<Chat["conversation"]>["id"] | null;
		readonly chatId?: string;
		readonly turn?: string;
		readonly whileRunning?: boolean;
	},
) {
	const { conversation, chatId = "100", turn, whileRunning } = to;
	const part = delivery(`send:${id}:1`, text, "reply", { chatId });
	return await scene.store.send({
		id,
		target: { kind: "chat", platform: "telegram", account: "", chatId },
		by: "operator",
		...(turn && { turn }),
		...(whileRunning && { whileRunning }),
		to: {
			kind: "chat",
			destination: part.destination,
			conversation: conversation && { id: conversation, opening: OPENING },
			content: text,
			from: FROM,
			deliveries: [part],
		},
	});
}
