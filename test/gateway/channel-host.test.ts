// What a channel asks of the gateway beside handing in messages: files, cursors, the list of commands.
import { afterEach, expect, test } from "vitest";
import { OPERATOR, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const MIB = 1024 * 1024;

async function* pieces(count: number, taken: { pieces: number }, size = 300_000) {
	for (let n = 0; n < count; n++) {
		taken.pieces++;
		yield new Uint8Array(size).fill(n + 1);
	}
}

test("a file is stored before its message is accepted, and is the conversation's byte for byte", async () => {
	await start();
	const blob = await scene.host.putBlob(pieces(8, { pieces: 0 }), { name: "p.png", mediaType: "image/png" });
	const { conversation, id } = await scene.host.accept({
		source: { platform: "telegram", chat_id: "ada", user_id: "ada" },
		platformMessage: "p1",
		content: [
			{ type: "text", text: "look" },
			{ type: "image", blob, mediaType: "image/png", name: "p.png" },
		],
		blobs: [blob],
	});
	await scene.clock.advance(0);
	const { message } = await scene.store.inboxItem({ scope: OPERATOR, id });
	const ref = { id: conversation as never };
	const { liveSession } = await scene.store.conversation({ scope: OPERATOR, ref });
	const rows = await scene.store.transcript({ scope: OPERATOR, session: liveSession as never });
	const row = rows.find((one) => one.id === message) ?? expect.fail("its message has no row");
	const part = (row.content as readonly { blob: string }[])[1];
	const stored = await scene.store.blob({
		scope: OPERATOR,
		conversation: conversation as never,
		digest: part?.blob as string,
	});
	expect(stored.byteLength).toBe(8 * 300_000);
	expect([stored[0], stored[7 * 300_000], stored.at(-1)]).toEqual([1, 8, 8]);
});

test("a file over the limit is refused while it comes, or at once where its size is known", async () => {
	await start({ config: { http: { attachment_limit_mb: 1 } } });
	const taken = { pieces: 0 };
	const facts = { name: "film.mp4", mediaType: "video/mp4" };
	const tooLarge = { code: "attachment.too_large", message: "film.mp4 is larger than 1 MB" };
	await expect(scene.host.putBlob(pieces(1000, taken), facts)).rejects.toMatchObject(tooLarge);
	expect(taken.pieces).toBe(4);
	await expect(scene.host.putBlob(pieces(1000, taken), { ...facts, size: MIB + 1 })).rejects.toMatchObject(
		tooLarge,
	);
	expect(taken.pieces).toBe(4);
});

test("an update that carries nothing for Keryx moves the cursor", async () => {
	await start();
	expect(await scene.host.cursor()).toBeNull();
	await scene.host.passed("41");
	expect(await scene.host.cursor()).toBe("41");
});

test("a channel that ends can still store where it goes on, and hands in nothing more", async () => {
	await start();
	const stopped = scene.gateway.stop();
	await scene.host.passed("42");
	const late = { source: { platform: "telegram", chat_id: "ada" }, platformMessage: "1", content: "late" };
	await expect(scene.host.accept(late)).rejects.toMatchObject({ code: "gateway.stopped" });
	await stopped;
	expect(await scene.host.cursor()).toBe("42");
});

test("the platform's menu gets every command, with a few words each", async () => {
	await start();
	expect(scene.host.commands()).toContainEqual({ name: "help", description: expect.any(String) });
	for (const { name, description } of scene.host.commands()) {
		expect(name).toMatch(/^[a-z]+$/);
		expect(description.length).toBeGreaterThan(3);
	}
});
