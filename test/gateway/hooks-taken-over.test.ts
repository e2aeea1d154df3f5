// Which of several gateways tells hooks, and where another one continues.
import { expect, test } from "vitest";
import { HookFollower } from "../../src/gateway/lifecycle/hook-follower.ts";
import { NO_SECRETS, openStore } from "../../src/store/index.ts";
import { Scene } from "../../src/testing/conformance/store/scene.ts";
import { AUDIT_KEY } from "../support/audit-key.ts";
import { countedIds, createWallClock, HOUR } from "../support/clock.ts";

const ENDED = "turn:end";

async function twoGateways() {
	const clock = createWallClock();
	const store = await openStore({
		url: "sqlite::memory:",
		clock,
		ids: countedIds(),
		secrets: NO_SECRETS,
		auditKey: AUDIT_KEY,
	});
	const scene = new Scene({ store, clock, close: () => store.close() });
	const told: string[] = [];
	let holder = "a";
	const follower = (name: string) => {
		const shared = new Proxy(store, {
			get: (target, key) => {
				if (key === "cluster") return {};
				if (key === "takeDuty") return () => Promise.resolve({ holds: holder === name });
				return Reflect.get(target, key) as unknown;
			},
		});
		const tell = async (hook: string) => {
			told.push(`${name} ${hook}`);
		};
		const time = { now: () => clock.now(), monotonic: () => clock.now(), after: () => () => {} };
		return new HookFollower(shared, { listens: true, tell }, { clock: time, log: () => {} });
	};
	const [a, b] = [follower("a"), follower("b")];
	await a.start();
	await b.start();
	await scene.exchange("one", "1");
	await expect.poll(() => told).toContain(`a ${ENDED}`);
	await a.stop();
	const dies = () => {
		holder = "b";
		// It asks again.
		clock.advance(5000);
	};
	return { clock, scene, told, b, dies, close: () => store.close() };
}

test("a gateway that takes over the hooks tells what happened since the other one told something, once", async () => {
	const { scene, told, b, dies, close } = await twoGateways();
	await scene.exchange("two", "2");
	dies();
	b.look();
	await expect.poll(() => told).toContain(`b ${ENDED}`);
	await b.stop();
	expect(told.filter((line) => line.endsWith(ENDED))).toEqual([`a ${ENDED}`, `b ${ENDED}`]);
	await close();
});

test("what happened long before is not told", async () => {
	const { clock, scene, told, b, dies, close } = await twoGateways();
	await scene.exchange("two", "2");
	clock.advance(HOUR);
	dies();
	b.look();
	await scene.exchange("three", "3");
	await expect.poll(() => told).toContain(`b ${ENDED}`);
	await b.stop();
	expect(told.filter((line) => line.endsWith(ENDED))).toEqual([`a ${ENDED}`, `b ${ENDED}`]);
	await close();
});
