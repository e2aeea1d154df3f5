// A thread of the store whose caller never lets it rest.
import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { serveStore } from "./server.ts";

test("what waits for the event loop, such as the audit's witness, gets its turn however many groups follow each other", async () => {
	const { port1: inside, port2: outside } = new MessageChannel();
	outside.start();
	const ended = once(outside, "close");
	const happened: ("group" | "turn")[] = [];
	let asked = 0;
	const ask = (kind: "settings" | "close") => outside.postMessage([{ id: ++asked, kind }]);
	const reply = inside.postMessage.bind(inside);
	// Called within the thread's own loop: there is always another request before it looks.
	inside.postMessage = (message: unknown) => {
		reply(message);
		if (typeof message !== "object" || message === null || !("replies" in message)) return;
		if (happened.length === 0) setImmediate(() => happened.push("turn"));
		happened.push("group");
		if (happened.length < 100) ask("settings");
		else if (happened.length === 100) ask("close");
	};
	serveStore(inside, {
		role: "writer",
		path: ":memory:",
		startedAt: 0,
		alone: true,
		auditKey: null,
		auditWitness: null,
	});
	ask("settings");
	await ended;
	expect(happened.length).toBeGreaterThanOrEqual(100);
	expect(happened.indexOf("turn")).toBe(16);
});
