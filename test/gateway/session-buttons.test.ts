// A list of sessions has a button for each, where the chat shows any: for whoever asked, and nobody else.
import { afterEach, expect, test } from "vitest";
import { FullChannel, SHOWS_ALL } from "./full-channel.ts";
import { Scene } from "./support.ts";

let scene: Scene;
let channel: FullChannel;
afterEach(() => scene.end());

async function start(buttons = true): Promise<void> {
	channel = new FullChannel({ shows: { ...SHOWS_ALL, buttons } });
	scene = await Scene.start({
		wrap: channel.wrap,
		config: { auth: { telegram: { allow: [{ id: "ada", role: "owner" }, "bob"] } } },
	});
	for (const topic of ["tulips", "roses"]) {
		await scene.say(topic, { chat: "bob" });
		await scene.say("/new", { chat: "bob" });
	}
}

const labels = () =>
	channel.given
		.at(-1)
		?.outgoing.body.buttons?.flat()
		.map(({ label }) => label) ?? [];
async function press(label: string, user: string): Promise<string> {
	const pressed = channel.press(channel.button(label), { user, chat: "bob" });
	await scene.clock.advance(0);
	return pressed;
}

test.each(["/sessions", "/resume"])(
	"%s shows one for each session, and a press goes back to it, once",
	async (command) => {
		await start();
		await scene.say(command, { chat: "bob" });
		expect(labels()).toEqual(["1. roses", "2. tulips"]);
		expect(scene.texts("bob").at(-1)).toMatch(/1\. roses[\s\S]*2\. tulips/);
		expect(await press("2. tulips", "ada")).toMatch(/Only the person who was asked/);
		expect(await press("2. tulips", "bob")).toContain("You are now in session");
		expect(scene.texts("bob").at(-1)).toContain("You are now in session");
		expect(await press("2. tulips", "bob")).toContain("already used");
	},
);

test("a search has them too", async () => {
	await start();
	await scene.say("/sessions tulips", { chat: "bob" });
	expect(labels()).toHaveLength(1);
	expect(await press(labels()[0] ?? "", "bob")).toContain("You are now in session");
});

test("without buttons the text is all there is", async () => {
	await start(false);
	await scene.say("/sessions", { chat: "bob" });
	expect(labels()).toEqual([]);
	expect(scene.texts("bob").at(-1)).toMatch(/1\. roses[\s\S]*send \/resume and its number/);
});
