// Stores for tests of exports, imports and retention: in memory or in a file, with a scene to talk in. fillStore gives one a rich history.
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { ConversationId, SessionId } from "../../src/domain/index.ts";
import {
	type ExportWhat,
	exportJsonl,
	type Ids,
	NO_SECRETS,
	openStore,
	type Scope,
	type Store,
} from "../../src/store/index.ts";
import { ADA, BOB, GROUP, OPERATOR, QUIET, Scene } from "../../src/testing/conformance/store/scene.ts";
import { createWallClock, NOON } from "./clock.ts";
import { quickFolder } from "./quick-folder.ts";

export interface SceneStore {
	readonly scene: Scene;
	/** As its present owner has it. */
	readonly store: Store;
	/** The database's file, if it has one. */
	readonly path: string | null;
	close(): Promise<void>;
}

export interface SceneStoreOptions {
	/** Two stores get different ids, like two machines; four hex digits. */
	readonly ids?: string;
	readonly at?: number;
}

export type OpenSceneStore = (options?: SceneStoreOptions) => Promise<SceneStore>;

export const KINDS: readonly { readonly kind: string; readonly open: OpenSceneStore }[] = [
	{
		kind: "a store in memory",
		open: async (options) => await openSceneStore("sqlite::memory:", null, options, () => {}),
	},
	{
		kind: "a store in a file",
		open: async (options) => {
			const folder = quickFolder("keryx-told-");
			const path = join(folder, "store.db");
			return await openSceneStore(`sqlite:${path}`, path, options, () => rmSync(folder, { recursive: true }));
		},
	},
];
export const [{ open: openInMemory }, { open: openInFile }] = KINDS as [(typeof KINDS)[0], (typeof KINDS)[0]];

async function openSceneStore(
	url: string,
	path: string | null,
	{ ids = "aaaa", at = NOON }: SceneStoreOptions = {},
	clean: () => void,
): Promise<SceneStore> {
	const clock = createWallClock(at);
	const settings = { url, clock, ids: markedIds(ids), secrets: NO_SECRETS };
	const close = async (): Promise<void> => {
		await scene.store.close();
		clean();
	};
	const reopen = async (): Promise<Store> => {
		await scene.store.close();
		return await openStore(settings);
	};
	const store = await openStore(settings);
	const scene = new Scene({ store, clock, close, ...(path !== null && { reopen }) });
	return {
		scene,
		get store() {
			return scene.store;
		},
		path,
		close,
	};
}

/** Counted ids that show which store created them. Session ids do not: those of two stores may collide. */
function markedIds(mark: string): Ids {
	let drawn = 0;
	let bytes = 0;
	return {
		uuid: () => mark + (++drawn).toString(16).padStart(28, "0"),
		bytes: (length) => {
			const drawnBytes = new Uint8Array(length);
			new DataView(drawnBytes.buffer).setUint32(Math.max(0, length - 4), ++bytes);
			return drawnBytes;
		},
	};
}

export const EVERYTHING: ExportWhat = { kind: "everything" };

export async function exported(
	store: Store,
	what: ExportWhat = EVERYTHING,
	scope: Scope = OPERATOR,
): Promise<string[]> {
	const lines: string[] = [];
	for await (const line of exportJsonl(store, { scope, what })) lines.push(line);
	return lines;
}

/** Lines to compare: a long one is reduced to its start and its digest, so that a difference is readable. */
export function brief(lines: readonly string[]): string[] {
	return lines.map((line) =>
		line.length < 500
			? line
			: `${line.slice(0, 300)}... ${createHash("sha256").update(line).digest("hex").slice(0, 16)}`,
	);
}

/** The end of the log: it stays the same as long as nothing happens. */
export async function endOfEvents(store: Store): Promise<string> {
	return (await store.events({ scope: OPERATOR, after: "now", limit: 1 })).cursor;
}

export interface Past {
	readonly ada: ConversationId;
	readonly group: ConversationId;
	/** Ada's sessions, in opening order. */
	readonly sessions: readonly SessionId[];
	readonly picture: string;
}

