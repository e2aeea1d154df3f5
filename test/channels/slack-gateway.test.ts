// The whole way on Slack: a real gateway between people there and an agent.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StepAgent, StepInput } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { type Gateway, systemClock } from "../../src/gateway/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createTools } from "../../src/tools/index.ts";
import { configOf, confirmationsOn, dangerTool, puppet } from "../gateway/support.ts";
import { createSlackPeer, type Person, type SlackPeer } from "../peers/slack/index.ts";
import { channelOn, QUICK } from "./slack-scene.ts";
import { gatewayOn, memoryStore, watching } from "./whole-gateway.ts";

let peer: SlackPeer;
let ada: Person;
let bob: Person;
let carol: Person;
let store: Store;
let gateway: Gateway;
let dangers: string[];
/** What the agent was shown. */
let shown: StepInput[];

beforeEach(async () => {
	peer = await createSlackPeer(QUICK);
	ada = peer.user("Ada");
	bob = peer.user("Bob");
	carol = peer.user("Carol");
	dangers = [];
	shown = [];
	store = await memoryStore();
});
afterEach(async () => {
	await gateway.stop();
	await store.close();
	await peer.close();
});

async function start(agent: StepAgent = puppet(), streaming = false): Promise<void> {
	const auth = { slack: { allow: [{ id: ada.id, role: "owner" as const }, bob.id, carol.id] } };
	const config = configOf({ auth, display: { streaming } });
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
	await expect.poll(() => peer.sockets.open.size).toBe(1);
}

