// Encrypted rooms on our own homeserver: messages, files, answers and edits, over restarts, with a client of another kind on the other side.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Channel } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { createMatrixPeer, type MatrixPeer } from "../peers/matrix/index.ts";
import { MatrixPerson } from "../support/matrix-person.ts";
import { matrixChannelOn } from "./matrix-scene.ts";

const LIBRARY = import.meta.resolve("@matrix-org/matrix-sdk-crypto-wasm");
const ENCRYPTED = {
	type: "m.room.encryption",
	state_key: "",
	content: { algorithm: "m.megolm.v1.aes-sha2" },
};

let folder: string;
let peer: MatrixPeer;
let ada: MatrixPerson;
let host: TakingHost;
const channels: Channel[] = [];
beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), "keryx-matrix-"));
	peer = await createMatrixPeer();
	peer.user("Ada");
	host = new TakingHost();
	ada = await MatrixPerson.logIn(peer.url, "ada", "pw-Ada");
	ada.follow();
});
afterEach(async () => {
	for (const channel of channels.splice(0)) await channel.stop();
	await ada.leave();
	await peer.close();
	rmSync(folder, { recursive: true });
});

async function start(logged: string[] = []): Promise<Channel> {
	const encryption = { file: join(folder, "keys.db"), library: () => Promise.resolve(LIBRARY) };
	const channel = matrixChannelOn(peer, { encryption }, logged);
	channels.push(channel);
	await channel.start(host);
	await ada.until(() => channel.health().state === "connected");
	return channel;
}

/** A private room of Ada and the bot. */
async function encryptedRoom(): Promise<string> {
	const room = await ada.createRoom({ invite: [peer.bot.id], is_direct: true, initial_state: [ENCRYPTED] });
	await ada.until(() => peer.world.rooms.get(room)?.membership(peer.bot.id) === "join");
	return room;
}

const outgoing = (chatId: string, id: string, text: string) => ({
	id,
	destination: { platform: "matrix", account: "", chatId },
	body: { text, plain: text },
	plain: false,
	openBlob: async function* () {
		yield Buffer.from("a file of Keryx");
	},
});

test("messages and answers are read on both sides, and the server sees none of their words", async () => {
	const channel = await start();
	const room = await encryptedRoom();
	await ada.say(room, "open sesame");
	await ada.until(() => host.taken.length === 1);
	expect(host.taken[0]).toMatchObject({
		content: "open sesame",
		mentioned: true,
		source: { chat_id: room, chat_type: "dm", user_id: ada.id, user_name: "Ada" },
	});
	const sent = await channel.send(outgoing(room, "d1", "the <b>cave</b> is open"));
	expect(sent.kind).toBe("sent");
	await ada.until(() => ada.texts(room, peer.bot.id).length === 1);
	expect(ada.texts(room, peer.bot.id)).toEqual(["the <b>cave</b> is open"]);
	expect(
		ada.seen.filter(({ type }) => type === "m.room.message").every(({ isEncrypted }) => isEncrypted),
	).toBe(true);
	expect(JSON.stringify(peer.calls)).not.toMatch(/sesame|cave/);
});

test("files in both directions, edits and replies are encrypted too", async () => {
	const channel = await start();
	const room = await encryptedRoom();
	const asked = await ada.say(room, "a question");
	const attachments = [{ blob: "b", name: "notes.txt", mediaType: "text/plain", size: 15 }];
	const file = await channel.send({
		...outgoing(room, "d1", "look"),
		body: { text: "look", plain: "look", attachments },
	});
	expect(file.kind).toBe("sent");
	await ada.until(() => ada.texts(room, peer.bot.id).length === 1);
	const content = ada.seen.at(-1)?.content ?? {};
	expect(content).toMatchObject({ msgtype: "m.file", body: "look", filename: "notes.txt" });
	expect([...peer.world.media.values()].map(({ bytes }) => bytes.toString())).not.toContain(
		"a file of Keryx",
	);
	// The same file comes back from the person: the bot reads it with the key in the message.
	await ada.send(room, "m.room.message", {
		...content,
		"m.relates_to": { "m.in_reply_to": { event_id: asked } },
	});
	await ada.until(() => host.taken.length === 2);
	expect(host.taken[1]?.quoted).toMatchObject({ text: "a question", own: false });
	const [blob = ""] = host.taken[1]?.blobs ?? [];
	expect(host.blobs.get(blob)?.toString()).toBe("a file of Keryx");
	const sent = await channel.send(outgoing(room, "d2", "draft"));
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	expect(await channel.edit?.(receipt, outgoing(room, "d2", "final"))).toEqual({ kind: "sent", receipt });
	await ada.until(() =>
		ada.seen.some(({ content: { "m.new_content": words } }) => JSON.stringify(words)?.includes("final")),
	);
});

