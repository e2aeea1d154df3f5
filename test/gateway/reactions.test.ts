// 👍 and 👎 at a question's message, where a platform shows no buttons: an answer by the same way as a typed one, and only if it is asked for.
import { afterEach, describe, expect, test } from "vitest";
import type { Reaction } from "../../src/gateway/channel.ts";
import { FullChannel, SHOWS_ALL } from "./full-channel.ts";
import { MINUTE, OPERATOR, puppet, Scene } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

async function start(confirmByReaction = true, buttons = false): Promise<void> {
	const channel = new FullChannel({ shows: { ...SHOWS_ALL, buttons } });
	scene = await Scene.start({
		agent: puppet,
		wrap: channel.wrap,
		settings: { confirmByReaction },
		config: {
			auth: {
				telegram: {
					allow_bots: true,
					allow: [
						{ id: "ada", role: "owner" },
						"bob",
						{ id: "eve", role: "guest" },
						{ id: "robot", role: "owner" },
					],
				},
			},
		},
	});
	await scene.say('call danger {"what":"it"}');
}

const status = async () =>
	(await scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 1 }))[0]?.status;

/** The receipt of the question's message. */
const question = () => scene.world.visible("ada").at(-1)?.receipt ?? "";

async function react(emoji: string, by = "ada", more: Partial<Reaction> = {}): Promise<void> {
	const reacted = scene.host.reacted({
		source: { platform: "telegram", chat_id: "ada", chat_type: by === "ada" ? "dm" : "group", user_id: by },
		platformMessage: question(),
		emoji,
		on: "own",
		...more,
	});
	await scene.clock.advance(0);
	await reacted;
	await scene.clock.advance(0);
}

describe("with confirm_by_reaction", () => {
	test.each(["👍", "👍🏽", "+1", ":thumbsup::skin-tone-3:"])(
		"%s says yes, once, and the answer is a message",
		async (emoji) => {
			await start();
			expect(scene.texts().at(-1)).toContain("react to this message: 👍");
			await react(emoji);
			expect(scene.dangers).toEqual(["it"]);
			expect(await status()).toBe("consumed");
			expect(scene.texts().join("\n")).toContain("Approved");
			await react(emoji);
			expect(scene.dangers).toEqual(["it"]);
		},
	);

	test("👎 says no", async () => {
		await start();
		await react("👎");
		expect(await status()).toBe("denied");
		expect(scene.dangers).toEqual([]);
	});

	test("another sign, another message, another chat and another person decide nothing", async () => {
		await start();
		const [answer] = scene.world.visible("ada");
		await react("❤️");
		await react("👍", "ada", { platformMessage: answer?.receipt ?? "" });
		await react("👍", "ada", { platformMessage: "nothing" });
		await react("👍", "ada", {
			source: { platform: "telegram", chat_id: "bob", chat_type: "dm", user_id: "ada" },
		});
		for (const other of ["bob", "eve", "mallory"]) await react("👍", other);
		await react("👍", "robot", { transport: { isBot: true } });
		expect(await status()).toBe("pending");
		expect(scene.dangers).toEqual([]);
	});

	test("too late, it decides nothing", async () => {
		await start();
		const receipt = question();
		await scene.clock.advance(6 * MINUTE);
		await react("👍", "ada", { platformMessage: receipt });
		expect(await status()).toBe("expired");
		expect(scene.dangers).toEqual([]);
	});
});

test.each([
	["unless it is asked for", false, false],
	["where there are buttons", true, true],
])("a reaction decides nothing %s", async (_, confirmByReaction, buttons) => {
	await start(confirmByReaction, buttons);
	expect(scene.texts().join("\n")).not.toContain("👍");
	await react("👍");
	expect(await status()).toBe("pending");
});
