// A command that an earlier life accepted and did not carry out: its sender may do by then what they may do by then, and no more (I18).
import { afterEach, expect, test } from "vitest";
import { OPERATOR, puppet, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

const as = (
	...allow: { readonly id: string; readonly role: "owner" | "member" | "guest" }[]
): SceneOptions => ({
	agent: puppet,
	durable: true,
	config: { auth: { telegram: { allow } } },
});
const ADA = { id: "ada", role: "owner" } as const;

/** Bob, who may decide, says yes; Keryx dies before it does anything about it. */
async function cutOff(): Promise<string> {
	scene = await Scene.start(as(ADA, { id: "bob", role: "owner" }));
	await scene.say('call danger {"what":"it"}');
	const [asked] = await scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 1 });
	const id = asked?.id ?? "";
	await scene.store.accept({
		kind: "person",
		source: { platform: "telegram", chat_id: "bob", user_id: "bob", chat_type: "dm" },
		platformMessage: "b1",
		content: `/approve ${id}`,
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: "" },
		as: { kind: "accept" },
		asCommand: true,
		role: "owner",
	});
	return id;
}

const statusOf = async (id: string) =>
	(await scene.store.confirmation({ scope: OPERATOR, id, now: scene.clock.now() })).status;

test.each([
	["is a guest now", [ADA, { id: "bob", role: "guest" } as const]],
	["was sent away", [ADA]],
])("who %s decides nothing", async (_, allow) => {
	const id = await cutOff();
	await scene.crash(0, as(...allow));
	await scene.clock.advance(1000);
	expect(await statusOf(id)).toBe("pending");
	expect(scene.dangers).toEqual([]);
});
