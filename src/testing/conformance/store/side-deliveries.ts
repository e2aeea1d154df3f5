// Messages next to a transcript: notices, answers to commands, why a turn failed.
import { expect } from "vitest";
import { MINUTE } from "../clock.ts";
import { ADA, BOB, delivery, OPERATOR, type Scene, type Tell } from "./scene.ts";

export function sideDeliveriesConformance(tell: Tell): void {
	tell("what was said beside a transcript is read backwards, page by page, each once", async (scene) => {
		const { conversation } = await replies(scene, ADA, "a reply");
		const elsewhere = await replies(scene, BOB, "another reply");
		for (let n = 1; n <= 5; n++) {
			await notice(scene, conversation, `notice ${n}`);
			await notice(scene, elsewhere.conversation, `of others ${n}`);
			await command(scene, `/say ${n}`, `answer ${n}`);
		}
		const all = await sideDeliveries(scene, conversation, { limit: 100 });
		expect(all.map(({ id }) => id)).toEqual(
			[1, 2, 3, 4, 5].flatMap((n) => [`notice ${n}`, `answer ${n} a`, `answer ${n} b`]),
		);
		const last = await sideDeliveries(scene, conversation, { limit: 4 });
		expect(last).toEqual(all.slice(-4));
		expect(await sideDeliveries(scene, conversation, { limit: 4, before: last[0]?.n as number })).toEqual(
			all.slice(-8, -4),
		);
		expect(await sideDeliveries(scene, conversation, { limit: 4, before: all[0]?.n as number })).toEqual([]);
		const notices = await sideDeliveries(scene, conversation, { kinds: ["notice"], limit: 2 });
		expect(notices.map(({ id }) => id)).toEqual(["notice 4", "notice 5"]);
		expect(await sideDeliveries(scene, conversation, { kinds: [], limit: 2 })).toEqual([]);
	});

	tell("the replies of turns that failed are said beside it, those of others are not", async (scene) => {
		const { conversation } = await replies(scene, ADA, "fine");
		const failed = await scene.turn("two");
		const outcome = { kind: "failed", reason: "provider_down" } as const;
		await scene.end(failed, { outcome, deliveries: [delivery("f1", "sorry"), delivery("f2", "again")] });
		await notice(scene, conversation, "n");
		await replies(scene, ADA, "fine again");
		const failures = await sideDeliveries(scene, conversation, { kinds: ["failure"] });
		expect(failures.map(({ id, kind, turn }) => [id, kind, turn])).toEqual([
			["f1", "reply", failed.turn],
			["f2", "reply", failed.turn],
		]);
		const all = await sideDeliveries(scene, conversation, {
			kinds: ["failure", "notice", "command"],
			limit: 2,
		});
		expect(all.map(({ id }) => id)).toEqual(["f2", "n"]);
		const before = all[0]?.n as number;
		expect(
			(await sideDeliveries(scene, conversation, { kinds: ["failure"], before })).map(({ id }) => id),
		).toEqual(["f1"]);
	});

	tell("the first part of an answer to a command says what was written, and when", async (scene) => {
		const { conversation } = await scene.exchange("one", "1");
		const at = scene.clock.now();
		const said = await scene.say(
			[
				{ type: "text", text: "/title" },
				{ type: "text", text: "Garden" },
			],
			ADA,
			{ platformMessage: "m7" },
		);
		scene.clock.advance(MINUTE);
		await answer(scene, said, "named");
		const [first, second] = await sideDeliveries(scene, conversation);
		expect(first?.body.asked).toEqual({
			inbox: said.id,
			platformMessage: "m7",
			platform: "telegram",
			name: "Ada",
			text: "/title\nGarden",
			at,
		});
		expect(second?.body).toEqual({ text: "named b", plain: "named b" });
	});
}

type Said = Awaited<ReturnType<Scene["say"]>>;
type SideDeliveriesArgs = Parameters<Scene["store"]["sideDeliveries"]>[0];

function sideDeliveries(
	scene: Scene,
	conversation: Said["conversation"],
	more: Partial<SideDeliveriesArgs> = {},
) {
	return scene.store.sideDeliveries({
		scope: OPERATOR,
		conversation,
		kinds: ["notice", "command"],
		limit: 10,
		...more,
	});
}

async function notice(scene: Scene, conversation: Said["conversation"], text: string): Promise<void> {
	await scene.store.notify({ conversation, deliveries: [delivery(text, text, "notice")] });
}

async function command(scene: Scene, text: string, answered: string): Promise<void> {
	await answer(scene, await scene.say(text), answered);
}

/** In two parts. */
async function answer(scene: Scene, { id, conversation }: Said, text: string): Promise<void> {
	await scene.store.performCommand({ inbox: id, command: "say", said: text });
	const deliveries = ["a", "b"].map((part) => delivery(`${text} ${part}`, `${text} ${part}`, "command"));
	await scene.store.answerCommand({ inbox: id, conversation, deliveries });
}

/** A turn that ends with this reply. */
async function replies(scene: Scene, from: typeof ADA, text: string) {
	const turn = await scene.turn("hello", from);
	await scene.reply(turn, text, { deliveries: [delivery(text, text)] });
	return turn;
}
