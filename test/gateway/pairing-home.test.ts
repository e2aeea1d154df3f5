// Whoever runs Keryx is asked about a stranger in the home channel: by buttons that owners alone may press, with the code to compare.
import { afterEach, expect, test } from "vitest";
import { FullChannel, type Presser } from "./full-channel.ts";
import { HOUR, OPERATOR, Scene } from "./support.ts";

let scene: Scene;
let channel: FullChannel;
afterEach(() => scene.end());

async function start(): Promise<void> {
	channel = new FullChannel();
	scene = await Scene.start({
		wrap: channel.wrap,
		config: {
			auth: {
				telegram: {
					pairing: true,
					allow: [{ id: "ada", role: "owner" }, "bob", { id: "eve", role: "guest" }],
				},
			},
		},
	});
	await scene.say("/sethome");
}

const ask = (user: string, name = user) => scene.say("hi", { chat: user, source: { user_name: name } });
const paired = async () =>
	(await scene.store.pairings({ scope: OPERATOR, now: scene.clock.now() })).map(
		({ id, state, role, decidedBy }) => [id, state, role, decidedBy],
	);
async function press(label: string, by: Presser = {}): Promise<string> {
	const pressed = channel.press(channel.button(label), by);
	await scene.clock.advance(0);
	return pressed;
}
const questions = () => scene.texts().filter((text) => text.includes("wants to talk to your agent"));

test("the owner lets somebody in by a button, and the code of the question is theirs", async () => {
	await start();
	await ask("zoe", "Zoe");
	const [code = "?"] = /[A-Z2-9]{8}/.exec(scene.texts("zoe")[0] ?? "") ?? [];
	expect(questions()).toEqual([expect.stringMatching(new RegExp(`Zoe[\\s\\S]*zoe[\\s\\S]*${code}`))]);
	expect(await press("Let in")).toContain("can now write here as a member");
	expect(await paired()).toEqual([["zoe", "approved", "member", "telegram:ada"]]);
	expect(scene.texts("zoe").at(-1)).toContain("You are in");
	expect(await press("Let in")).toContain("already used");
	await scene.say("hello", { chat: "zoe" });
	expect(scene.texts("zoe").at(-1)).toContain("hello");
});

test("as a guest, refused, and what was decided before stays decided", async () => {
	await start();
	await ask("zoe");
	await press("Let in as a guest");
	expect(await paired()).toEqual([["zoe", "approved", "guest", "telegram:ada"]]);
	await ask("yan");
	expect(await press("Deny")).toContain("was denied");
	expect(await press("Let in")).toContain("is denied");
	expect(await paired()).toEqual([["zoe", "approved", "guest", "telegram:ada"]]);
});

test("nobody but an owner lets anybody in: not the stranger, a member, a guest, and not after an hour", async () => {
	await start();
	await ask("zoe");
	for (const user of ["zoe", "bob", "eve"])
		expect(await press("Let in", { user, chat: "ada" })).toMatch(/Only the person who was asked/);
	for (const chat of ["bob", "eve", "zoe"]) await scene.say("/pair approve 1", { chat });
	expect(await paired()).toEqual([["zoe", "open", null, null]]);
	await scene.clock.advance(HOUR);
	expect(await press("Let in")).toMatch(/^Too late/);
	expect(await paired()).toEqual([]);
});

test("by command, where there are no buttons: listed by number, never as an owner", async () => {
	await start();
	await scene.say("/pair");
	expect(scene.texts().at(-1)).toBe("Nobody is waiting to be let in.");
	await ask("zoe");
	await scene.say("/pair");
	expect(scene.texts().at(-1)).toMatch(/1 person is waiting[\s\S]*1: [\s\S]*zoe/);
	for (const wrong of ["/pair approve 1 owner", "/pair approve", "/pair deny 1 guest", "/pair approve 99"])
		await scene.say(wrong);
	expect(await paired()).toEqual([["zoe", "open", null, null]]);
	await scene.say("/pair approve 1");
	expect(await paired()).toEqual([["zoe", "approved", "member", "telegram:ada"]]);
});

test("a name cannot turn, hide or add lines of the question", async () => {
	await start();
	await ask("zoe", "Ada\n\u202eThey were sent the code `AAAAAAAA`\u2066 [x](https://e.example) @everyone");
	const [question = ""] = questions();
	expect(question.split("\n")).toHaveLength(3);
	expect(question).not.toMatch(/[\u202e\u2066]/);
	expect(question).not.toContain("<a ");
});

test("strangers cannot fill the home channel", async () => {
	await start();
	for (let n = 0; n < 20; n++) await ask(`stranger${n}`);
	expect(questions()).toHaveLength(5);
	expect(await paired()).toHaveLength(20);
});

test("in a home channel that others read, the code is not shown", async () => {
	await start();
	const room = { chat: "room", chatType: "group" as const, user: "ada" };
	await scene.say("/sethome", room);
	await ask("zoe");
	const [code = "?"] = /[A-Z2-9]{8}/.exec(scene.texts("zoe")[0] ?? "") ?? [];
	expect(scene.texts("room").at(-1)).toContain("wants to talk to your agent");
	expect(JSON.stringify(scene.texts("room"))).not.toContain(code);
	expect(await press("Let in", { user: "bob", chat: "room" })).toMatch(/Only the person who was asked/);
	expect(await press("Let in", { user: "ada", chat: "room" })).toContain("can now write here as a member");
});
