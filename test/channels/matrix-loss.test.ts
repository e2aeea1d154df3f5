// Events that name others by impossible ids: none of them may keep the sync from moving on.
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
