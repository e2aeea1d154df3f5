// An edit that waits for its turn at a platform does not leave once another gateway may have taken over.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTelegramChannel } from "../../src/channels/telegram/index.ts";
import { type Channel, systemClock } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/taking-host.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";

let peer: TelegramPeer;
let channel: Channel;
beforeEach(async () => {
	peer = await createTelegramPeer();
	channel = createTelegramChannel({
		name: "telegram",
		account: "",
		token: () => Promise.resolve(peer.bot.token),
		apiRoot: peer.apiRoot,
		clock: systemClock,
		log: () => {},
	});
});
afterEach(async () => {
	await channel.stop();
	await peer.close();
});

test("an edit that waited while the lease was lost stays here", async () => {
	const host = new TakingHost();
	let holds = true;
	await channel.start(Object.assign(host, { maySend: () => holds }));
	await expect.poll(() => channel.health().state).toBe("connected");
	const ada = peer.user("Ada");
	const chat = peer.dm(ada);
	peer.say(ada, chat, "hello");
	const of = (text: string) => ({
		id: `d ${text}`,
		destination: { platform: "telegram", account: "", chatId: String(chat.chat.id) },
		body: { text, plain: text },
		plain: false,
	});
	const sent = await channel.send(of("one"));
	if (sent.kind !== "sent") throw new Error(`it was not sent: ${JSON.stringify(sent)}`);
	// More than the chat may be changed at once: the last ones wait.
	const edits = Array.from({ length: 8 }, (_, n) => channel.edit?.(sent.receipt ?? "", of(`edit ${n}`)));
	await edits[0];
	holds = false;
	const shown = () => peer.answers(chat).map(({ text }) => text);
	const results = await Promise.all(edits);
	expect(results.at(-1)).toEqual({ kind: "retry", afterMs: 1000, reason: "this gateway has lost its lease" });
	expect(shown()).not.toEqual(["edit 7"]);
	holds = true;
	expect(await channel.edit?.(sent.receipt ?? "", of("edit 7"))).toMatchObject({ kind: "sent" });
	expect(shown()).toEqual(["edit 7"]);
});
