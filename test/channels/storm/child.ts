// A gateway on a chat platform in a process of its own, with its store on disk, until somebody kills it or it is told to drain.
import "../../support/keep-compiled.ts";
import { createSlackChannel } from "../../../src/channels/slack/index.ts";
import { createTelegramChannel } from "../../../src/channels/telegram/index.ts";
import { configSchema } from "../../../src/config/schema.ts";
import { createGateway, systemClock } from "../../../src/gateway/index.ts";
import { NO_SECRETS, systemIds } from "../../../src/store/index.ts";
import { openSqlite } from "../../../src/store/sqlite/engine.ts";
import { storeOn } from "../../../src/store/store.ts";
import { createScriptedAgent } from "../../../src/testing/index.ts";
import { createTools } from "../../../src/tools/index.ts";
import { DRAIN, type Orders, type Report, SCRIPT } from "./scene.ts";

const { platform, path, apiRoot, token, appToken = "" } = JSON.parse(process.argv[2] ?? "") as Orders;
const scope = { kind: "operator" } as const;

const config = configSchema.parse({
	session_reset: { mode: "none", max_messages: 0, timezone: "UTC" },
	gateway: { batch_ms: 4, batch_cap_ms: 20 },
	auth: { [platform]: { allow_all: true } },
});
const options = {
	name: platform,
	token: () => Promise.resolve(token),
	apiRoot,
	clock: systemClock,
	log: () => {},
	firstPauseMs: 5,
	longestPauseMs: 50,
};
const fast = { burst: 1000, everyMs: 1 };
const channel =
	platform === "slack"
		? createSlackChannel({
				...options,
				appToken: () => Promise.resolve(appToken),
				settleMs: 200,
				allowed: { message: fast, channel: fast, change: fast, read: fast },
			})
		: createTelegramChannel(options);
const engine = await openSqlite({ path, startedAt: systemClock.now(), access: "own" });
const store = storeOn(engine, { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS });
const gateway = createGateway({
	store,
	agent: createScriptedAgent({ script: SCRIPT, clock: systemClock }),
	tools: createTools([]),
	channels: [
		{
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
		},
	],
	config,
	clock: systemClock,
	pseudonymKey: new Uint8Array(32),
	log: (message, error) => say({ say: "log", message: `${message}: ${String(error)}` }),
});
await gateway.start();
say({ say: "started" });
process.stdin.setEncoding("utf8").on("data", (told: string) => {
	if (told.includes(DRAIN)) void drain();
});

/** Looks again after every commit, until every message has its end and nothing waits in the outbox. */
async function drain(): Promise<void> {
	const open = new Set<number>();
	let cursor = "";
	let look = () => {};
	store.onCommit(() => look());
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
		return (await store.deliveries({ scope, which: "waiting", limit: 1 })).length === 0;
	};
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

function say(report: Report): void {
	process.stdout.write(`${JSON.stringify(report)}\n`);
}