/** A bit of everything: tools, attachments, large text, undo, retry, a summary, bases, titles, a group with an observed message. */
export async function fillStore({ scene, store }: SceneStore): Promise<Past> {
	const { clock } = scene;
	const wait = (): void => clock.advance(61_001);
	const first = await scene.exchange("the first thing Ada said", "and the answer: heliotrope");
	const ada = first.conversation;
	wait();
	const picture = await putBlob(store, "image/png", new Uint8Array(1_100_000).fill(7));
	const shown = await scene.say(
		[
			{ type: "text", text: "look at this" },
			{ type: "image", blob: picture.digest, mediaType: "image/png", name: "cat.png" },
		],
		ADA,
		{ blobs: [picture.id] },
	);
	const work = await scene.begin(ada, [shown.id]);
	await store.recordModelCall({
		turn: work.turn,
		token: work.token,
		n: 1,
		provider: "here",
		model: "small",
		inputTokens: 100,
		outputTokens: 7,
		costMicros: 42,
		currency: "USD",
		status: "ok",
	});
	await scene.append(work, [
		{
			role: "assistant",
			content: "",
			toolCalls: [{ id: "c1", name: "terminal", input: { command: "ls", "": null } }],
			reasoning: [{ type: "thinking", signature: "Zm9v", parts: ["hm\u2028", 1.5] }],
			finishReason: "tool_calls",
			tokens: 12,
			index: 1,
		},
		{
			role: "tool",
			content: "no such file",
			toolCallId: "c1",
			toolName: "terminal",
			isError: true,
			index: 2,
		},
	]);
	await scene.end(work, { messages: [{ role: "assistant", content: "It is a cat.", index: 3 }] });
	await store.setTitle({ session: first.session, title: "A cat", source: "user" });
	wait();
	await scene.exchange(`a long story ${"once upon a time ".repeat(6000)}`, "I see");
	await store.cover({
		session: first.session,
		ranges: [{ session: first.session, fromSeq: 1, toSeq: 2 }],
		summary: "Ada said something first",
	});
	wait();
	await scene.exchange("a thing to regret: marzipan", "as you wish");
	await store.undo({ conversation: ada, turns: 1 });
	const command = { conversation: ada, policy: QUIET, context: "the second context" };
	await store.setModelOverride({ conversation: ada, override: { model: "large" } });
	wait();
	const second = await store.newSession({ ...command, title: "Something else" });
	await scene.exchange("again", "not so good");
	const again = await store.retry({ conversation: ada, deadlineAt: clock.now() + 1000 });
	if (again.kind === "begun")
		await scene.end(again, { messages: [{ role: "assistant", content: "better", index: again.nextIndex }] });
	await store.continueSession(command);
	wait();
	await store.undo({ conversation: ada, turns: 2 });
	await store.redo({ conversation: ada });
	const third = await store.branchSession({ ...command, title: "A branch" });
	await scene.exchange("on the branch", "indeed");
	await store.setModelOverride({ conversation: ada, override: { model: "large", provider: "there" } });
	await store.setBusyMode({ conversation: ada, busy: "steer" });
	await store.setToolProgress({ conversation: ada, show: "all" });

	await scene.say(
		"just chatting",
		{ ...GROUP, user_id: "300", user_name: "Cleo" },
		{ as: { kind: "observe" } },
	);
	const talk = await scene.turn("@bot hello", { ...GROUP, user_id: "200", user_name: "Bob" });
	await scene.reply(talk, "hello all");
	await scene.exchange("hello, I am Bob", "welcome", BOB);
	await store.link({ a: { platform: "telegram", id: "100" }, b: { platform: "discord", id: "ada#1" } });
	const sessions = [first.session, second.session, third.session];
	return { ada, group: talk.conversation, sessions, picture: picture.digest };
}

export async function putBlob(
	store: Store,
	mediaType: string,
	bytes: Uint8Array,
): Promise<{ id: string; digest: string }> {
	const { id } = await store.beginBlob({ mediaType });
	const size = 1024 * 1024;
	for (let n = 0; n * size < bytes.byteLength; n++)
		await store.putBlobChunk({ id, n, bytes: bytes.slice(n * size, (n + 1) * size) });
	return { id, digest: (await store.finishBlob({ id })).digest };
}
