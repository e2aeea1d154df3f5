import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Config } from "../../config/index.ts";
import type { ConversationId } from "../../domain/index.ts";
import type { InboxItem, Store } from "../../store/index.ts";
import { createVirtualClock } from "../../testing/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { Unheard } from "./unheard.ts";

const ada = "ada" as ConversationId;
const item = {
	id: 7,
	kind: "person",
	conversation: ada,
	principal: "p",
	role: "owner",
	content: "hello",
	turn: null,
	disposition: null,
	command: null,
	amended: false,
	sentAt: 0,
} as unknown as InboxItem;

/** A message waits in the store, and is being accepted here until the test says so. */
function scene() {
	const added: number[] = [];
	const { promise: accepted, resolve: accept } = Promise.withResolvers<void>();
	const unheard = new Unheard({
		store: {
			waitingItems: () => Promise.resolve([item]),
			inboxItem: () => Promise.resolve(item),
			conversation: () => Promise.resolve({ busy: "queue" }),
			onFault: () => () => {},
		} as unknown as Store,
		clock: createVirtualClock(0),
		config: () => ({}) as Config,
		lanes: {
			waitingIn: () => new Set(added),
			add: (_: ConversationId, { id }: { id: number }) => added.push(id),
		} as unknown as Lanes,
		commands: { isUnderWay: () => false },
		accepted: () => accepted,
		onCommand: () => {},
		onCommit: () => {},
		log: () => {},
	});
	unheard.start();
	return { unheard, added, accept };
}

test("a message that is just being accepted here is not added a second time", async () => {
	const { unheard, added, accept } = scene();
	const refreshed = unheard.refresh(ada);
	await turnOfTheLoop();
	added.push(item.id);
	accept();
	await refreshed;
	expect(added).toEqual([item.id]);
	await unheard.stop();
});

test("one that another gateway accepted is added", async () => {
	const { unheard, added, accept } = scene();
	accept();
	await unheard.refresh(ada);
	expect(added).toEqual([item.id]);
	await unheard.stop();
});
