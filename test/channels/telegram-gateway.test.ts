// The whole way on Telegram: a real gateway between a person there and an agent.
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StepAgent, StepInput } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { type Gateway, systemClock } from "../../src/gateway/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createTools } from "../../src/tools/index.ts";
import { configOf, confirmationsOn, dangerTool, puppet } from "../gateway/support.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { channelOn } from "./telegram-scene.ts";
import { gatewayOn, memoryStore, watching } from "./whole-gateway.ts";

let peer: TelegramPeer;
let ada: User;
let bob: User;
let carol: User;
let store: Store;
let gateway: Gateway;
let dangers: string[];
/** What the agent was shown. */
let shown: StepInput[];

beforeEach(async () => {
	peer = await createTelegramPeer();
	ada = peer.user("Ada");
	bob = peer.user("Bob");
	carol = peer.user("Carol");
	dangers = [];
	shown = [];
});
afterEach(async () => {
	await gateway.stop();
	await store.close();
	await peer.close();
});

async function start(agent: StepAgent, streaming = false): Promise<void> {
	const people = [bob, carol].map(({ id }) => String(id));
	const auth = { telegram: { allow: [{ id: String(ada.id), role: "owner" as const }, ...people] } };
	const config = configOf({ auth, display: { streaming } });
	store = await memoryStore();
	const confirmations = confirmationsOn(store, systemClock, config);
	gateway = gatewayOn({
		store,
		confirmations,
		agent: watching(agent, shown),
		tools: createTools([dangerTool(dangers)]),
		channels: [channelOn(peer)],
		config,
	});
	await gateway.start();
	confirmations.start();
}

describe("Telegram through a real gateway", () => {
	test("a question has buttons: another may not press them, the owner does, the call runs once and the buttons are gone", async () => {
		await start(puppet());
		const group = peer.supergroup("Team");
		const name = peer.bot.user.username;
		peer.say(bob, group, `@${name} call danger {"what":"it"}`);
		const question = () => peer.answers(group).find(({ buttons }) => buttons.length > 0);
		await expect.poll(question).toBeDefined();
		const { id, buttons } = question() ?? { id: 0, buttons: [] };
		const approve = buttons.flat().find(({ label }) => /approve/i.test(label))?.id ?? "";
		expect(await peer.press(carol, group, id, approve)).toContain("Only the person who was asked");
		expect(dangers).toEqual([]);
		expect(await peer.press(ada, group, id, approve)).toContain("Approved");
		await expect.poll(() => dangers).toEqual(["it"]);
		await expect.poll(question).toBeUndefined();
		expect(await peer.press(ada, group, id, approve)).toMatch(/pressed already|Too late|nothing/i);
		expect(dangers).toEqual(["it"]);
	});

	test("an answer is shown while it is written, by changing one message, and ends with its exact text", async () => {
		let isEnough = false;
		await start(
			{
				kind: "step",
				name: "writer",
				async *step() {
					let content = "";
					while (!isEnough) {
						yield { type: "text", delta: "word " };
						content += "word ";
						await new Promise((resolve) => systemClock.after(10, () => resolve(null)));
					}
					yield { type: "text", delta: "**end**" };
					yield {
						type: "done",
						message: { content: `${content}**end**`, toolCalls: [], finishReason: "stop" },
						usage: { ...NO_USAGE, provider: "test", model: "test" },
					};
				},
			},
			true,
		);
		const dm = peer.dm(ada);
		peer.say(ada, dm, "go on");
		await expect.poll(() => peer.answers(dm)[0]?.edits ?? 0).toBeGreaterThan(0);
		isEnough = true;
		await expect.poll(() => peer.answers(dm)[0]?.text).toMatch(/word end$/);
		expect(peer.answers(dm)).toHaveLength(1);
		expect(peer.answers(dm)[0]?.entities).toEqual(["bold"]);
	});

	test("a group goes on as the same conversation when it becomes a supergroup, and replies are quoted for the agent", async () => {
		await start(puppet());
		const group = peer.group("Team");
		const name = peer.bot.user.username;
		peer.say(bob, group, `@${name} hello`);
		await expect.poll(() => peer.answers(group)).toHaveLength(1);
		const after = peer.migrate(group, ada);
		const first = peer.say(bob, after, "the plan is green");
		peer.say(bob, after, `@${name} what was that?`, { replyTo: first });
		await expect.poll(() => peer.answers(after)).toHaveLength(1);
		const [before, later] = [shown[0], shown.at(-1)];
		expect(later?.conversation).toBe(before?.conversation);
		expect(JSON.stringify(later?.history)).toContain("the plan is green");
	});

	test("a person who blocks the bot: what was meant for them ends, and when they write again they are answered", async () => {
		let go = () => {};
		const written = new Promise<void>((resolve) => {
			go = resolve;
		});
		const slow = puppet();
		await start({
			...slow,
			async *step(input) {
				if (JSON.stringify(input.history.at(-1)).includes("slowly")) await written;
				yield* slow.step(input);
			},
		});
		const dm = peer.dm(bob);
		peer.say(bob, dm, "slowly");
		await expect.poll(() => shown).toHaveLength(1);
		peer.remove(dm, bob);
		go();
		const reply = () =>
			store.delivery({ scope: { kind: "operator" }, id: `${shown[0]?.turn}:1` }).catch(() => null);
		await expect.poll(async () => (await reply())?.state).toBe("dead");
		expect((await reply())?.reason).toMatch(/blocked/);
		peer.restore(dm, bob);
		peer.say(bob, dm, "here I am");
		await expect.poll(() => peer.answers(dm)).toHaveLength(1);
	});
});
