// Actions on whole conversations: name, pin, archive, delete, restore.
import { expect } from "vitest";
import type { ConversationId } from "../../../domain/index.ts";
import type { Conversation } from "../../../store/index.ts";
import { BOB, GROUP, OPERATOR, principalScope, QUIET, refusal, type Scene, type Tell } from "./scene.ts";

const WEB = {
	platform: "web",
	chat_id: "w1",
	user_id: "op",
	user_name: "Operator",
	chat_name: "First words",
};

export function filingConformance(tell: Tell): void {
	tell("a conversation is called by its title, or else by who and where", async (scene) => {
		const ada = await scene.exchange("hello", "hi");
		const group = await scene.exchange("hello", "hi", GROUP);
		const web = await scene.exchange("hello", "hi", WEB);
		expect(await nameOf(scene, ada.conversation)).toBe("Ada on Telegram");
		expect(await nameOf(scene, group.conversation)).toBe("Friends on Telegram");
		expect(await nameOf(scene, web.conversation)).toBe("First words");
		const { title, before } = await rename(scene, ada.conversation, "  Holiday\n plans ");
		expect({ title, before }).toEqual({ title: "Holiday plans", before: null });
		expect(await nameOf(scene, ada.conversation)).toBe("Holiday plans");
		await rename(scene, ada.conversation, null);
		expect(await nameOf(scene, ada.conversation)).toBe("Ada on Telegram");
		expect(await refusal(rename(scene, ada.conversation, "\u200b"))).toBe("argument.invalid");
	});

	tell("renaming a conversation renames it for good, whatever session goes on in it", async (scene) => {
		const { conversation, session } = await scene.exchange("hello", "hi");
		await rename(scene, conversation, "Rome");
		expect((await scene.session(session)).title).toBe("Rome");
		await scene.store.newSession({ conversation, policy: QUIET, context: "c" });
		await scene.exchange("more", "yes");
		expect(await nameOf(scene, conversation)).toBe("Rome");
	});

	tell("the model names a chat of the page once, and never over a person", async (scene) => {
		const web = await scene.exchange("hello", "hi", WEB);
		const byModel = (session: typeof web.session, title: string) =>
			scene.store.setTitle({ session, title, source: "model" });
		await byModel(web.session, "Greeting");
		expect(await read(scene, web.conversation)).toMatchObject({ name: "Greeting", titleSource: "model" });
		await byModel(web.session, "Another");
		expect(await nameOf(scene, web.conversation)).toBe("Greeting");
		await rename(scene, web.conversation, "Mine");
		await byModel(web.session, "Another");
		expect(await read(scene, web.conversation)).toMatchObject({ name: "Mine", titleSource: "user" });
		const ada = await scene.exchange("hello", "hi");
		await byModel(ada.session, "Greeting");
		expect(await nameOf(scene, ada.conversation)).toBe("Ada on Telegram");
	});

	tell("pinned, archived and deleted conversations are lists of their own", async (scene) => {
		const ada = (await scene.exchange("a", "1")).conversation;
		scene.clock.advance(1000);
		const bob = (await scene.exchange("b", "2", BOB)).conversation;
		scene.clock.advance(1000);
		const group = (await scene.exchange("c", "3", GROUP)).conversation;
		await scene.store.pinConversation({ conversation: ada, pinned: true });
		expect(await listed(scene, "open")).toEqual([group, bob, ada]);
		expect(await listed(scene, "pinned")).toEqual([ada]);
		await put(scene, ada, "archived");
		expect(await listed(scene, "pinned")).toEqual([]);
		expect(await refusal(scene.store.pinConversation({ conversation: ada, pinned: true }))).toBe(
			"conversation.put_away",
		);
		await put(scene, bob, "deleted");
		expect(await listed(scene, "open")).toEqual([group]);
		expect(await listed(scene, "archived")).toEqual([ada]);
		expect(await listed(scene, "deleted")).toEqual([bob]);
		await put(scene, bob, "open");
		expect(await listed(scene, "open")).toEqual([group, bob]);
		expect((await scene.events(bob)).map(({ type }) => type)).toContain("conversation.state");
	});

	tell("a message brings an archived conversation back", async (scene) => {
		const { conversation } = await scene.exchange("hello", "hi");
		await put(scene, conversation, "archived");
		const next = await scene.turn("again");
		expect(next.conversation).toBe(conversation);
		expect((await read(scene, conversation)).state).toBe("open");
	});

	tell(
		"a message to a deleted conversation begins a new one, and the old one stays deleted",
		async (scene) => {
			const first = await scene.exchange("hello", "hi");
			const { key } = await read(scene, first.conversation);
			await put(scene, first.conversation, "deleted");
			const next = await scene.exchange("again", "yes");
			expect(next.conversation).not.toBe(first.conversation);
			expect(await read(scene, next.conversation)).toMatchObject({ key, state: "open", messageCount: 2 });
			expect(await read(scene, first.conversation)).toMatchObject({ key: `${key}~2`, state: "deleted" });
			await put(scene, first.conversation, "open");
			expect((await scene.turn("once more")).conversation).toBe(next.conversation);
			expect((await scene.store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
		},
	);

	tell("deleting ends the running turn; restoring brings all of it back", async (scene) => {
		await scene.exchange("hello", "hi");
		const running = await scene.turn("work");
		const { stopped } = await put(scene, running.conversation, "deleted");
		expect(stopped).toBe(running.turn);
		expect(await put(scene, running.conversation, "open")).toEqual({ before: "deleted", stopped: null });
		expect((await scene.live(running.conversation)).id).toBe(running.session);
		expect(await scene.texts(running.conversation)).toEqual(["hello", "hi", "work"]);
	});

	tell("a deleted conversation is not there for its own person", async (scene) => {
		const { conversation, session, principal } = await scene.exchange("hello", "hi");
		const scope = principalScope(principal);
		const ref = { id: conversation };
		await put(scene, conversation, "deleted");
		expect(await refusal(scene.store.conversation({ scope, ref }))).toBe("store.not_found");
		expect(await refusal(scene.store.session({ scope, id: session }))).toBe("store.not_found");
		expect(await scene.store.conversations({ scope, limit: 10 })).toEqual([]);
	});
}

export function filingSearchConformance(tell: Tell): void {
	tell("a deleted conversation is not found until it is restored", async (scene) => {
		const { conversation } = await scene.exchange("walnut", "hazelnut");
		await rename(scene, conversation, "Nuts");
		const found = async (query: string) =>
			(await scene.store.search({ scope: OPERATOR, query, limit: 10 })).hits.length;
		expect([await found("walnut"), await found("nuts")]).toEqual([1, 1]);
		await put(scene, conversation, "deleted");
		expect([await found("walnut"), await found("nuts")]).toEqual([0, 0]);
		expect((await scene.store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
		await scene.store.rebuildSearch({ wipe: true });
		expect(await found("hazelnut")).toBe(0);
		await put(scene, conversation, "open");
		expect([await found("walnut"), await found("hazelnut"), await found("nuts")]).toEqual([1, 1, 1]);
		expect((await scene.store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	});
}

function read(scene: Scene, id: ConversationId): Promise<Conversation> {
	return scene.store.conversation({ scope: OPERATOR, ref: { id } });
}

async function nameOf(scene: Scene, id: ConversationId): Promise<string> {
	return (await read(scene, id)).name;
}

function rename(scene: Scene, conversation: ConversationId, title: string | null) {
	return scene.store.renameConversation({ conversation, title });
}

function put(scene: Scene, conversation: ConversationId, state: Conversation["state"]) {
	return scene.store.setConversationState({ conversation, state });
}

async function listed(scene: Scene, list: "open" | "archived" | "deleted" | "pinned"): Promise<string[]> {
	return (await scene.store.conversations({ scope: OPERATOR, limit: 10, list })).map(({ id }) => id);
}
