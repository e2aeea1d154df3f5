// Strangers who write to the bot: a code, a human who lets them in, and limits for those who try too often.
import { afterEach, expect, test } from "vitest";
import { codeDigest } from "../../src/gateway/index.ts";
import { HOUR, MINUTE, OPERATOR, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start({ config: PAIRING, ...options });
	return scene;
};
afterEach(() => scene.end());

const PAIRING = { auth: { telegram: { allow: [{ id: "ada", role: "owner" as const }], pairing: true } } };
const BY = { by: "operator", via: "cli" } as const;

function codes(chat: string): string[] {
	return scene.texts(chat).flatMap((text) => / telegram ([A-Z2-9]{8})\b/.exec(text)?.[1] ?? []);
}

const open = () => scene.store.pairings({ scope: OPERATOR, now: scene.clock.now() });
const approve = (code: string, role: "member" | "guest" = "member") =>
	scene.store.approvePairing({
		which: { platform: "telegram", digest: codeDigest("telegram", code) },
		role,
		welcome: "welcome",
		...BY,
	});

test("a stranger's message is refused without a trace of its text, and answered with a code and one sentence", async () => {
	await start();
	const id = await scene.say("let me in", { chat: "eve", source: { user_name: "Eve" } });
	expect(await scene.item(id)).toMatchObject({ content: null, conversation: null });
	expect(codes("eve")).toHaveLength(1);
	expect(scene.texts("eve")).toHaveLength(1);
	expect(await open()).toMatchObject([{ platform: "telegram", id: "eve", name: "Eve", state: "open" }]);
	expect(JSON.stringify(await open())).not.toContain(codes("eve")[0]);
	expect(await scene.store.conversations({ scope: OPERATOR, limit: 9 })).toEqual([]);
});

test("the operator sees the delivery of a code, though it is of no conversation; nobody else does", async () => {
	await start();
	await scene.say("let me in", { chat: "eve" });
	const read = await scene.store.events({ scope: OPERATOR, after: "", limit: 100 });
	const events = read.kind === "events" ? read.events : [];
	const id = events.find(({ type }) => type === "delivery.pending")?.subject ?? "";
	expect(await scene.store.delivery({ scope: OPERATOR, id })).toMatchObject({ id, state: "sent" });
	const eve = { kind: "principal", principal: "eve", profile: "" } as const;
	await expect(scene.store.delivery({ scope: eve, id })).rejects.toMatchObject({ code: "store.not_found" });
});

test("who is let in by the code speaks from then on, with the role they were given, until they are sent away", async () => {
	await start();
	await scene.say("hello", { chat: "eve" });
	const [code = ""] = codes("eve");
	const done = await approve(` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `, "guest");
	expect(done).toMatchObject({ kind: "done", pairing: { state: "approved", role: "guest", id: "eve" } });
	await scene.clock.advance(0);
	expect(scene.texts("eve").at(-1)).toBe("welcome");
	await scene.say("hello again", { chat: "eve" });
	expect(scene.texts("eve").at(-1)).toBe("you said hello again");
	await scene.say("/new", { chat: "eve" });
	expect(scene.texts("eve").at(-1)).toContain("You cannot use");
	await scene.store.denyPairing({ which: { n: (await open())[0]?.n as number }, ...BY });
	expect(await scene.disposition(await scene.say("still here?", { chat: "eve" }))).toBe("refused");
	const audited = await scene.store.auditLog({ scope: OPERATOR, limit: 9 });
	expect(audited.map(({ kind }) => kind).sort()).toEqual(["paired", "unpaired"]);
});

test("a sender gets one code in ten minutes, and the new one alone holds then; a code holds for an hour", async () => {
	await start();
	for (const text of ["one", "two", "three"]) await scene.say(text, { chat: "eve" });
	expect(codes("eve")).toHaveLength(1);
	await scene.clock.advance(11 * MINUTE);
	await scene.say("four", { chat: "eve" });
	const [first = "", second = ""] = codes("eve");
	expect(await open()).toHaveLength(1);
	expect(await approve(first)).toMatchObject({ kind: "wrong", left: 4 });
	await scene.clock.advance(HOUR);
	expect(await open()).toEqual([]);
	expect(await approve(second)).toMatchObject({ kind: "wrong", left: 3 });
});

test("five wrong codes lock a platform for an hour, for the right code too; a number of the list still works", async () => {
	await start();
	await scene.say("hello", { chat: "eve" });
	const [code = ""] = codes("eve");
	for (const left of [4, 3, 2, 1]) expect(await approve("AAAAAAAA")).toEqual({ kind: "wrong", left });
	expect(await approve("AAAAAAAA")).toMatchObject({ kind: "locked" });
	expect(await approve(code)).toMatchObject({ kind: "locked" });
	const [{ n } = { n: 0 }] = await open();
	expect(
		await scene.store.approvePairing({ which: { n }, role: "member", welcome: "hi", ...BY }),
	).toMatchObject({
		kind: "done",
	});
});

test("only so many requests are open at once, and a flood of strangers takes nobody's code away", async () => {
	await start();
	for (let n = 0; n < 60; n++) scene.world.say({ chat: `stranger-${n}`, text: "hi" });
	await scene.clock.advance(0);
	expect(await open()).toHaveLength(50);
	expect(codes("stranger-59")).toEqual([]);
	expect(await approve(codes("stranger-0")[0] ?? "")).toMatchObject({ kind: "done" });
});

test("nobody gets a code in a group, as a bot, on behalf of somebody else, or where pairing is off", async () => {
	await start();
	await scene.say("hi", { chat: "g", chatType: "group", user: "eve" });
	await scene.say("hi", { chat: "robot", transport: { isBot: true } });
	await scene.gateway.accept({
		source: { platform: "telegram", chat_id: "eve", user_id: "eve" },
		platformMessage: "x",
		content: "hi",
	});
	await scene.clock.advance(0);
	expect([await open(), scene.world.visible()]).toEqual([[], []]);
});
