// Our own channels: the terminal, the page, the API, webhooks, jobs. They need no transport: clients follow the events.
// A delivery has arrived when it is committed; a client that was away reads it later.
// Never here: a connection to anything.

import type { BuiltInChannel } from "../../domain/index.ts";
import type { Channel } from "../../gateway/index.ts";

export function createLocalChannel(platform: BuiltInChannel, now: () => number): Channel {
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
		// Sending has no effect outside the store: an interrupted send has arrived.
		lookup: (id) => Promise.resolve({ kind: "sent", receipt: id }),
		health: () => ({ state: started ? "connected" : "stopped", aliveAt: started ? now() : null }),
	};
}
