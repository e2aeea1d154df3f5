// Slack with many chats: all of them are read after a downtime, and nobody who writes or presses meanwhile waits for the others.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ChannelHost } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import type { ChannelRecord, Person } from "../peers/slack/index.ts";
import { channelOn, type SlackScene, slackScene } from "./slack-scene.ts";

let scene: SlackScene;
let ada: Person;
beforeEach(async () => {
	scene = await slackScene();
	ada = scene.peer.user("Ada");
});
afterEach(() => scene.close());

const contents = () => scene.host.taken.map(({ content }) => content);

/** Keryx was there once, and is not now. */
async function away(chats: number): Promise<readonly ChannelRecord[]> {
	const { peer, channel } = scene;
	const made = Array.from({ length: chats }, (_, n) => peer.channel(`channel-${n}`));
	await scene.start();
	await channel.stop();
	return made;
}

/** Slack answers these calls only when it is let. */
function hanging(method: string, isMeant: (channel: unknown) => boolean = () => true): () => void {
	let goOn = () => {};
	const until = new Promise<void>((resolve) => {
		goOn = resolve;
	});
	scene.peer.faults = (call) => {
		if (call.method !== method || !isMeant(call.fields.channel)) return undefined;
		return { until };
	};
	return () => {
		scene.peer.faults = () => undefined;
		goOn();
	};
}

test("every chat of a long list is read after a downtime, however few Slack lists at once", async () => {
	const { peer, logged } = scene;
	const chats = await away(45);
	peer.mostListed(1);
	for (const chat of chats) peer.say(ada, chat, `missed in ${chat.name}`, { silent: true });
	await scene.start();
	await scene.until(() => scene.host.taken.length >= chats.length);
	expect(contents().toSorted()).toEqual(chats.map(({ name }) => `missed in ${name}`).toSorted());
	expect(logged.filter((line) => line.includes("more than"))).toEqual([]);
});

test("chats beyond the limit are told, and the others are read", async () => {
	const { peer, logged } = scene;
	const chats = await away(52);
	peer.mostListed(1);
	for (const chat of chats) peer.say(ada, chat, `missed in ${chat.name}`, { silent: true });
	await scene.start();
	await scene.until(() => scene.host.taken.length >= 50);
	expect(logged.filter((line) => /is in more than \d+ chats/.test(line))).toHaveLength(1);
});

test("a chat where somebody writes is read at once, before the list of chats is known", async () => {
	const { peer } = scene;
	const [chat] = (await away(3)) as [ChannelRecord];
	peer.say(ada, chat, "missed", { silent: true });
	const goOn = hanging("users.conversations");
	await scene.start();
	peer.say(ada, chat, "live");
	await scene.until(() => scene.host.taken.length >= 2);
	expect(contents()).toEqual(["missed", "live"]);
	goOn();
	await scene.until(() => peer.calls.filter(({ method }) => method === "conversations.history").length >= 3);
	expect(contents()).toEqual(["missed", "live"]);
});

test("a chat where somebody writes waits for only a few of the others", async () => {
	const { peer } = scene;
	const chats = await away(30);
	const last = chats.at(-1) as ChannelRecord;
	const goOn = hanging("conversations.history", (channel) => channel !== last.id);
	await scene.start();
	await scene.until(() => peer.calls.some(({ method }) => method === "conversations.history"));
	peer.say(ada, last, "live");
	await scene.until(() => scene.host.taken.length >= 1);
	expect(peer.calls.filter(({ method }) => method === "conversations.history").length).toBeLessThan(8);
	goOn();
});

test("a press waits neither for the list of chats nor for a file in its chat", async () => {
	const { peer, host } = scene;
	const dm = peer.dm(ada);
	await scene.start();
	const { receipt } = (await scene.channel.send({
		id: "t1:1",
		destination: { platform: "slack", account: "", chatId: dm.id },
		body: { text: "May I?", plain: "May I?", buttons: [[{ id: "yes", label: "Yes" }]] },
		plain: false,
		openBlob: async function* () {},
	})) as { receipt: string };
	await scene.channel.stop();
	const listed = hanging("users.conversations");
	await scene.start();
	expect(await peer.press(ada, dm, receipt, "yes")).toBe("pressed yes");
	listed();
	const fetched = hanging("file");
	peer.say(ada, dm, "a file", { files: [{ name: "f.bin", bytes: Buffer.from("x") }] });
	await scene.until(() => peer.calls.some(({ method }) => method === "file"));
	expect(await peer.press(ada, dm, receipt, "yes")).toBe("pressed yes");
	expect(host.taken).toEqual([]);
	fetched();
	await scene.until(() => host.taken.length === 1);
});

test("a press is acknowledged when it is committed, though what it starts takes longer", async () => {
	const { peer } = scene;
	const dm = peer.dm(ada);
	let answer: (said: { readonly text: string }) => void = () => {};
	class SlowHost extends TakingHost {
		override pressed(press: Parameters<ChannelHost["pressed"]>[0]): Promise<{ readonly text: string }> {
			press.onCommitted?.();
			return new Promise((resolve) => {
				answer = resolve;
			});
		}
	}
	const channel = channelOn(peer);
	await channel.start(new SlowHost());
	await scene.until(() => channel.health().state === "connected");
	const ts = peer.say(ada, dm, "words", { silent: true });
	const shown = peer.press(ada, dm, ts, "resume");
	await scene.until(() => peer.sockets.envelopes.at(-1)?.state === "acknowledged");
	answer({ text: "resumed" });
	expect(await shown).toBe("resumed");
	await channel.stop();
});
