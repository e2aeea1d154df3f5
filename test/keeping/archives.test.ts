// Archives as their owner meets them: many at once, two of one conversation, damaged ones.
import {
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ConversationId } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import { listArchives, Retention, readArchive, restoreArchive } from "../../src/keeping/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createVirtualClock } from "../../src/testing/index.ts";
import { openInMemory, type SceneStore } from "../support/scene-store.ts";

const OPERATOR = { kind: "operator" } as const;
const DAY = 86_400_000;
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

interface Kept {
	readonly filled: SceneStore;
	readonly folder: string;
	readonly retention: Retention;
	readonly clock: ReturnType<typeof createVirtualClock>;
	/** For the store and for retention. */
	wait(ms: number): Promise<void>;
	/** The conversation of a chat, with its sessions ended. */
	tell(chat: string, text: string): Promise<ConversationId>;
	/** The archive's file. */
	archive(): Promise<string>;
}

async function kept({
	isBroken = () => false,
	warn = (text) => expect.fail(text),
}: {
	/** Whether a conversation cannot be read. */
	readonly isBroken?: (conversation: ConversationId) => boolean;
	readonly warn?: (text: string) => void;
} = {}): Promise<Kept> {
	const filled = await openInMemory();
	const folder = mkdtempSync(join(tmpdir(), "keryx-archives-"));
	closing.push(
		() => filled.close(),
		() => rmSync(folder, { recursive: true, force: true }),
	);
	const { scene, store } = filled;
	const clock = createVirtualClock(scene.clock.now());
	const wait = async (ms: number) => {
		scene.clock.advance(ms);
		await clock.advance(ms);
	};
	const breaking = new Proxy(store, {
		get: (target, name) => {
			if (name !== "retentionState") return Reflect.get(target, name);
			return async (args: Parameters<Store["retentionState"]>[0]) => {
				if (isBroken(args.conversation)) throw new KeryxError("store.corrupt", "rows are missing");
				return target.retentionState(args);
			};
		},
	});
	const retention = new Retention({
		store: breaking,
		folder,
		config: () => ({ retention: { days: 1 } }),
		clock,
		warn,
	});
	const files = () =>
		readdirSync(folder).flatMap((month) =>
			readdirSync(join(folder, month)).map((name) => join(folder, month, name)),
		);
	return {
		filled,
		folder,
		retention,
		clock,
		wait,
		tell: async (chat, text) => {
			const from = { platform: "telegram", chat_id: chat, user_id: chat, user_name: "Ada" };
			const { conversation, session } = await scene.exchange(text, `you said ${text}`, from);
			const { unchanged } = await store.retentionState({ scope: OPERATOR, conversation });
			await store.retireConversation({ conversation, unchanged });
			await store.finaliseSession({ session });
			return conversation;
		},
		archive: async () => {
			const before = new Set(files());
			await wait(2 * DAY);
			expect(await retention.run()).toMatchObject({ archived: 1 });
			return files().find((file) => !before.has(file)) ?? expect.fail("there is no new archive");
		},
	};
}

test("a pass that stops at its limit says whether more are due", async () => {
	const { wait, tell, retention } = await kept();
	for (let n = 0; n < 101; n++) await tell(String(n), "hello");
	await wait(2 * DAY);
	expect(await retention.run({ limit: 100 })).toMatchObject({ archived: 100, more: true });
	expect(await retention.run({ limit: 100 })).toMatchObject({ archived: 1, more: false });
});

test("conversations whose sessions are finalised late follow within minutes", async () => {
	const { filled, tell, wait, clock, retention, folder } = await kept();
	const { scene, store } = filled;
	await tell("early", "hello");
	const late = await scene.exchange("hello", "you said hello");
	const { conversation } = late;
	const { unchanged } = await store.retentionState({ scope: OPERATOR, conversation });
	await store.retireConversation({ conversation, unchanged });
	await wait(2 * DAY);
	const archived = async (count: number) => {
		while ((await listArchives(folder, { limit: 10 })).length < count) await new Promise(setImmediate);
	};
	retention.start();
	closing.unshift(() => retention.stop());
	await archived(1);
	await store.finaliseSession({ session: late.session });
	while (clock.pendingTimers().length === 0) await new Promise(setImmediate);
	await wait(2 * 60_000);
	await archived(2);
});

