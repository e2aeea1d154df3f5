import { expect, test } from "vitest";
import { createVirtualClock } from "../../testing/index.ts";
import type { Channel, Outgoing } from "../channel.ts";
import { removable } from "./leaving.ts";

const outgoing: Outgoing = {
	id: "one:1",
	destination: { platform: "telegram", account: "", chatId: "1" },
	body: { text: "hello", plain: "hello" },
	plain: false,
	openBlob: () => {
		throw new Error("there are no files");
	},
};

test("without a lease nothing is sent or edited, and with it everything is", async () => {
	const asked: string[] = [];
	let holds = true;
	const channel: Channel = {
		name: "telegram",
		platform: "telegram",
		account: "",
		start: () => Promise.resolve(),
		stop: () => Promise.resolve(),
		send: ({ id }) => {
			asked.push(`send ${id}`);
			return Promise.resolve({ kind: "sent", receipt: "r" });
		},
		edit: (receipt) => {
			asked.push(`edit ${receipt}`);
			return Promise.resolve({ kind: "sent", receipt });
		},
		health: () => ({ state: "connected", aliveAt: 0 }),
	};
	const fenced = removable(channel, createVirtualClock(0), () => holds);
	holds = false;
	expect(await fenced.send(outgoing)).toMatchObject({ kind: "retry" });
	expect(await fenced.edit?.("r", outgoing)).toMatchObject({ kind: "retry" });
	expect(asked).toEqual([]);
	holds = true;
	await fenced.send(outgoing);
	await fenced.edit?.("r", outgoing);
	expect(asked).toEqual(["send one:1", "edit r"]);
});
