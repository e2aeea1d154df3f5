// One gateway of a cluster in a process of its own: a whole Keryx on scripted platforms and on Telegram, until it is killed or has lost its
// place to another.
import "../../support/keep-compiled.ts";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { createKeryx } from "../../../src/app/index.ts";
import { createTelegramChannel } from "../../../src/channels/telegram/index.ts";
import { type Channel, systemClock } from "../../../src/gateway/index.ts";
import { serveOnSocket } from "../../../src/http/index.ts";
import { connectScriptedChannel, createScriptedAgent } from "../../../src/testing/index.ts";
import { defineTool } from "../../../src/tools/index.ts";
import { PLATFORMS } from "../../torture/scene.ts";
import { type Orders, PEER_ACCOUNT, READY, SCRIPT } from "./scene.ts";

const orders = JSON.parse(process.argv[2] ?? "") as Orders;

/** May not be repeated: its line in the file is what the test counts. */
const effect = defineTool({
	name: "effect",
	description: "does something outside",
	input: z.object({}),
	repeatable: false,
	run: (_, { turn }) => {
		appendFileSync(orders.effects, `${turn}\n`);
		act("tool");
		return Promise.resolve({ content: "done" });
	},
});

/** Until a message comes, or the turn is stopped. */
const patience = defineTool({
	name: "patience",
	description: "waits for a message",
	input: z.object({}),
	repeatable: false,
	run: async (_, { interrupted, signal }) => {
		await once(AbortSignal.any([interrupted, signal]), "abort");
		return { content: "a message has come" };
	},
});

const keryx = await createKeryx({
	home: orders.home,
	env: { HOME: orders.home, PATH: process.env.PATH },
	config: {
		store: { url: orders.url, nodes: "many" },
		node: { name: orders.name },
		lease: orders.lease,
		...(orders.preferMs !== undefined && { lane: { prefer_ms: orders.preferMs } }),
		// Few messages, so that sessions rotate.
		session_reset: { mode: "none", max_messages: 24, timezone: "UTC" },
		gateway: { batch_ms: 4, batch_cap_ms: 20 },
		// Less than a late answer takes.
		shutdown: { drain_seconds: 1 },
		http: { rate_per_minute: 100_000 },
		auth: Object.fromEntries(Object.keys(PLATFORMS).map((platform) => [platform, { allow_all: true }])),
	},
	agent: createScriptedAgent({ script: SCRIPT, clock: systemClock }),
	tools: [effect, patience],
	channels: [
		...Object.keys(PLATFORMS).map(channelTo),
		...(orders.telegram ? [telegram(orders.telegram)] : []),
	],
	// What the database does to it is what the test is about.
	report: { warn: () => {}, note: () => {} },
	serve: async (api, ready) => {
		await ready();
		return { ...(await serveOnSocket(api, join(orders.home, "keryx.sock"))), url: null };
	},
});
void keryx.lost.then(() => process.exit(1));
process.once("SIGTERM", () => void keryx.stop().then(() => process.exit(0)));
await keryx.start();
process.stdout.write(`${READY}\n`);

function telegram({ apiRoot, token }: NonNullable<Orders["telegram"]>): Channel {
	return createTelegramChannel({
		name: "telegram-peer",
		account: PEER_ACCOUNT,
		token: () => Promise.resolve(token),
		apiRoot,
		clock: systemClock,
		log: () => {},
		firstPauseMs: 5,
		longestPauseMs: 50,
	});
}

/** Below everything of Keryx that could hold a request back. */
function channelTo(platform: string): Channel {
	const channel = connectScriptedChannel({
		address: orders.addresses[platform] as string,
		platform,
		clock: systemClock,
		reconnectMs: 20,
		...PLATFORMS[platform],
	});
	const { send, edit } = channel;
	return {
		...channel,
		send: (outgoing) => {
			act("send");
			return send(outgoing);
		},
		...(edit && {
			edit: (receipt, outgoing) => {
				act("edit");
				return edit(receipt, outgoing);
			},
		}),
	};
}

function act(what: "tool" | "send" | "edit"): void {
	if (orders.acts !== undefined) appendFileSync(orders.acts, `${process.pid} ${what}\n`);
}
