import { afterEach, describe, expect, test } from "vitest";
import { FullChannel, type Presser, SHOWS_ALL } from "./full-channel.ts";
import { MINUTE, OPERATOR, puppet, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
let channel: FullChannel;
afterEach(() => scene.end());

const ASK = 'call danger {"what":"it"}';

async function start(options: SceneOptions = {}, shows: Partial<typeof SHOWS_ALL> = {}): Promise<void> {
	channel = new FullChannel({ shows: { ...SHOWS_ALL, ...shows } });
	scene = await Scene.start({ agent: puppet, wrap: channel.wrap, ...options });
}

/** Presses while time passes: an answer is waited for. */
async function press(label: string, by: Presser = {}): Promise<string> {
	const pressed = channel.press(channel.button(label), by);
	await scene.clock.advance(0);
	return pressed;
}

const confirmations = () => scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 10 });

describe("buttons of a question", () => {
	test("Approve does what /approve does: the call runs once, and the question's message says how it ended", async () => {
		await start();
		await scene.say(ASK);
		expect(scene.dangers).toEqual([]);
		expect(await press("Approve")).toBe("Approved: `run_danger`. Keryx does it now, once.");
		await scene.clock.advance(0);
		expect(scene.dangers).toEqual(["it"]);
		expect((await confirmations())[0]).toMatchObject({ status: "consumed", resolvedBy: "telegram:ada" });
		const [said, question, after, ...more] = scene.world.visible("ada");
		expect(said?.text).toBe("done");
		expect(question?.text).toMatch(/run_danger[\s\S]*Approved\.$/);
		expect(question?.text).not.toContain("/approve");
		expect(after?.text).toBe("done");
		expect(more).toEqual([]);
		// The edit took the buttons away.
		expect(channel.given.findLast(({ as }) => as === "edit")?.outgoing.body.buttons).toBeUndefined();
	});

	test("I7: a press proves that a question of unknown outcome is shown, and its message says how it ended", async () => {
		await start();
		scene.world.behave = ({ text }) => (text.includes("run_danger") ? "lose_ack" : "ok");
		await scene.say(ASK);
		scene.world.behave = () => "ok";
		const { receipt } = scene.world.visible("ada")[1] ?? {};
		const unknown = async () =>
			(await scene.store.unknownDeliveries({ scope: OPERATOR, since: 0 })).map(({ kind }) => kind);
		expect(await unknown()).toHaveLength(1);
		await press("Approve", { message: receipt as string });
		await scene.clock.advance(0);
		expect(await unknown()).toEqual([]);
		expect(scene.world.visible("ada")[1]?.text).toMatch(/run_danger[\s\S]*Approved\.$/);
	});

	test("Deny denies, and nothing runs", async () => {
		await start();
		await scene.say(ASK);
		expect(await press("Deny")).toBe("Denied: `run_danger`. It was not done.");
		await scene.clock.advance(0);
		expect(scene.dangers).toEqual([]);
		expect(scene.texts()[1]).toMatch(/Denied\. It was not done\.$/);
	});

	test("ids are opaque, short and hold nothing of what they do", async () => {
		await start();
		await scene.say(ASK);
		const id = (await confirmations())[0]?.id;
		for (const label of ["Approve", "Deny"]) {
			expect(Buffer.byteLength(channel.button(label))).toBeLessThanOrEqual(64);
			expect(channel.button(label)).not.toContain(id);
		}
	});

	test("pressed twice, late, elsewhere or by another: a sentence, and nothing is done", async () => {
		await start();
		await scene.say(ASK);
		expect(await press("Approve", { user: "bob", chat: "bob" })).toBe("This button no longer works.");
		expect(await press("Approve", { user: "bob", chat: "ada" })).toBe(
			"Only the person who was asked can answer this. Nothing was done.",
		);
		expect(await press("Approve", { user: "mallory", chat: "ada" })).toMatch(
			/^Only the person who was asked/,
		);
		expect((await confirmations())[0]?.status).toBe("pending");
		await press("Deny");
		expect(await press("Deny")).toBe("This button was already used. Nothing more was done.");
		expect(await press("Approve")).toMatch(/^Too late/);
		expect(scene.dangers).toEqual([]);
		const refused = (await scene.store.auditLog({ scope: OPERATOR, limit: 50 })).filter(
			({ kind }) => kind === "refused",
		);
		expect(refused.map(({ who }) => who)).toEqual(["telegram:bob"]);
	});

	test("a press is said to be committed before its command is done, whatever becomes of it", async () => {
		await start();
		await scene.say(ASK);
		const order: string[] = [];
		const pressing = async (label: string) => {
			const pressed = channel.press(channel.button(label), {
				onCommitted: () => void order.push(`${label} committed`),
			});
			await scene.clock.advance(0);
			order.push(await pressed);
		};
		await pressing("Deny");
		await pressing("Deny");
		expect(order).toEqual([
			"Deny committed",
			"Denied: `run_danger`. It was not done.",
			"Deny committed",
			"This button was already used. Nothing more was done.",
		]);
	});

	test("when time ends the question, its message says so, and the buttons do nothing", async () => {
		await start();
		await scene.say(ASK);
		await scene.clock.advance(6 * MINUTE);
		expect(scene.texts()[1]).toMatch(/Nobody answered in time\. It was not done\.$/);
		expect(await press("Approve")).toMatch(/^Too late/);
	});

	test("a decision by text ends the question's message too, and /approve stays", async () => {
		await start();
		await scene.say(ASK);
		await scene.say("/approve");
		await scene.clock.advance(0);
		expect(scene.dangers).toEqual(["it"]);
		expect(scene.texts()[1]).toMatch(/Approved\.$/);
	});

	test("in a group the owner may press what a member's turn asked, the member may not", async () => {
		await start();
		await scene.say(ASK, { chat: "room", user: "bob", chatType: "group" });
		expect(await press("Approve", { user: "carol", chat: "room" })).toMatch(/^Only the person who was asked/);
		expect(await press("Approve", { user: "ada", chat: "room" })).toMatch(/^Approved/);
		await scene.clock.advance(0);
		expect(scene.dangers).toEqual(["it"]);
	});

	test("where messages cannot be edited, the answer comes as a message", async () => {
		await start({ channel: { edit: false } }, { edit: false });
		await scene.say(ASK);
		expect(await press("Approve")).toMatch(/^Approved/);
		await scene.clock.advance(0);
		expect(scene.texts().slice(2)).toEqual([expect.stringMatching(/^Approved: /), "done"]);
	});

	test("a chat without buttons gets the question as text, as before", async () => {
		await start({}, { buttons: false });
		await scene.say(ASK);
		expect(channel.given.some(({ outgoing }) => outgoing.body.buttons)).toBe(false);
		expect(scene.texts()).toEqual([expect.stringContaining("/approve")]);
	});

	test("a press is committed with its cursor, and a crash makes it no second one; the end that was being shown is shown", async () => {
		await start({ durable: true });
		await scene.say(ASK);
		scene.world.behave = ({ kind }) => (kind === "edit" ? { delayMs: MINUTE, andThen: "lost" } : "ok");
		await press("Approve", { cursor: "7" });
		scene.world.behave = () => "ok";
		await scene.crash();
		await scene.clock.advance(0);
		expect(scene.dangers).toEqual(["it"]);
		expect(scene.texts()[1]).toMatch(/Approved\.$/);
		expect(await scene.store.channelCursor({ scope: OPERATOR, platform: "telegram", account: "" })).toBe("7");
		expect(await press("Approve")).toMatch(/^This button was already used/);
		expect(scene.dangers).toEqual(["it"]);
	});
});
