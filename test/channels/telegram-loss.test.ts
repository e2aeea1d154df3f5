// Ways to lose an answer on Telegram, to show it twice, or to say something untrue of it, each tried on a real gateway.
import { createHash } from "node:crypto";
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StepAgent } from "../../src/agents/index.ts";
import { puppet } from "../gateway/support.ts";
import { FETCH } from "../peers/telegram/index.ts";
import { Lives, Writer } from "./gateway-life.ts";
import { channelOn } from "./telegram-scene.ts";

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

test("another bot in the place of the first is heard from its first message on, though it numbers them as that one did", async () => {
	const { peer } = lives;
	await lives.begin({ agent: puppet() });
	const first = peer.dm(ada);
	for (const text of ["one", "two"]) {
		const before = peer.answers(first).length;
		peer.say(ada, first, text);
		await expect.poll(() => peer.answers(first).length).toBe(before + 1);
	}
	await lives.end();
	const second = peer.addBot("Second");
	const dm = peer.dm(ada, second);
	peer.say(ada, dm, "hello, second");
	await lives.begin({
		agent: puppet(),
		channels: [channelOn(peer, { token: () => Promise.resolve(second.token) })],
	});
	await expect.poll(() => peer.answers(dm).length).toBe(1);
});

test("a file whose line breaks off again and again comes whole when that is over", async () => {
	const { peer } = lives;
	for (let n = 0; n < 5; n++) peer.next("lost", FETCH);
	const blobs: string[] = [];
	await lives.begin({ agent: seeing(puppet(), blobs) });
	const bytes = Uint8Array.from({ length: 50_000 }, (_, n) => n % 251);
	peer.say(ada, peer.dm(ada), "look", { file: { kind: "document", name: "a.bin", bytes } });
	await expect.poll(() => peer.answers(peer.dm(ada)).length).toBe(1);
	expect(blobs).toEqual([createHash("sha256").update(bytes).digest("hex")]);
});

/** Notes the files that an agent is shown. */
function seeing(agent: StepAgent, blobs: string[]): StepAgent {
	return {
		...agent,
		step: (input) => {
			const { content = "" } = input.history.at(-1) ?? {};
			if (typeof content !== "string")
				for (const part of content) if (part.type !== "text") blobs.push(part.blob);
			return agent.step(input);
		},
	};
}
