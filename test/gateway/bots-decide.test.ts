// A bot is nobody's human (I14): it may be listened to, with whatever role, and decides nothing.
import { afterEach, describe, expect, test } from "vitest";
import { FullChannel } from "./full-channel.ts";
import { OPERATOR, puppet, Scene } from "./support.ts";

let scene: Scene;
let channel: FullChannel;
afterEach(() => scene.end());

const ASK = 'call danger {"what":"it"}';
const ROBOT = { chat: "robot", user: "robot", transport: { isBot: true } } as const;

async function start(): Promise<string> {
	channel = new FullChannel();
	scene = await Scene.start({
		agent: puppet,
		wrap: channel.wrap,
		config: {
			auth: {
				telegram: {
					allow_bots: true,
					allow: [
						{ id: "ada", role: "owner" },
						{ id: "robot", role: "owner" },
					],
				},
			},
		},
	});
	await scene.say(ASK);
	const [asked] = await scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 1 });
	return asked?.id ?? "";
}

const status = async (id: string) =>
	(await scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 9 })).find(
		(one) => one.id === id,
	)?.status;

describe("a bot that may write as an owner", () => {
	test("approves nothing by command, and is told why", async () => {
		const id = await start();
		await scene.say(`/approve ${id}`, ROBOT);
		expect(await status(id)).toBe("pending");
		expect(scene.dangers).toEqual([]);
		expect(scene.texts("robot").at(-1)).toMatch(/Bots cannot decide/);
	});

	test("denies nothing, and changes no setting", async () => {
		const id = await start();
		await scene.say(`/deny ${id}`, ROBOT);
		expect(await status(id)).toBe("pending");
		await scene.say("/sethome", ROBOT);
		expect(await scene.store.homeChannels({ scope: OPERATOR })).toEqual([]);
	});

	test("presses nothing", async () => {
		const id = await start();
		const pressed = channel.press(channel.button("Approve"), {
			user: "robot",
			chat: "ada",
			transport: { isBot: true },
		});
		await scene.clock.advance(0);
		expect(await pressed).toMatch(/Only the person who was asked/);
		expect(await status(id)).toBe("pending");
	});
});

describe("somebody whom the platform does not vouch for", () => {
	const NICK = { chat: "ada", user: "ada", transport: { unproven: true } } as const;

	test("speaks with their role, and approves nothing, by command or by button", async () => {
		const id = await start();
		await scene.say("hello", NICK);
		expect(scene.texts("ada").at(-1)).not.toMatch(/does not say who you are/);
		await scene.say(`/approve ${id}`, NICK);
		expect(await status(id)).toBe("pending");
		expect(scene.dangers).toEqual([]);
		expect(scene.texts("ada").at(-1)).toMatch(/does not say who you are/);
		const pressed = channel.press(channel.button("Approve"), NICK);
		await scene.clock.advance(0);
		expect(await pressed).toMatch(/Only the person who was asked/);
		expect(await status(id)).toBe("pending");
		await scene.say(`/approve ${id}`);
		expect(await status(id)).not.toBe("pending");
	});

	test("may ask to be let in", async () => {
		await start();
		await scene.say("hello", { chat: "eve", user: "eve", transport: { unproven: true } });
		expect(scene.texts("eve").at(-1)).toMatch(/[A-Z0-9]{8}/);
	});
});
