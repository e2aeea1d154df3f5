import { expect, test } from "vitest";
import { createVirtualClock } from "../../testing/index.ts";
import { Startup } from "./startup.ts";

const MINUTE = 60_000;

async function waiting(servers: readonly string[]) {
	const clock = createVirtualClock(0);
	const startup = new Startup(clock);
	startup.expect("session", servers);
	let state = "open";
	const ended = startup.wait().then(
		() => (state = "closed"),
		() => (state = "ended"),
	);
	return { clock, startup, ended, state: () => state };
}

test("a server that is being read keeps the gap open, however long its histories are", async () => {
	const { clock, startup, ended, state } = await waiting(["large", "small"]);
	startup.begin("large");
	startup.begin("small");
	startup.read("small");
	await clock.advance(10 * MINUTE);
	expect(state()).toBe("open");
	startup.read("large");
	await ended;
	expect(state()).toBe("closed");
});

test("a server that Discord does not describe is not waited for, but read when it comes", async () => {
	const { clock, startup, ended, state } = await waiting(["down", "large"]);
	startup.begin("large");
	await clock.advance(MINUTE);
	expect(state()).toBe("open");
	startup.read("large");
	await ended;
	expect(state()).toBe("closed");
	expect(startup.isMissing("down")).toBe(true);
});

test("a connection that is over ends the wait, and the next one waits again", async () => {
	const { clock, startup, ended, state } = await waiting(["large"]);
	startup.begin("large");
	startup.end();
	await ended;
	expect(state()).toBe("ended");
	const again = startup.wait();
	startup.begin("large");
	await clock.advance(MINUTE);
	startup.read("large");
	await again;
});