test("after a restart it is the same device with the same keys, and old and new messages are read", async () => {
	const first = await start();
	const room = await encryptedRoom();
	await ada.say(room, "one");
	await ada.until(() => host.taken.length === 1);
	await first.stop();
	await ada.say(room, "while away");
	const second = await start();
	await ada.until(() => host.taken.length === 2);
	expect(host.taken.map(({ content }) => content)).toEqual(["one", "while away"]);
	expect((await second.send(outgoing(room, "d1", "back"))).kind).toBe("sent");
	await ada.until(() => ada.texts(room, peer.bot.id).includes("back"));
	const keys = peer.calls.filter(
		({ path, body, user }) => path === "keys/upload" && user === peer.bot.id && body.includes("device_keys"),
	);
	const uploaded = new Set(
		keys.map(({ body }) =>
			JSON.stringify((JSON.parse(body) as { device_keys: { keys: object } }).device_keys.keys),
		),
	);
	expect(uploaded.size).toBe(1);
	expect(second.health().detail).toBeUndefined();
});

test("a second process on the same keys is refused, with the reason", async () => {
	await start();
	const second = matrixChannelOn(peer, {
		encryption: { file: join(folder, "keys.db"), library: () => Promise.resolve(LIBRARY) },
	});
	channels.push(second);
	await second.start(new TakingHost());
	await ada.until(() => second.health().state === "needs_attention");
	expect(second.health().detail).toMatch(/another process has the keys of this account open/);
});

test("keys that are gone from the home need a new login: the device's name is taken by other keys", async () => {
	const channel = await start();
	await channel.stop();
	for (const file of ["keys.db", "keys.db-wal", "keys.db-shm"]) rmSync(join(folder, file), { force: true });
	const encryption = { file: join(folder, "keys.db"), library: () => Promise.resolve(LIBRARY) };
	const again = matrixChannelOn(peer, { encryption });
	channels.push(again);
	await again.start(host);
	await ada.until(() => again.health().state === "needs_attention");
	expect(again.health().detail).toMatch(/has other keys than those in Keryx's home.*log in again/);
});

test("a message whose key comes late is kept over a restart, and taken when the key is there", async () => {
	const channel = await start();
	const room = await encryptedRoom();
	await ada.until(() => channel.health().state === "connected");
	// The key is withheld: messages to devices do not arrive.
	const held: (() => Promise<void>)[] = [];
	const { keys } = peer;
	const send = keys.send.bind(keys);
	keys.send = (...given) => void held.push(async () => send(...given));
	await ada.say(room, "too early");
	await ada.until(() => channel.health().detail?.includes("1 encrypted message cannot be read yet") === true);
	await channel.stop();
	const again = await start();
	await ada.until(() => again.health().detail?.includes("cannot be read yet") === true);
	expect(host.taken).toEqual([]);
	keys.send = send;
	for (const go of held) await go();
	await ada.until(() => host.taken.length === 1);
	expect(host.taken[0]?.content).toBe("too early");
	await ada.say(room, "next");
	await ada.until(() => host.taken.length === 2);
	expect(again.health().detail).toBeUndefined();
});

test("without encryption, a message into an encrypted room is refused with a sentence, and never sent in the open", async () => {
	const channel = matrixChannelOn(peer);
	channels.push(channel);
	await channel.start(host);
	await ada.until(() => channel.health().state === "connected");
	const room = await encryptedRoom();
	expect(await channel.send(outgoing(room, "d1", "hello"))).toEqual({
		kind: "refused",
		reason: "the room is encrypted, and encryption is off for this channel",
	});
});

test("a server that says an encrypted room is no longer encrypted is not believed", async () => {
	const channel = await start();
	const room = await encryptedRoom();
	expect((await channel.send(outgoing(room, "d1", "secret"))).kind).toBe("sent");
	await channel.stop();
	peer.world.rooms.get(room)?.state.delete("m.room.encryption ");
	const again = await start();
	expect(await again.send(outgoing(room, "d2", "secret too"))).toMatchObject({ kind: "refused" });
	expect(JSON.stringify(peer.calls)).not.toContain("secret");
});

test("a deletion that is encrypted is none: no server has checked whose message it deletes", async () => {
	await start();
	const room = await encryptedRoom();
	await ada.send(room, "m.room.redaction", { redacts: "$what-somebody-else-said" });
	await ada.send(room, "m.room.message", { msgtype: "m.text", body: "after it" });
	await ada.until(() => host.taken.length === 1);
	expect(host.taken[0]?.content).toBe("after it");
	expect(host.deletions).toEqual([]);
});