describe("Slack through a real gateway", () => {
	test("a question has buttons: another may not press them, the owner does, the call runs once and the buttons are gone", async () => {
		await start();
		const team = peer.channel("team");
		for (const person of [ada, carol]) team.members.add(person.id);
		peer.say(bob, team, `${peer.mention} call danger {"what":"it"}`);
		const question = () => peer.answers(team).find(({ buttons }) => buttons.length > 0);
		await expect.poll(question).toBeDefined();
		const { ts, buttons } = question() ?? { ts: "", buttons: [] };
		const approve = buttons.find(({ label }) => /approve/i.test(label))?.id ?? "";
		expect(await peer.press(carol, team, ts, approve)).toContain("Only the person who was asked");
		expect(dangers).toEqual([]);
		expect(await peer.press(ada, team, ts, approve)).toContain("Approved");
		await expect.poll(() => dangers).toEqual(["it"]);
		await expect.poll(question).toBeUndefined();
		expect(await peer.press(ada, team, ts, approve)).toMatch(/pressed already|Too late|nothing/i);
		expect(dangers).toEqual(["it"]);
	});

	test("a direct message, a thread and a channel are answered where they were asked, in a conversation each; a bot is not", async () => {
		await start();
		const dm = peer.dm(ada);
		const team = peer.channel("team");
		peer.say(ada, dm, "hello");
		const ts = peer.say(bob, team, `${peer.mention} first`);
		await expect.poll(() => peer.answers(team)).toMatchObject([{ thread: undefined }]);
		peer.say(bob, team, "the plan is green", { thread: ts });
		peer.say(peer.bot("Robot"), team, `${peer.mention} beep`, { thread: ts });
		peer.say(carol, team, `${peer.mention} what was that?`, { thread: ts });
		await expect.poll(() => peer.answers(team).filter(({ thread }) => thread === ts)).toHaveLength(1);
		await expect.poll(() => peer.answers(dm)).toHaveLength(1);
		expect(new Set(shown.map(({ conversation }) => conversation)).size).toBe(3);
		const asked = JSON.stringify(shown.at(-1)?.history);
		expect(asked).toContain("the plan is green");
		expect(asked).toContain("first");
		expect(asked).not.toContain("beep");
	});

	test("a slash command is a command, and its answer stands where it was used", async () => {
		await start();
		const dm = peer.dm(ada);
		const command = peer.command(ada, dm, "/keryx", "status");
		await expect.poll(() => peer.answers(dm)).toHaveLength(1);
		expect(command.state).toBe("acknowledged");
		expect(shown).toEqual([]);
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
					yield { type: "text", delta: "**end** <@U1>" };
					yield {
						type: "done",
						message: { content: `${content}**end** <@U1>`, toolCalls: [], finishReason: "stop" },
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
		await expect.poll(() => peer.answers(dm)[0]?.raw).toMatch(/word \*end\* &lt;@U1&gt;$/);
		expect(peer.answers(dm)).toHaveLength(1);
	});

	test("a channel that the app was removed from: what was meant for it ends, and when it is asked there again it answers", async () => {
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
		const team = peer.channel("team");
		peer.say(bob, team, `${peer.mention} slowly`);
		await expect.poll(() => shown).toHaveLength(1);
		peer.kick(team);
		go();
		const reply = () =>
			store.delivery({ scope: { kind: "operator" }, id: `${shown[0]?.turn}:1` }).catch(() => null);
		await expect.poll(async () => (await reply())?.state).toBe("dead");
		expect((await reply())?.reason).toMatch(/removed/);
		peer.invite(team);
		peer.say(bob, team, `${peer.mention} here I am`);
		await expect.poll(() => peer.answers(team)).toHaveLength(1);
	});

	test("an answer whose receipt was lost is looked up: it stands there once, and counts as sent", async () => {
		await start();
		const dm = peer.dm(ada);
		peer.next("lose_ack", "chat.postMessage");
		peer.say(ada, dm, "hello");
		await expect.poll(() => shown).toHaveLength(1);
		const reply = () =>
			store.delivery({ scope: { kind: "operator" }, id: `${shown[0]?.turn}:1` }).catch(() => null);
		await expect.poll(async () => (await reply())?.state).toBe("sent");
		expect(peer.answers(dm)).toHaveLength(1);
		expect((await reply())?.receipt).toBe(peer.answers(dm)[0]?.ts);
	});

	test("a restart reads the last minutes of a chat again, and hands in only what is new", async () => {
		await start();
		const dm = peer.dm(ada);
		peer.say(ada, dm, "a file", { files: [{ name: "f.bin", bytes: Buffer.from("x") }] });
		await expect.poll(() => peer.answers(dm)).toHaveLength(1);
		await gateway.stop();
		peer.say(ada, dm, "away", { silent: true });
		const before = peer.calls.length;
		await start();
		await expect.poll(() => peer.answers(dm)).toHaveLength(2);
		const methods = peer.calls.slice(before).map(({ method }) => method);
		expect(methods).toContain("conversations.history");
		expect(methods).not.toContain("file");
	});

	test("what was written while Keryx was away is answered in order after the start, once, threads with it", async () => {
		await start();
		const dm = peer.dm(ada);
		const team = peer.channel("team");
		const ts = peer.say(bob, team, `${peer.mention} before`);
		await expect.poll(() => peer.answers(team)).toHaveLength(1);
		await gateway.stop();
		// Slack has given up to deliver these: only the history has them.
		for (let n = 0; n < 5; n++) peer.say(ada, dm, `away ${n}`, { silent: true });
		peer.say(bob, team, `${peer.mention} in the thread`, { thread: ts, silent: true });
		await start();
		await expect.poll(() => peer.answers(team).filter(({ thread }) => thread === ts)).toHaveLength(1);
		const wanted = Array.from({ length: 5 }, (_, n) => `away ${n}`);
		const heard = () => {
			const said = JSON.stringify(shown.map(({ history }) => history.at(-1)?.content));
			return wanted.filter((text) => said.includes(text));
		};
		await expect.poll(heard).toEqual(wanted);
		const { events } = (await store.events({
			scope: { kind: "operator" },
			after: "",
			limit: 1000,
		})) as { events: readonly { readonly type: string }[] };
		expect(events.filter(({ type }) => type === "inbound.accepted")).toHaveLength(7);
	});
});
