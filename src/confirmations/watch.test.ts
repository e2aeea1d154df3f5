import { expect, test } from "vitest";
import type { Store } from "../store/index.ts";
import { createVirtualClock } from "../testing/index.ts";
import { Watch } from "./watch.ts";

const WEBHOOK = "https://example.org/told";

test("a webhook of a request at another gateway is told by the one that has the duty, and a deadline of one that died is kept", async () => {
	const clock = createVirtualClock(Date.UTC(2026, 2, 10, 12));
	const listeners = { committed: () => {}, died: () => {} };
	let notices: number[] = [];
	let settled = 0;
	let deadlines = 0;
	const store = {
		cluster: {
			onCommitElsewhere: (listener: () => void) => {
				listeners.committed = listener;
				return () => {};
			},
			onNodeDead: (listener: () => void) => {
				listeners.died = listener;
				return () => {};
			},
		},
		onFault: () => () => {},
		takeDuty: async () => ({ holds: true }),
		expireConfirmations: async () => {
			deadlines++;
			return { expired: 0, woken: [] };
		},
		confirmationWork: async () => ({ nextDueAt: null, nextNoticeAt: notices[0] ?? null }),
		dueConfirmationNotices: async () =>
			notices.map(() => ({ target: WEBHOOK, attempts: 0, confirmation: { id: "c1", status: "pending" } })),
		settleConfirmationNotice: async () => {
			notices = [];
			settled++;
		},
	} as unknown as Store;
	const watch = new Watch({
		store,
		clock,
		// No longer configured: it is settled without a call.
		webhook: () => undefined,
		woken: () => {},
		log: (_, error) => {
			throw error;
		},
	});
	watch.start();
	await clock.advance(0);
	expect(deadlines).toBe(1);
	notices = [clock.now()];
	listeners.committed();
	await clock.advance(1000);
	expect(settled).toBe(1);
	const before = deadlines;
	listeners.died();
	await clock.advance(0);
	expect(deadlines).toBe(before + 1);
	await watch.stop();
});
