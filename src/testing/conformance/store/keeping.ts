// What is kept, removed and restored: retention, exports and imports, the search index.
import { expect } from "vitest";
import type { ConversationId } from "../../../domain/index.ts";
import { exportJsonl, importJsonl, type Scope } from "../../../store/index.ts";
import { HOUR } from "../clock.ts";
import { ADA, BOB, OPERATOR, principalScope, QUIET, refusal, type Scene, type Tell } from "./scene.ts";

const DAY = 24 * HOUR;
const AS_OPERATOR = { scope: { kind: "operator" } } as const;
const ARCHIVE = { name: "a.jsonl", digest: "0" };

export function keepingConformance(tell: Tell): void {
	tell("old events are forgotten, and a follower that has not seen them is told to resync", async (scene) => {
		await scene.exchange("one", "1");
		const old = await scene.events();
		scene.clock.advance(31 * DAY);
		await scene.exchange("two", "2");
		const all = await scene.events();
		expect(await scene.store.pruneEvents({ keepDays: 30, limit: 3 })).toEqual({ pruned: 3, more: true });
		while ((await scene.store.pruneEvents({ keepDays: 30, limit: 3 })).more);
		expect(await scene.events()).toEqual(all.slice(old.length));
		const after = (cursor: string | undefined) =>
			scene.store.events({ scope: OPERATOR, after: cursor ?? "", limit: 100 });
		expect(await after(old.at(-2)?.cursor)).toEqual({ kind: "resync", cursor: all.at(-1)?.cursor });
		expect(await after(old.at(-1)?.cursor)).toMatchObject({ kind: "events", events: all.slice(old.length) });
	});

	tell("a refused message is forgotten after seven days, and nothing else is", async (scene) => {
		const { id: kept } = await scene.say("one");
		const as = { kind: "refuse", reason: "no" } as const;
		const { id } = await scene.accept("two", BOB, { as });
		scene.clock.advance(7 * DAY);
		expect(await scene.store.pruneRefused({ limit: 10 })).toEqual({ pruned: 0, more: false });
		scene.clock.advance(1);
		expect(await scene.store.pruneRefused({ limit: 10 })).toEqual({ pruned: 1, more: false });
		expect(await refusal(scene.store.inboxItem({ scope: OPERATOR, id }))).toBe("store.not_found");
		expect(await scene.store.inboxItem({ scope: OPERATOR, id: kept })).toMatchObject({ content: "one" });
	});

	tell(
		"a conversation is deleted whole, as it was when it was archived, and no other with it",
		async (scene) => {
			const ada = await talk(scene, ADA);
			const bob = await talk(scene, BOB);
			scene.clock.advance(DAY);
			const candidates = await scene.store.pruneCandidates({
				...AS_OPERATOR,
				before: scene.clock.now(),
				limit: 10,
			});
			expect(new Set(candidates.conversations)).toEqual(new Set([ada, bob]));
			expect(await retire(scene, ada)).toBe("deleted");
			expect(await refusal(scene.store.conversation({ scope: OPERATOR, ref: { id: ada } }))).toBe(
				"store.not_found",
			);
			expect(await scene.texts(bob)).toEqual(["two", "re: two"]);
			expect(await scene.store.checkIntegrity(AS_OPERATOR)).toEqual({ problems: [] });
			const again = await scene.say("hello again", ADA);
			expect(again.conversation).not.toBe(ada);
		},
	);

	tell("a conversation that something holds, or that has changed, is kept", async (scene) => {
		const turn = await scene.exchange("one", "1");
		const { conversation } = turn;
		const { unchanged } = await scene.store.retentionState({ ...AS_OPERATOR, conversation });
		const remove = async (held = false) =>
			await scene.store.deleteConversation({ conversation, unchanged, held, archive: ARCHIVE });
		expect(await remove(true)).toEqual({ kind: "kept", reason: "held" });
		expect(await remove()).toEqual({ kind: "kept", reason: "live" });
		const waiting = await scene.say("two");
		expect(await remove()).toEqual({ kind: "kept", reason: "inbox" });
		const running = await scene.begin(conversation, [waiting.id]);
		expect(await remove()).toEqual({ kind: "kept", reason: "turn" });
		await scene.end(running);
		expect(await remove()).toEqual({ kind: "kept", reason: "changed" });
		expect(await scene.texts(conversation)).toEqual(["one", "1", "two"]);
		if (!scene.canRestart) return;
		await scene.suspend(await scene.turn("three"));
		expect(await remove()).toEqual({ kind: "kept", reason: "delivery" });
		await scene.deliverAll();
		expect(await remove()).toEqual({ kind: "kept", reason: "suspended" });
		expect(await scene.texts(conversation)).toEqual(["one", "1", "two", "three"]);
	});

	tell("a conversation that changes in the very same commit is not deleted", async (scene) => {
		const conversation = await talk(scene, ADA);
		const look = async () => (await scene.store.retentionState({ ...AS_OPERATOR, conversation })).unchanged;
		const rename = (title: string) => scene.store.renameConversation({ conversation, title });
		const before = await look();
		// Asked for at once, they share a group of writes.
		const [, retired] = await Promise.all([
			rename("Rome"),
			scene.store.retireConversation({ conversation, unchanged: before }),
		]);
		expect(retired).toEqual({ ended: null });
		const { ended } = await scene.store.retireConversation({ conversation, unchanged: await look() });
		if (ended) await scene.store.finaliseSession({ session: ended });
		const args = { conversation, unchanged: await look(), held: false, archive: ARCHIVE };
		const [, deleted, unknown] = await Promise.all([
			rename("Oslo"),
			scene.store.deleteConversation(args),
			refusal(scene.store.deleteConversation({ ...args, conversation: "unknown" as ConversationId })),
		]);
		expect([deleted, unknown]).toEqual([{ kind: "kept", reason: "changed" }, "store.not_found"]);
		const titled = (await scene.events(conversation)).filter(({ type }) => type === "conversation.titled");
		expect(titled).toHaveLength(2);
		expect(await scene.store.checkIntegrity(AS_OPERATOR)).toEqual({ problems: [] });
	});

	tell("what was exported and deleted comes back as it was, once", async (scene) => {
		const ada = await talk(scene, ADA);
		const scope = OPERATOR;
		const what = { kind: "conversation", id: ada } as const;
		const before = await picture(scene, ada);
		const lines: string[] = [];
		for await (const line of exportJsonl(scene.store, { scope, what })) lines.push(line);
		expect(await importJsonl(scene.store, lines, { origin: "archive" })).toMatchObject({ conversations: 0 });
		expect(await picture(scene, ada)).toEqual(before);
		expect(await retire(scene, ada)).toBe("deleted");
		for (const conversations of [1, 0]) {
			const counts = await importJsonl(scene.store, lines, { origin: "archive" });
			expect(counts.conversations).toBe(conversations);
			expect(await picture(scene, ada)).toEqual(before);
		}
		expect(await scene.store.checkIntegrity(AS_OPERATOR)).toEqual({ problems: [] });
		expect((await scene.turn("on we go", ADA)).conversation).toBe(ada);
	});

	tell("the search index is made anew from the messages and titles, step by step", async (scene) => {
		await talk(scene, ADA);
		let indexed = 0;
		let cursor: string | null | undefined;
		do {
			const step = await scene.store.rebuildSearch({ limit: 2, ...(cursor && { cursor }) });
			indexed += step.indexed;
			cursor = step.next;
		} while (cursor !== null);
		expect(indexed).toBe(5);
		expect(await scene.store.checkIntegrity(AS_OPERATOR)).toEqual({ problems: [] });
	});
}