test("a conversation that cannot be archived does not keep the others", async () => {
	const broken = new Set<ConversationId>();
	const { wait, tell, retention } = await kept({ isBroken: (id) => broken.has(id) });
	for (let n = 0; n < 30; n++) {
		const id = await tell(String(n), "hello");
		if (n % 10 === 0) broken.add(id);
	}
	await wait(2 * DAY);
	expect(await retention.run()).toEqual({
		archived: 27,
		ended: 0,
		kept: 0,
		failed: 3,
		problem: "rows are missing",
		more: false,
	});
	expect(await retention.plan()).toMatchObject({ count: 3 });
});

test("a pass in which nothing can be archived ends", async () => {
	const tried = new Set<ConversationId>();
	const { wait, tell, retention } = await kept({
		isBroken: (id) => {
			tried.add(id);
			return true;
		},
	});
	for (let n = 0; n < 60; n++) await tell(String(n), "hello");
	tried.clear();
	await wait(2 * DAY);
	await expect(retention.run()).rejects.toThrow("rows are missing");
	expect(tried.size).toBeLessThan(30);
});

test("of two archives of a conversation the newer one is shown and restored", async () => {
	// The names of archives are digests: which of two comes first is chance, so several are tried.
	for (let n = 0; n < 6; n++) {
		const { filled, folder, tell, archive } = await kept();
		const conversation = await tell(`chat ${n}`, "first");
		const old = await archive();
		await restoreArchive(filled.store, folder, conversation);
		expect(await tell(`chat ${n}`, "second")).toBe(conversation);
		const young = await archive();
		// Within one tick of a file system's clock they would have the same age.
		utimesSync(old, new Date(1e12), new Date(1e12));
		utimesSync(young, new Date(2e12), new Date(2e12));
		const { messages } = await readArchive(folder, conversation, 100);
		expect(messages.map(({ text }) => text)).toContain("you said second");
		expect((await restoreArchive(filled.store, folder, conversation)).messages).toBe(4);
	}
});

test("a damaged archive is listed as damaged, and does not hide the others", async () => {
	const { folder, tell, archive } = await kept();
	const first = await tell("1", "one");
	const damaged = await archive();
	const second = await tell("2", "two");
	await archive();
	writeFileSync(damaged, readFileSync(damaged, "utf8").slice(0, 20));
	const listed = await listArchives(folder, { limit: 10 });
	expect(listed).toHaveLength(2);
	expect(listed.find(({ conversation }) => conversation === first)).toMatchObject({
		problem: expect.stringContaining("is damaged"),
	});
	expect(listed.find(({ conversation }) => conversation === second)).not.toHaveProperty("problem");
	await expect(readArchive(folder, first, 10)).rejects.toThrow("is damaged");
});

test.each([
	["null", "null"],
	["a list", "[]"],
	["a row without its parts", '{"type":"message","role":"user","createdAt":1}'],
	["a conversation without a time", '{"type":"conversation","id":"x","lastActivityAt":"then"}'],
	["something else", "\u00ff\u00fe"],
	["nothing", ""],
])("a file with %s in the folder of archives is shown as damaged", async (_, text) => {
	const { filled, folder } = await kept();
	const id = "0".repeat(32);
	mkdirSync(join(folder, "2026-01"));
	writeFileSync(join(folder, "2026-01", `${id}.0123456789abcdef.jsonl`), text, "latin1");
	mkdirSync(join(folder, "2026-01", `${"1".repeat(32)}.0123456789abcdef.jsonl`));
	const listed = await listArchives(folder, { limit: 10 });
	expect(listed.map((one) => "problem" in one)).toEqual([true, true]);
	for (const one of [id, "1".repeat(32)]) {
		await expect(readArchive(folder, one, 10)).rejects.toMatchObject({ code: "archive.failed" });
		await expect(restoreArchive(filled.store, folder, one)).rejects.toMatchObject({ code: "archive.failed" });
	}
});
