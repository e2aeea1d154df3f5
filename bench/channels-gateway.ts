// The gateway of `npm run bench -- channels`, in a process of its own: what it costs is measured here, and nothing of the platform.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { StepAgent } from "../src/agents/index.ts";
import { configSchema } from "../src/config/schema.ts";
import { createGateway, systemClock } from "../src/gateway/index.ts";
import { NO_SECRETS, openStore, systemIds } from "../src/store/index.ts";
import { createTools } from "../src/tools/index.ts";
import { PLATFORMS } from "./channels-platforms.ts";
import { CHUNK_MS, type Told, WORDS, wordOf } from "./channels-words.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-channels-"));
const store = await openStore({
	url: `sqlite:${join(folder, "keryx.db")}`,
	clock: systemClock,
	ids: systemIds(systemClock),
	secrets: NO_SECRETS,
});
const gateway = createGateway({
	store,
	agent: writer(),
	tools: createTools([]),
	channels: [],
	config: configSchema.parse({
		session_reset: { mode: "none", timezone: "UTC" },
		gateway: { max_turns: 64, batch_ms: 0 },
		auth: Object.fromEntries(Object.keys(PLATFORMS).map((platform) => [platform, { allow_all: true }])),
	}),
	clock: systemClock,
	pseudonymKey: new Uint8Array(32),
	log: (message, error) => console.error(message, error),
});
await gateway.start();
let delay = monitorEventLoopDelay({ resolution: 1 });

process.on("message", (told: Told) => void answer(told));
process.send?.({ ready: true });

async function answer(told: Told): Promise<void> {
	switch (told.say) {
		case "connect":
			return reply(await connect(told));
		case "memory":
			return reply(await memory());
		case "watch":
			delay = monitorEventLoopDelay({ resolution: 1 });
			delay.enable();
			return reply(0);
		case "delay":
			delay.disable();
			return reply(delay.percentile(99) / 1e6);
		case "stop":
			await gateway.stop();
			await store.close();
			rmSync(folder, { recursive: true, force: true });
			reply(0);
			process.disconnect();
	}
}

function reply(value: number): void {
	process.send?.({ value });
}

/** Resolves when all of them are connected. */
async function connect({ platform, accounts, from }: Extract<Told, { say: "connect" }>): Promise<number> {
	for (const [n, access] of accounts.entries()) {
		const account = from + n === 0 ? "" : String(from + n);
		const request = { account, access, clock: systemClock, log: (line: string) => console.error(line) };
		const channel = await PLATFORMS[platform]?.createChannel(request);
		if (channel) await gateway.connect(channel);
	}
	while (gateway.health().some(({ state }) => state !== "connected")) await passing(20);
	return gateway.health().length;
}

/** After a while in which what is no longer needed is let go. */
async function memory(): Promise<number> {
	for (let n = 0; n < 5; n++) {
		globalThis.gc?.();
		await passing(200);
	}
	return process.memoryUsage.rss();
}

function passing(ms: number): Promise<void> {
	return new Promise((resolve) => void systemClock.after(ms, () => resolve()));
}

/** Writes for 20 seconds, a word at a time. */
function writer(): StepAgent {
	return {
		kind: "step",
		name: "writer",
		async *step() {
			let content = "";
			for (let n = 0; n < WORDS; n++) {
				content += wordOf(n);
				yield { type: "text", delta: wordOf(n) };
				await passing(CHUNK_MS);
			}
			yield {
				type: "done",
				message: { content, toolCalls: [], finishReason: "stop" },
				usage: {
					provider: "bench",
					model: "bench",
					inputTokens: 0,
					outputTokens: 0,
					cacheReadTokens: 0,
					cacheWriteTokens: 0,
					costMicros: 0,
					currency: "USD",
				},
			};
		},
	};
}
