// What the watcher does with sessions that change while it looks at them.
import { expect, test } from "vitest";
import { Watchers } from "../../src/gateway/lifecycle/watchers.ts";
import { NO_SECRETS, openStore } from "../../src/store/index.ts";
import { ADA, BOB, OPERATOR, policy, Scene } from "../../src/testing/conformance/store/scene.ts";
import { AUDIT_KEY } from "../support/audit-key.ts";
import { countedIds, createWallClock, HOUR } from "../support/clock.ts";
import { configOf } from "./support.ts";

const IDLE = policy({ mode: "idle", idle_minutes: 60, max_messages: 0 });

test("a session that somebody resumes while its ending is told goes on, and the endings of others are finalised", async () => {
	const clock = createWallClock();
	const store = await openStore({
		url: "sqlite::memory:",
		clock,
		ids: countedIds(),
		secrets: NO_SECRETS,
		auditKey: AUDIT_KEY,
	});
	const scene = new Scene({ store, clock, close: () => store.close() });
	const resumed = await scene.exchange("one", "1", ADA, { policy: IDLE });
	const other = await scene.exchange("two", "2", BOB, { policy: IDLE });
	const logged: string[] = [];
	let told = 0;
	const watchers = new Watchers({
		store,
		// One look is enough.
		clock: { now: () => clock.now(), monotonic: () => clock.now(), after: () => () => {} },
		policyFor: () => IDLE,
		config: () => configOf({}),
		log: (message, error) => logged.push(`${message}: ${(error as Error).message}`),
		hooks: {
			listens: true,
			tell: async (_, { session }) => {
				if (session !== resumed.session || told++ > 0) return;
				await store.switchSession({
					conversation: resumed.conversation,
					policy: IDLE,
					context: "context",
					target: resumed.session,
					within: "conversation",
				});
			},
		},
	});
	try {
		for (const { session } of [resumed, other]) {
			clock.advance(2 * HOUR);
			await store.expireSession({ session, policy: IDLE });
		}
		watchers.start();
		const due = async () => {
			const all = await store.dueSessions({ scope: OPERATOR, now: clock.now(), limit: 10 });
			return all.filter(({ work }) => work === "finalise").length;
		};
		await expect.poll(due).toBe(0);
		expect((await scene.session(resumed.session)).endedAt).toBeNull();
		expect((await scene.session(other.session)).title).toBe("two");
	} finally {
		await watchers.stop();
		await store.close();
	}
	expect(logged).toEqual([]);
});

test("housekeeping goes on until nothing old is left", async () => {
	const clock = createWallClock();
	const store = await openStore({ url: "sqlite::memory:", clock, ids: countedIds(), secrets: NO_SECRETS });
	const left = { pruneEvents: 12, pruneRefused: 3, pruneRuns: 3, expireBlobs: 3 };
	const full = { pruneRuns: (n: number) => n, expireBlobs: (n: number) => ({ dropped: n }) };
	const pruning = new Proxy(store, {
		get: (target, name: keyof typeof left) => {
			if (!(name in left)) return Reflect.get(target, name);
			return async ({ limit }: { readonly limit: number }) => {
				left[name]--;
				const more = left[name] > 0;
				if (name === "pruneRuns" || name === "expireBlobs") return full[name](more ? limit : limit - 1);
				return { pruned: limit, more };
			};
		},
	});
	const watchers = new Watchers({
		store: pruning,
		clock: { now: () => clock.now(), monotonic: () => clock.now(), after: () => () => {} },
		policyFor: () => IDLE,
		config: () => configOf({}),
		log: (message, error) => expect.fail(`${message}: ${(error as Error).message}`),
		hooks: { listens: false, tell: async () => {} },
	});
	watchers.start();
	await expect
		.poll(() => left)
		.toEqual({
			pruneEvents: 0,
			pruneRefused: 0,
			pruneRuns: 0,
			expireBlobs: 0,
		});
	await watchers.stop();
	expect(left.pruneEvents).toBe(0);
	await store.close();
});
