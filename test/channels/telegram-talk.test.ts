// The peer by hand, with Keryx's channel at the other end.
import { expect, test } from "vitest";
import { Talk } from "../peers/telegram/talk.ts";
import { telegramScene } from "./telegram-scene.ts";

test("somebody at a terminal writes, goes to a topic, presses a button, and sees what the bot shows", async () => {
	const scene = await telegramScene();
	const { peer, channel, host } = scene;
	const printed: string[] = [];
	const talk = new Talk(peer, (line) => printed.push(line));
	await scene.start();
	await talk.line("hello");
	await scene.until(() => host.taken.length === 1);
	const buttons = [[{ id: "y", label: "Yes" }]];
	const sent = await channel.send({
		id: "d1",
		destination: { platform: "telegram", account: "", chatId: String(talk.person.id) },
		body: { text: "<b>sure?</b>", plain: "sure?", buttons },
		plain: false,
		openBlob: async function* () {},
	});
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	await talk.line(`:press ${receipt} 1`);
	for (const line of [":forum Plans", ":topic Garden", "grow", ":nonsense", ":press 99 1"])
		await talk.line(line);
	await scene.until(() => host.taken.length === 2);
	expect(host.taken[1]?.source).toMatchObject({ chat_name: "Plans", chat_topic: "Garden" });
	expect(printed).toContain(`< ${receipt} Keryx: sure? [1: Yes]`);
	expect(printed).toContain("  (shown: pressed y)");
	expect(printed).toContain("! there is no such button");
	expect(await talk.line(":quit")).toBe(false);
	await scene.close();
});
