// Our own ways in: the terminal, the page, the API, webhooks, jobs. What is said to them needs no transport: they follow the events, so a delivery
// has arrived as soon as it is committed, and a client that was away reads it when it is back.
import type { OwnPlatform } from "../../domain/index.ts";
import type { Channel } from "../../gateway/index.ts";

export function createLocalChannel(
	platform: OwnPlatform | "webhook" | "schedule",
	now: () => number,
): Channel {
	let started = false;
	return {
		name: platform,
		platform,
		account: "",
		everywhere: true,
		start: () => {
			started = true;
			return Promise.resolve();
		},
		stop: () => {
			started = false;
			return Promise.resolve();
		},
		send: ({ id }) => Promise.resolve({ kind: "sent", receipt: id }),
		// Sending has no effect outside the store: what was cut off in the middle of it has arrived.
		lookup: (id) => Promise.resolve({ kind: "sent", receipt: id }),
		health: () => ({ state: started ? "connected" : "stopped", aliveAt: started ? now() : null }),
	};
}
