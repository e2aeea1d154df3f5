import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Config } from "../../config/index.ts";
import type { ConversationId } from "../../domain/index.ts";
import type { InboxItem, Store } from "../../store/index.ts";
import { createVirtualClock } from "../../testing/index.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { isTooOld, type Waiting } from "./batch.ts";
import { Unheard } from "./unheard.ts";

const ada = "ada" as ConversationId;
const hello = {
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
	acceptedAt: 0,
	sentAt: 0,
} as unknown as InboxItem;

/** A message waits in the store, and is being accepted here until the test says so. */
function scene(item: InboxItem = hello) {
	const added: number[] = [];
	const waiting: Waiting[] = [];
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
			add: (_: ConversationId, one: Waiting) => {
				added.push(one.id);
				waiting.push(one);
			},
		} as unknown as Lanes,
		commands: { isUnderWay: () => false },
		accepted: () => accepted,
		onCommand: () => {},
		onCommit: () => {},
		log: () => {},
	});
	unheard.start();
	return { unheard, added, waiting, accept };
}

test("a message that is just being accepted here is not added a second time", async () => {
	const { unheard, added, accept } = scene();
	const refreshed = unheard.refresh(ada);
	await turnOfTheLoop();
	added.push(hello.id);
	accept();
	await refreshed;
	expect(added).toEqual([hello.id]);
	await unheard.stop();
});

test("one that another gateway accepted is added", async () => {
	const { unheard, added, accept } = scene();
	accept();
	await unheard.refresh(ada);
	expect(added).toEqual([hello.id]);
	await unheard.stop();
});

const HOUR_MS = 3_600_000;

test.each([
	{
		name: "kept by its platform for hours before another gateway accepted it",
		acceptedAt: 5 * HOUR_MS,
		expires: true,
	},
	{
		name: "accepted by another gateway at once, and waiting for a long turn since",
		acceptedAt: 1000,
		expires: false,
	},
])("a message $name: too old $expires", async ({ acceptedAt, expires }) => {
	const { unheard, waiting, accept } = scene({ ...hello, acceptedAt });
	accept();
	await unheard.refresh(ada);
	expect(waiting.map((one) => isTooOld(one, 6 * HOUR_MS, { max_age_minutes: 60 }))).toEqual([expires]);
	await unheard.stop();
});
