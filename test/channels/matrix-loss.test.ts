// Events that cannot be read or name others by impossible ids: none is passed over in silence, and none stops the sync.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type MatrixScene, matrixScene } from "./matrix-scene.ts";

let scene: MatrixScene;
beforeEach(async () => {
	scene = await matrixScene();
});
afterEach(() => scene.close());

test.each<[string, string]>([
	["longer than a request may be", `$${"x".repeat(40_000)}`],
	["half a character", "$\ud800"],
	["none", ""],
	["a path", ".."],
])("a reply, an edit or a reaction whose event id is %s blocks nothing", async (_, id) => {
	const { peer, host } = scene;
	const ada = peer.user("Ada");
	await scene.start();
	const room = peer.dm(ada);
	peer.say(ada, room, "reply", { more: { "m.relates_to": { "m.in_reply_to": { event_id: id } } } });
	peer.say(ada, room, "* edit", {
		more: {
			"m.new_content": { msgtype: "m.text", body: "edit" },
			"m.relates_to": { rel_type: "m.replace", event_id: id },
		},
	});
	peer.react(ada, room, id, "👍");
	peer.say(ada, room, "after");
	await scene.until(() => host.taken.some(({ content }) => content === "after"));
	expect(host.taken.map(({ content }) => content)).toEqual(["reply", "after"]);
	expect(host.edits).toEqual([]);
});

test("I3: without encryption, an encrypted message is told to be one", async () => {
	const { peer, host } = scene;
	const ada = peer.user("Ada");
	await scene.start();
	const room = peer.dm(ada);
	const content = { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "x" };
	peer.world.add(room, ada.id, { type: "m.room.encrypted", content });
	peer.say(ada, room, "after");
	await scene.until(() => host.taken.some((one) => one.content === "after"));
	expect(host.taken.map((one) => one.content)).toEqual([
		"[an encrypted message, which Keryx cannot read]",
		"after",
	]);
});
