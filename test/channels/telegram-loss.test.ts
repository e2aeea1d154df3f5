// Ways to lose an answer on Telegram, to show it twice, or to say something untrue of it, each tried on a real gateway.
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Lives, Writer } from "./gateway-life.ts";

let lives: Lives;
let ada: User;
beforeEach(async () => {
	lives = await Lives.create();
	ada = lives.peer.user("Ada");
});
afterEach(() => lives.close());

const STREAMING = { display: { streaming: true } } as const;

describe("an answer that is shown while it is written", () => {
	test("is sent anew when somebody has deleted its message meanwhile", async () => {
		const { peer } = lives;
		const writer = new Writer();
		await lives.begin({ agent: writer.agent, config: STREAMING });
		const dm = peer.dm(ada);
		peer.say(ada, dm, "go on");
		await expect.poll(() => writer.asked).toBe(1);
		writer.write("first words");
		await expect.poll(() => peer.answers(dm).length).toBe(1);
		dm.messages.delete(peer.answers(dm)[0]?.id ?? 0);
		writer.write(" and last words");
		writer.finish();
		await expect.poll(() => peer.answers(dm).map(({ text }) => text)).toEqual(["first words and last words"]);
		await expect.poll(async () => (await lives.deliveries()).map(({ state }) => state)).toEqual(["sent"]);
	});

	test("is whole in the supergroup that its group has become, and changes no other message there", async () => {
		const { peer } = lives;
		const writer = new Writer();
		await lives.begin({ agent: writer.agent, config: STREAMING });
		const group = peer.group("Team");
		peer.say(ada, group, `@${peer.bot.user.username} go on`);
		await expect.poll(() => writer.asked).toBe(1);
		writer.write("first words");
		await expect.poll(() => peer.answers(group).length).toBe(1);
		const shown = peer.answers(group)[0]?.id ?? 0;
		const after = peer.migrate(group, ada);
		// In the new chat the same number is another message of this bot.
		const other = { ...peer.answers(group)[0], message_id: shown, chat: after.chat, text: "something else" };
		after.messages.set(shown, { message: other as never, bot: peer.bot.user.id, file: undefined, edits: 0 });
		writer.write(" and last words");
		writer.finish();
		await expect
			.poll(() => peer.answers(after).map(({ text }) => text))
			.toEqual(["something else", "first words and last words"]);
	});
});
