// Admission: deduplication, cursors, refusals, observation, and which conversation a message belongs to.
import { expect } from "vitest";
import { ADA, BOB, GROUP, OPERATOR, policy, QUIET, refusal, type SourceFields, type Tell } from "./scene.ts";

export function inboxConformance(tell: Tell): void {
	tell("I3: an accepted message is there, with its text, until a turn takes it", async (scene) => {
		const { id, conversation, disposition, duplicate } = await scene.say("hello");
		expect({ disposition, duplicate }).toEqual({ disposition: null, duplicate: false });
		const item = await scene.store.inboxItem({ scope: OPERATOR, id });
		expect(item).toMatchObject({
			conversation,
			content: "hello",
			kind: "person",
			acceptedAt: scene.clock.now(),
		});
		expect(await scene.store.waitingItems({ scope: OPERATOR, after: 0, conversation, limit: 10 })).toEqual([
			item,
		]);
		await scene.begin(conversation, [id]);
		const taken = await scene.store.inboxItem({ scope: OPERATOR, id });
		expect(taken.content).toBeNull();
		expect(taken.message).not.toBeNull();
		expect(await scene.store.waitingItems({ scope: OPERATOR, after: 0, conversation, limit: 10 })).toEqual(
			[],
		);
	});

	tell("I4: a redelivered message is accepted once, and only its cursor moves", async (scene) => {
		const cursor = (value: string) => ({ cursor: { platform: "telegram", account: "", value } });
		const first = await scene.say("hello", ADA, { platformMessage: "m1", ...cursor("1") });
		expect(first.acceptedAt).toBe(scene.clock.now());
		scene.clock.advance(1000);
		const second = await scene.accept("hello", ADA, { platformMessage: "m1", ...cursor("2") });
		expect(second).toEqual({ ...first, duplicate: true });
		expect(await scene.store.channelCursor({ scope: OPERATOR, platform: "telegram", account: "" })).toBe("2");
		expect(
			await scene.store.waitingItems({
				scope: OPERATOR,
				after: 0,
				conversation: first.conversation,
				limit: 10,
			}),
		).toHaveLength(1);
	});

	tell(
		"I4: which messages of a chat are known is told, those that were refused among them",
		async (scene) => {
			await scene.say("hello", ADA, { platformMessage: "m1" });
			await scene.accept("secret", ADA, {
				as: { kind: "refuse", reason: "not allowed" },
				platformMessage: "m2",
			});
			await scene.say("hello", BOB, { platformMessage: "m3" });
			const chat = { platform: "telegram", account: "", chat: String(ADA.chat_id) };
			const platformMessages = ["m0", "m1", "m2", "m3"];
			expect(await scene.store.knownMessages({ scope: OPERATOR, ...chat, platformMessages })).toEqual([
				"m1",
				"m2",
			]);
			const other = { ...chat, account: "second", platformMessages };
			expect(await scene.store.knownMessages({ scope: OPERATOR, ...other })).toEqual([]);
		},
	);

	tell("no message, not even a refused one, takes the place of an event of Keryx's own", async (scene) => {
		const { conversation } = await scene.say("hello");
		const source = { platform: "keryx", chat_id: conversation, chat_type: "dm", user_id: "eve" };
		for (const as of [{ kind: "accept" }, { kind: "refuse", reason: "not allowed" }] as const)
			expect(await refusal(scene.accept("hello", source, { as, platformMessage: "process:proc_1" }))).toBe(
				"source.invalid",
			);
	});

	tell("I4: a message id is another one in another chat, account or platform", async (scene) => {
		const sources: SourceFields[] = [ADA, BOB, { ...ADA, account: "second" }, { ...ADA, platform: "signal" }];
		const ids = new Set<number>();
		for (const source of sources) {
			const { id, duplicate } = await scene.say("hello", source, { platformMessage: "m1" });
			expect(duplicate).toBe(false);
			ids.add(id);
		}
		expect(ids.size).toBe(sources.length);
	});

	tell("a redelivered message is answered with what became of the first", async (scene) => {
		const { id, conversation } = await scene.say("hello", ADA, { platformMessage: "m1" });
		const turn = await scene.begin(conversation, [id]);
		await scene.reply(turn, "hi");
		const again = await scene.accept("hello", ADA, { platformMessage: "m1" });
		expect(again).toMatchObject({ id, duplicate: true, disposition: { kind: "answered", turn: turn.turn } });
	});

	tell("the cursor of a message that is not accepted does not move", async (scene) => {
		const cursor = (value: string) => ({ platform: "telegram", account: "", value });
		await scene.say("one", ADA, { cursor: cursor("1") });
		const broken = scene.accept("two", { ...ADA, chat_id: "", user_id: "" }, { cursor: cursor("2") });
		expect(await refusal(broken)).toBe("address.incomplete");
		const unknownBlob = scene.accept("three", ADA, { blobs: ["nothing"], cursor: cursor("3") });
		expect(await refusal(unknownBlob)).toBe("store.not_found");
		expect(await scene.store.channelCursor({ scope: OPERATOR, platform: "telegram", account: "" })).toBe("1");
		expect(
			await scene.store.channelCursor({ scope: OPERATOR, platform: "telegram", account: "other" }),
		).toBeNull();
	});

	tell("a refused message keeps no text and makes no conversation", async (scene) => {
		const as = { kind: "refuse", reason: "not allowed" } as const;
		const refused = await scene.accept("secret", ADA, { as, platformMessage: "m1" });
		expect(refused).toMatchObject({
			conversation: null,
			key: null,
			principal: null,
			disposition: { kind: "refused", reason: "not allowed" },
		});
		const item = await scene.store.inboxItem({ scope: OPERATOR, id: refused.id });
		expect(item).toMatchObject({ content: null, source: null, conversation: null });
		expect(await scene.store.conversations({ scope: OPERATOR, limit: 10 })).toEqual([]);
		expect(await scene.store.knownIds({ scope: OPERATOR, platform: "telegram", ids: ["100"] })).toEqual([]);
		expect(await scene.accept("secret", ADA, { platformMessage: "m1" })).toMatchObject({
			id: refused.id,
			duplicate: true,
		});
	});

	tell("a command is disposed of at once and no turn takes it", async (scene) => {
		const { id, conversation, disposition } = await scene.say("/status", ADA, {
			as: { kind: "command", name: "status" },
		});
		expect(disposition).toEqual({ kind: "command", name: "status" });
		expect(await scene.tryBegin(conversation, [id])).toEqual({ kind: "nothing" });
	});

	tell("what waits anywhere is listed in the order of acceptance, page by page", async (scene) => {
		const ids: number[] = [];
		for (const source of [ADA, BOB, ADA, BOB]) ids.push((await scene.say("hello", source)).id);
		const page = async (after: number) =>
			(await scene.store.waitingItems({ scope: OPERATOR, after, limit: 3 })).map((item) => item.id);
		expect(await page(0)).toEqual(ids.slice(0, 3));
		expect(await page(ids[2] ?? 0)).toEqual(ids.slice(3));
	});

	tell("a person's last message is found, wherever it was said", async (scene) => {
		const { conversation, session } = await scene.exchange("one", "1");
		const last = async () => await scene.store.lastInbound({ scope: OPERATOR, conversation });
		const textOf = async (id: number | null) => {
			const { message } = await scene.store.inboxItem({ scope: OPERATOR, id: id ?? 0 });
			const sessions = await scene.store.sessions({ scope: OPERATOR, conversation, limit: 10 });
			const rows = await Promise.all(sessions.map((one) => scene.rows(one.id)));
			return rows.flat().find((row) => row.id === message)?.content;
		};
		const opening = { conversation, policy: QUIET, context: "context" };
		await scene.store.newSession(opening);
		expect(await textOf(await last())).toBe("one");
		await scene.exchange("two", "2");
		await scene.store.switchSession({ ...opening, target: session, within: "conversation" });
		await scene.exchange("three", "3");
		expect(await textOf(await last())).toBe("three");
		const waiting = await scene.say("four");
		expect(await last()).toBe(waiting.id);
	});

	tell("observed messages stand before the next turn, the newest 50, and are not counted", async (scene) => {
		const as = { kind: "observe" } as const;
		const source = { ...GROUP, user_id: "9", user_name: "Eve" };
		for (let n = 1; n <= 53; n++) {
			const { disposition } = await scene.say(`seen ${n}`, source, { as });
			expect(disposition).toEqual({ kind: "observed" });
		}
		const turn = await scene.turn("@bot hello", { ...GROUP, user_id: "100", user_name: "Ada" });
		const texts = turn.appended.map((row) => row.content);
		expect(texts).toEqual([...Array.from({ length: 50 }, (_, n) => `seen ${n + 4}`), "@bot hello"]);
		expect(turn.appended.map((row) => row.observed ?? false)).toEqual([...Array(50).fill(true), false]);
		expect(turn).toMatchObject({ messages: 1, nextIndex: 51 });
		const { messageCount } = await scene.store.conversation({
			scope: OPERATOR,
			ref: { id: turn.conversation },
		});
		expect(messageCount).toBe(1);
		await scene.reply(turn, "hi");
		expect((await scene.turn("again", { ...GROUP, user_id: "100" })).appended).toHaveLength(1);
	});

	tell("an observed message is no activity", async (scene) => {
		const idle = policy({ mode: "idle", idle_minutes: 10 });
		const ada = { ...GROUP, user_id: "100" };
		const first = await scene.exchange("hello", "hi", ada, { policy: idle });
		scene.clock.advance(9 * 60_000);
		await scene.say("chatter", { ...GROUP, user_id: "9" }, { as: { kind: "observe" } });
		scene.clock.advance(2 * 60_000);
		const second = await scene.turn("hello again", ada, { policy: idle });
		expect(second.session).not.toBe(first.session);
		expect(second.boundary?.cause).toMatchObject({ reason: "idle" });
	});

	tell("an alias learnt later leads to the old conversation, and its key stays", async (scene) => {
		const lid = { platform: "whatsapp", chat_id: "987654321@lid", user_id: "987654321@lid" };
		const first = await scene.say("hello", lid);
		const both = await scene.say("hello", { ...lid, user_id_alt: "60123@s.whatsapp.net" });
		const phone = await scene.say("hello", {
			platform: "whatsapp",
			chat_id: "60123:47@s.whatsapp.net",
			user_id: "60123:47@s.whatsapp.net",
		});
		const lidAgain = await scene.say("hello", lid);
		for (const later of [both, phone, lidAgain])
			expect(later).toMatchObject({
				conversation: first.conversation,
				key: first.key,
				principal: first.principal,
			});
	});

	tell(
		"of two conversations of people who are joined, the newest is routed to and both stay",
		async (scene) => {
			const phone = {
				platform: "whatsapp",
				chat_id: "60123@s.whatsapp.net",
				user_id: "60123@s.whatsapp.net",
			};
			const lid = { platform: "whatsapp", chat_id: "987654321@lid", user_id: "987654321@lid" };
			const older = await scene.exchange("by phone", "hi", phone);
			scene.clock.advance(60_000);
			const newer = await scene.exchange("by LID", "hi", lid);
			const linked = await scene.store.link({
				a: { platform: "whatsapp", id: "+60123" },
				b: { platform: "whatsapp", id: "987654321@lid" },
			});
			expect(linked.joined).toBe(true);
			for (const source of [phone, lid])
				expect((await scene.say("hello", source)).conversation).toBe(newer.conversation);
			const keys = (await scene.store.conversations({ scope: OPERATOR, limit: 10 })).map(({ id }) => id);
			expect(new Set(keys)).toEqual(new Set([older.conversation, newer.conversation]));
			expect((await scene.events()).filter(({ type }) => type === "principal.linked")).toHaveLength(1);
		},
	);

	tell("two accounts of one person on a platform without aliases keep their own chats", async (scene) => {
		const first = await scene.say("hello", ADA);
		await scene.store.link({
			a: { platform: "telegram", id: "100" },
			b: { platform: "telegram", id: "101" },
		});
		const second = await scene.say("hello", { ...ADA, chat_id: "101", user_id: "101" });
		expect(second.principal).toBe(first.principal);
		expect(second.conversation).not.toBe(first.conversation);
	});

	tell("linking is told by the ids as people write them, and not twice", async (scene) => {
		const { principal } = await scene.say("hello", { platform: "whatsapp", chat_id: "60123@s.whatsapp.net" });
		const link = {
			a: { platform: "whatsapp", id: "+60123" },
			b: { platform: "telegram", id: "100" },
		};
		expect(await scene.store.link(link)).toEqual({ principal, joined: true });
		expect(await scene.store.link(link)).toEqual({ principal, joined: false });
		expect(await scene.store.knownIds({ scope: OPERATOR, platform: "telegram", ids: ["7", "100"] })).toEqual([
			"100",
		]);
		expect(
			await scene.store.knownIds({ scope: OPERATOR, platform: "whatsapp", ids: ["60123:2@s.whatsapp.net"] }),
		).toEqual(["60123"]);
		const empty = scene.store.link({ ...link, a: { platform: "telegram", id: "" } });
		expect(await refusal(empty)).toBe("argument.invalid");
	});

	tell("two addresses with one readable key are two conversations, the second called ~2", async (scene) => {
		const threaded = { ...GROUP, chat_type: "group", thread_id: "7" };
		const first = await scene.say("hello", threaded);
		const routing = { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null };
		const second = await scene.say("hello", { ...GROUP, user_id: "7" }, { routing });
		expect(second.conversation).not.toBe(first.conversation);
		expect(second.key).toBe(`${first.key}~2`);
		for (const { key, conversation } of [first, second]) {
			const found = await scene.store.conversation({ scope: OPERATOR, ref: { key: key as string } });
			expect(found.id).toBe(conversation);
		}
	});

	tell("a conversation without a person's address of its own is shared", async (scene) => {
		expect(await scene.say("hello", ADA)).toMatchObject({ shared: false });
		const group = await scene.say("hello", { ...GROUP, user_id: "100" });
		expect(group.shared).toBe(true);
		const found = await scene.store.conversation({ scope: OPERATOR, ref: { id: group.conversation } });
		expect(found).toMatchObject({ shared: true, principal: null, platform: "telegram", chatType: "group" });
	});

	tell(
		"what a sender was let in as is kept with the message, also when it has taken effect as a command",
		async (scene) => {
			const { id } = await scene.say("/new", ADA, { role: "owner" });
			const role = async () => (await scene.store.inboxItem({ scope: OPERATOR, id })).role;
			expect(await role()).toBe("owner");
			await scene.store.performCommand({ inbox: id, command: "new" });
			expect(await role()).toBe("owner");
			const other = await scene.say("hello", BOB);
			expect((await scene.store.inboxItem({ scope: OPERATOR, id: other.id })).role).toBeNull();
		},
	);

	tell("an internal event goes to the conversation it names", async (scene) => {
		const { conversation } = await scene.exchange("hello", "hi");
		const event = { kind: "process", conversation } as const;
		const accepted = await scene.say("process 4 ended", { platform: "local", chat_id: "processes" }, event);
		expect(accepted.conversation).toBe(conversation);
		const turn = await scene.begin(conversation, [accepted.id]);
		expect(turn.appended).toMatchObject([{ role: "meta", kind: "note", content: "process 4 ended" }]);
		expect(turn.messages).toBe(2);
		const { source } = await scene.store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		expect(source).toMatchObject({ platform: "telegram", chatId: "100" });
		const lost = scene.accept("x", ADA, { kind: "process", conversation: "nowhere" as typeof conversation });
		expect(await refusal(lost)).toBe("store.not_found");
	});
}
