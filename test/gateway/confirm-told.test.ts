// A question that reached nobody who could answer it says so.
import { afterEach, expect, test } from "vitest";
import { OPERATOR, puppet, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

const start = async (options: SceneOptions = {}) => {
	scene = await Scene.start({
		...options,
		agent: puppet,
		config: {
			auth: {
				telegram: {
					allow: [
						{ id: "ada", role: "owner" },
						{ id: "gus", role: "guest" },
					],
				},
			},
			tools: { by_role: { guest: ["danger"] } },
			...options.config,
		},
	});
};
const ask = (user: string) => scene.say('call danger {"what":"it"}', { chat: user, user });
const notices = async () => {
	const now = scene.clock.now();
	const [asked] = await scene.store.confirmations({ scope: OPERATOR, now, limit: 1 });
	return asked?.notices;
};

test("the reply that puts the question counts as told", async () => {
	await start();
	await ask("ada");
	expect(await notices()).toEqual([{ to: "telegram:ada", state: "sent" }]);
});

test("a reply that the platform refused told nobody", async () => {
	await start();
	scene.world.behave = () => "refuse";
	await ask("ada");
	expect(await notices()).toEqual([{ to: "telegram:ada", state: "dead" }]);
});

test("a guest's own chat tells nobody who can answer, and the guest is told so", async () => {
	await start();
	await ask("gus");
	expect(await notices()).toEqual([]);
	expect(scene.texts("gus").at(-1)).toContain(
		"Only the owner can answer, but they could not be told: ask them yourself.",
	);
});

test("where the owner's chat is told, the guest only waits", async () => {
	await start({ config: { confirmations: { notify: [{ platform: "telegram", chat_id: "ada" }] } } });
	await ask("gus");
	expect(await notices()).toEqual([{ to: "telegram:ada", state: "sent" }]);
	expect(scene.texts("gus").at(-1)).toMatch(/Only the owner can answer\.$/);
});
