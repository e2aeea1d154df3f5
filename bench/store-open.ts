// One start in a process of its own, as JSON: `store-open.ts <path>`. Everything that a gateway asks before it takes its first
// message; then a few reads, and what the process holds in memory.
import { performance } from "node:perf_hooks";
import { NO_SECRETS, openStore, systemClock, systemIds } from "../src/store/index.ts";

const began = performance.now();
const store = await openStore({
	url: `sqlite:${process.argv[2]}`,
	clock: systemClock,
	ids: systemIds(systemClock),
	secrets: NO_SECRETS,
});
const now = systemClock.now();
await store.interruptTurns({ suspendedNotice: { text: "", plain: "" } });
await store.recoverDeliveries({ canAsk: [] });
await store.waitingItems({ scope: { kind: "operator" }, after: 0, limit: 100 });
await store.dueTurns({ scope: { kind: "operator" }, now, limit: 100 });
await store.dueSessions({ scope: { kind: "operator" }, now, limit: 100 });
const ms = performance.now() - began;

const scope = { kind: "operator" } as const;
for (const { liveSession } of await store.conversations({ scope, limit: 50 }))
	if (liveSession !== null) await store.messages({ scope, session: liveSession, limit: 200 });
await store.events({ scope, after: "now", limit: 1 });
globalThis.gc?.();
const megabytes = process.memoryUsage.rss() / 1_000_000;
await store.close();
console.log(JSON.stringify({ ms, megabytes }));
