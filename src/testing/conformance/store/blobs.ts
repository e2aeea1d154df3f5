// Large and binary content.
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { HOUR } from "../clock.ts";
import { ADA, BOB, OPERATOR, QUIET, refusal, type Scene, type Tell } from "./scene.ts";

const MIB = 1024 * 1024;

export function blobConformance(tell: Tell): void {
	for (const [what, text] of LARGE)
		tell(`text over 64 KiB ${what} comes back exactly`, async (scene) => {
			const turn = await scene.turn(text);
			await scene.append(turn, [
				{
					role: "assistant",
					content: [
						{ type: "text", text: "short" },
						{ type: "text", text },
					],
					index: 1,
				},
				{ role: "tool", content: text, toolCallId: "c", index: 2 },
			]);
			const [user, assistant, tool] = await scene.rows(turn.session);
			expect(user?.content === text).toBe(true);
			const parts = assistant?.content as readonly unknown[] | undefined;
			expect(isDeepStrictEqual(parts?.[1], { type: "text", text })).toBe(true);
			expect(tool?.content === text).toBe(true);
			expect((await scene.store.undo({ conversation: turn.conversation, turns: 1 })).text === text).toBe(
				true,
			);
			expect(await scene.store.redo({ conversation: turn.conversation })).toMatchObject({ rows: 3 });
		});

	tell("a blob is put in chunks, in order, and known by its digest", async (scene) => {
		const bytes = pattern(MIB + 5);
		const { id } = await scene.store.beginBlob({ mediaType: "image/png" });
		const put = (n: number, part: Uint8Array) => scene.store.putBlobChunk({ id, n, bytes: part });
		await put(0, bytes.subarray(0, MIB));
		expect(await refusal(put(2, bytes.subarray(MIB)))).toBe("argument.invalid");
		await put(0, bytes.subarray(0, 7));
		await put(1, bytes.subarray(MIB));
		expect(await refusal(put(2, new Uint8Array(MIB + 1)))).toBe("argument.invalid");
		const finished = await scene.store.finishBlob({ id });
		expect(finished).toEqual({ digest: digestOf(bytes), size: bytes.length });
		expect(await scene.store.finishBlob({ id })).toEqual(finished);
		expect(await refusal(put(2, bytes.subarray(0, 1)))).toBe("store.not_found");
		expect(await refusal(scene.store.finishBlob({ id: "nothing" }))).toBe("store.not_found");
		const { conversation } = await sayWith(scene, id, finished.digest);
		const read = await scene.store.blob({ scope: OPERATOR, conversation, digest: finished.digest });
		expect(Buffer.compare(read, bytes)).toBe(0);
	});

	tell("a conversation keeps one copy of equal bytes", async (scene) => {
		const first = await putBlob(scene, pattern(10));
		const second = await putBlob(scene, pattern(10));
		expect(second.digest).toBe(first.digest);
		const { conversation } = await sayWith(scene, first.id, first.digest);
		await sayWith(scene, second.id, second.digest);
		expect(await refusal(sayWith(scene, second.id, second.digest))).toBe("store.not_found");
		const bobs = await putBlob(scene, pattern(10));
		const other = await sayWith(scene, bobs.id, bobs.digest, BOB);
		for (const of of [conversation, other.conversation])
			expect(
				await scene.store.blob({ scope: OPERATOR, conversation: of, digest: first.digest }),
			).toHaveLength(10);
	});

	tell("a blob of one conversation is not another's", async (scene) => {
		const { id, digest } = await putBlob(scene, pattern(10));
		await sayWith(scene, id, digest);
		expect(await refusal(sayWith(scene, id, digest, BOB))).toBe("store.not_found");
		const { conversation } = await scene.say("hello", BOB);
		expect(await refusal(scene.store.blob({ scope: OPERATOR, conversation, digest }))).toBe(
			"store.not_found",
		);
	});

	tell("a blob that is not finished is not adopted, and its message is not accepted", async (scene) => {
		const { id } = await scene.store.beginBlob({ mediaType: "image/png" });
		expect(await refusal(sayWith(scene, id, ""))).toBe("store.not_found");
		expect(await scene.store.waitingItems({ scope: OPERATOR, after: 0, limit: 10 })).toEqual([]);
	});

	tell("a blob that nothing adopts goes after an hour; an adopted one stays", async (scene) => {
		const lost = await putBlob(scene, pattern(10));
		const kept = await putBlob(scene, pattern(20));
		const { conversation } = await sayWith(scene, kept.id, kept.digest);
		scene.clock.advance(HOUR - 1);
		expect(await scene.store.expireBlobs({ limit: 10 })).toEqual({ dropped: 0 });
		scene.clock.advance(1);
		expect(await scene.store.expireBlobs({ limit: 10 })).toEqual({ dropped: 1 });
		expect(await scene.store.expireBlobs({ limit: 10 })).toEqual({ dropped: 0 });
		expect(await refusal(sayWith(scene, lost.id, lost.digest))).toBe("store.not_found");
		expect(await scene.store.blob({ scope: OPERATOR, conversation, digest: kept.digest })).toHaveLength(20);
	});

	for (const how of ["while its turn runs", "with the end of its turn"])
		tell(`a row of a turn that is written ${how} adopts the blobs it refers to`, async (scene) => {
			const turn = await scene.turn("draw");
			const { id, digest } = await putBlob(scene, pattern(10));
			const content = [{ type: "image", blob: digest, mediaType: "image/png" }] as const;
			const messages = [{ role: "tool", content, toolCallId: "c", index: turn.nextIndex }] as const;
			const { turn: of, token, conversation } = turn;
			if (how === "while its turn runs")
				await scene.store.appendMessages({ turn: of, token, messages, blobs: [id] });
			else await scene.end(turn, { messages, blobs: [id] });
			scene.clock.advance(2 * HOUR);
			await scene.store.expireBlobs({ limit: 10 });
			expect(await scene.store.blob({ scope: OPERATOR, conversation, digest })).toHaveLength(10);
		});

	tell("a session that is copied takes its blobs along", async (scene) => {
		const { id, digest } = await putBlob(scene, pattern(10));
		const item = await sayWith(scene, id, digest);
		const turn = await scene.begin(item.conversation, [item.id]);
		await scene.reply(turn, "x".repeat(70_000));
		await scene.store.link({ a: { platform: "telegram", id: "100" }, b: { platform: "web", id: "100" } });
		const to = await scene.exchange("here", "h", { ...ADA, platform: "web", chat_id: "main" });
		await scene.store.switchSession({
			conversation: to.conversation,
			target: turn.session,
			within: "principal",
			policy: QUIET,
			context: "context",
		});
		const read = await scene.store.blob({ scope: OPERATOR, conversation: to.conversation, digest });
		expect(Buffer.compare(read, pattern(10))).toBe(0);
		expect((await scene.texts(to.conversation))[1]).toHaveLength(70_000);
	});
}

const LARGE: readonly (readonly [what: string, text: string])[] = [
	["of plain letters", "abcdefgh".repeat(10_000)],
	["in several scripts and emoji", "Grüße 東京 👩‍👩‍👧\u0000\n".repeat(4000)],
	["that begins with a byte order mark", `\ufeff${"x".repeat(70_000)}`],
	["with half of a surrogate pair", `\ud83d${"x".repeat(70_000)}`],
	["of more than a chunk", "0123456789".repeat(150_000)],
];

function pattern(length: number): Uint8Array {
	return Uint8Array.from({ length }, (_, n) => (n * 31) % 251);
}

function digestOf(bytes: Uint8Array): string {
	return createHash("sha256").update(bytes).digest("hex");
}

async function putBlob(scene: Scene, bytes: Uint8Array) {
	const { id } = await scene.store.beginBlob({ mediaType: "image/png" });
	await scene.store.putBlobChunk({ id, n: 0, bytes });
	return { id, ...(await scene.store.finishBlob({ id })) };
}

async function sayWith(scene: Scene, id: string, digest: string, from = ADA) {
	const content = [{ type: "image", blob: digest, mediaType: "image/png", name: "cat.png" }] as const;
	return await scene.say(content, from, { blobs: [id] });
}
