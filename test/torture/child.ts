// A gateway in a process of its own, on platforms that the test holds, until somebody kills it or it is told to drain.
import "../support/keep-compiled.ts";
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { configSchema } from "../../src/config/schema.ts";
import { KeryxError } from "../../src/errors.ts";
import { type Channel, createGateway, systemClock } from "../../src/gateway/index.ts";
import { type Delivery, NO_SECRETS, openEngine, storeOn, systemIds } from "../../src/store/index.ts";
import { connectScriptedChannel, createScriptedAgent, killingEngine } from "../../src/testing/index.ts";
import { createTools, defineTool } from "../../src/tools/index.ts";
import { DRAIN, type Orders, PLATFORMS, type Report, SCRIPT } from "./scene.ts";

const orders = JSON.parse(process.argv[2] ?? "") as Orders;
const scope = { kind: "operator" } as const;

const config = configSchema.parse({
	// Few messages, so that sessions rotate.
	session_reset: { mode: "none", max_messages: 24, timezone: "UTC" },
	gateway: { batch_ms: 4, batch_cap_ms: 20 },
	auth: Object.fromEntries(Object.keys(PLATFORMS).map((platform) => [platform, { allow_all: true }])),
});

/** May not be repeated: its line in the file is what the test counts. */
const effect = defineTool({
	name: "effect",
	description: "does something outside",
	input: z.object({}),
	repeatable: false,
	run: (_, { turn }) => {
		appendFileSync(orders.effects, `${turn}\n`);
		return Promise.resolve({ content: "done" });
	},
});

const engine = await openEngine({ url: orders.url, clock: systemClock });
const store = storeOn(killingEngine(engine, { at: orders.killAt, when: orders.killWhen }), {
	clock: systemClock,
	ids: systemIds(systemClock),
	secrets: NO_SECRETS,
});
const gateway = createGateway({
	store,
	agent: createScriptedAgent({ script: SCRIPT, clock: systemClock }),
	tools: createTools([effect]),
	channels: Object.keys(PLATFORMS).map(channelTo),
	config,
	clock: systemClock,
	pseudonymKey: new Uint8Array(32),
	log: (message, error) => say({ say: "log", message, error: describe(error) }),
});
await gateway.start();
process.stdin.setEncoding("utf8").on("data", (told: string) => {
	if (told.includes(DRAIN)) void drain();
});

function canBeLookedUp({ destination }: Delivery): boolean {
	return PLATFORMS[destination.platform]?.lookup === true;
}

function say(report: Report): void {
	process.stdout.write(`${JSON.stringify(report)}\n`);
}

function describe(error: unknown): string {
	if (error instanceof KeryxError) return `${error.code}: ${error.message}`;
	return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function channelTo(platform: string): Channel {
	const address = orders.addresses[platform] as string;
	const abilities = PLATFORMS[platform];
	const channel = connectScriptedChannel({
		address,
		platform,
		clock: systemClock,
		reconnectMs: 20,
		...abilities,
	});
	return {
		...channel,
		start: (host) =>
			channel.start({
				...host,
				accept: async (inbound) => {
					const admission = await host.accept(inbound);
					if (admission.duplicate) say({ say: "duplicate" });
					return admission;
				},
			}),
	};
}

/** What may be unknown for a while is asked about every 30 s; what still is after this is for the verdict to tell. */
const CLEARED_UP_MS = 120_000;

/**
 * Looks again after every commit, until every message has its end, everything meant for anybody has left the outbox, and
 * whatever can be looked up has been.
 */
async function drain(): Promise<void> {
	const open = new Set<number>();
	let cursor = "";
	const isDone = async (): Promise<boolean> => {
		const page = await store.events({ scope, after: cursor, limit: 1000 });
		cursor = page.cursor;
		for (const { type, subject } of page.kind === "events" ? page.events : [])
			if (type === "inbound.accepted") open.add(Number(subject));
		if (page.kind === "events" && page.events.length > 0) return false;
		for (const id of open) {
			const item = await store.inboxItem({ scope, id });
			if (item.disposition === null || item.command !== null) return false;
			open.delete(id);
		}
		if ((await store.deliveries({ scope, which: "waiting", limit: 1 })).length > 0) return false;
		return isLate || !(await store.unknownDeliveries({ scope, since: 0 })).some(canBeLookedUp);
	};
	let isLate = false;
	let look = () => {};
	store.onCommit(() => look());
	setTimeout(() => {
		isLate = true;
		look();
	}, CLEARED_UP_MS);
	for (let before = ""; ; before = cursor) {
		const committed = new Promise<void>((resolve) => {
			look = resolve;
		});
		if (await isDone()) break;
		if (before === cursor) await committed;
	}
	await gateway.stop();
	await store.close();
	say({ say: "drained" });
	process.exit();
}
