// The peer by hand, with Keryx's channel at the other end.
import { expect, test } from "vitest";
import { Talk } from "../peers/slack/talk.ts";
import { slackScene } from "./slack-scene.ts";

test("somebody at a terminal writes, goes to a channel, presses a button, and sees what the app shows", async () => {
	const scene = await slackScene();
	const { peer, channel, host } = scene;
	const printed: string[] = [];
	const talk = new Talk(peer, (line) => printed.push(line));
	await scene.start();
	await talk.line("hello");
	await scene.until(() => host.taken.length === 1);
	const sent = await channel.send({
		id: "d1",
		destination: { platform: "slack", account: "", chatId: String(host.taken[0]?.source.chat_id) },
		body: { text: "*sure?*", plain: "sure?", buttons: [[{ id: "y", label: "Yes" }]] },
		plain: false,
		openBlob: async function* () {},
	});
	const receipt = sent.kind === "sent" ? sent.receipt : "";
	await talk.line(`:press ${receipt} 1`);
	for (const line of [":channel plans", "@keryx grow", ":keryx status", ":nonsense", ":press 99 1"])
		await talk.line(line);
	await scene.until(() => host.taken.length === 3);
	expect(host.taken[1]).toMatchObject({ content: "grow", mentioned: true, source: { chat_name: "plans" } });
	expect(host.taken[2]?.content).toBe("/status");
	expect(printed).toContain(`< ${receipt} Keryx: *sure?* [1: Yes]`);
	expect(printed).toContain("  (shown: pressed y)");
	expect(printed).toContain("! there is no such button");
	expect(await talk.line(":quit")).toBe(false);
	await scene.close();
});