/** For engines with their own search. */
export function searchConformance(tell: Tell): void {
	tell("search finds what is visible, in the reader's own conversations only", async (scene) => {
		const ada = await scene.exchange("the weather in Rome", "sunny");
		const bob = await scene.exchange("the weather in Oslo", "snow", BOB);
		await scene.exchange("my secret plan", "kept");
		await scene.store.undo({ conversation: ada.conversation, turns: 1 });
		const found = async (query: string, scope: Scope = OPERATOR) =>
			(await scene.store.search({ scope, query, limit: 10 })).hits.map((hit) => hit.conversation);
		expect(new Set(await found("weather"))).toEqual(new Set([ada.conversation, bob.conversation]));
		expect(await found("weather", principalScope(ada.principal))).toEqual([ada.conversation]);
		expect(await found("secret")).toEqual([]);
		await scene.store.redo({ conversation: ada.conversation });
		expect(await found("secret")).toEqual([ada.conversation]);
		await scene.store.setTitle({ session: bob.session, title: "Northern lights", source: "user" });
		expect(await found("northern")).toEqual([bob.conversation]);
	});

	tell("search does not find names of secrets, whole or in part (I12)", async (scene) => {
		const named = "\u0024{secret:DEPLOY_TOKEN}";
		const { session } = await scene.exchange(`use ${named} now`, `Ünder \\$\\{secret:DEPLOY\\_TOKEN\\} kept`);
		await scene.store.setTitle({ session, title: `with ${named}`, source: "user" });
		const found = async (query: string) =>
			(await scene.store.search({ scope: OPERATOR, query, limit: 10 })).hits.length;
		const guesses = [
			"deploy",
			"d*",
			"DEPLOY_TOKEN",
			"DEPLOY_TO*",
			'"use secret"',
			'"secret deploy"*',
			"secret",
			named,
		];
		for (const query of guesses) expect([query, await found(query)]).toEqual([query, 0]);
		expect([await found("use"), await found("kept"), await found("with")]).toEqual([1, 1, 1]);
	});
}

/** Two sessions of one conversation, the first with a title and an undone turn. */
async function talk(scene: Scene, from: typeof ADA): Promise<ConversationId> {
	const { conversation, session } = await scene.exchange("one", "re: one", from);
	await scene.exchange("oops", "re: oops", from);
	await scene.store.undo({ conversation, turns: 1 });
	await scene.store.setTitle({ session, title: "First", source: "user" });
	await scene.store.newSession({ conversation, policy: QUIET, context: "context" });
	await scene.exchange("two", "re: two", from);
	await scene.store.finaliseSession({ session });
	return conversation;
}

async function retire(scene: Scene, conversation: ConversationId): Promise<string> {
	const state = async () => await scene.store.retentionState({ ...AS_OPERATOR, conversation });
	const { unchanged } = await state();
	const { ended } = await scene.store.retireConversation({ conversation, unchanged });
	if (ended) await scene.store.finaliseSession({ session: ended });
	const deleted = await scene.store.deleteConversation({
		conversation,
		unchanged: (await state()).unchanged,
		held: false,
		archive: ARCHIVE,
	});
	return deleted.kind;
}

async function picture(scene: Scene, id: ConversationId): Promise<unknown> {
	const sessions = await scene.store.sessions({ scope: OPERATOR, conversation: id, limit: 10 });
	const rows = [];
	for (const { id: session } of sessions) rows.push(await scene.rows(session));
	// Being imported is the only difference.
	const { isImported: _, ...conversation } = await scene.store.conversation({ scope: OPERATOR, ref: { id } });
	return [conversation, sessions, rows];
}
