// Retention in a running Keryx: 100,000 old conversations are ended, archived, read back and deleted while it answers. Afterwards a sample
// comes back from its archives and is compared. KERYX_BENCH_OLD sets another number.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { createKeryx, type Keryx } from "../src/app/index.ts";
import { conversationId } from "../src/domain/index.ts";
import { exportJsonl, OPERATOR } from "../src/store/index.ts";
import { createScriptedAgent } from "../src/testing/index.ts";
import { type Clock, systemClock } from "../src/time/index.ts";
import { atLeast, atMost, measured, type Row } from "./harness.ts";
import { addConversations, progress } from "./store-data.ts";

const OLD = Number(process.env.KERYX_BENCH_OLD ?? 100_000);
const DAY_MS = 86_400_000;
/** Restored and compared. */
const SAMPLE = 200;
const LOOP_BAR_MS = 25;
/** Between two messages of the person who talks meanwhile. */
const TALK_EVERY_MS = 100;

export async function measureKeeping(): Promise<Row[]> {
	const home = mkdtempSync(join(tmpdir(), "keryx-bench-keeping-"));
	try {
		const first = await open(home, systemClock, 0);
		await first.stop();
		addConversations(join(home, "keryx.db"), 0, OLD);
		return await measureIn(home);
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
}

/** The conversations are an hour old: a month later. */
const LATER: Clock = { ...systemClock, now: () => systemClock.now() + 31 * DAY_MS };

async function open(home: string, clock: Clock, days: number): Promise<Keryx> {
	const keryx = await createKeryx({
		home,
		env: { HOME: home, XDG_DATA_HOME: join(home, "data"), TZ: "UTC" },
		clock,
		config: { gateway: { batch_ms: 0 }, retention: { days }, session_reset: { mode: "none" } },
		agent: createScriptedAgent({ script: { otherwise: [{ text: "answer" }] }, clock: systemClock }),
		report: { warn: (text) => progress(`warning: ${text}\n`), note: () => {} },
	});
	await keryx.start();
	return keryx;
}

async function measureIn(home: string): Promise<Row[]> {
	const began = performance.now();
	const keryx = await open(home, LATER, 30);
	const month = join(home, "archives", new Date(LATER.now()).toISOString().slice(0, 7));
	const delay = monitorEventLoopDelay({ resolution: 5 });
	delay.enable();
	const answers: number[] = [];
	let left = OLD;
	for (let n = 0; left > 0; n++) {
		const asked = performance.now();
		const { id } = await keryx.client.send({
			text: `still there? ${n}`,
			client_message_id: `m${n}`,
			source: { platform: "web", chat_type: "dm", chat_id: "young", user_id: "young" },
		});
		await keryx.client.inbound({ id, wait: 60 });
		answers.push(performance.now() - asked);
		await pause(TALK_EVERY_MS);
		if (n % 100 === 0) {
			left = (await keryx.client.retentionPlan({ days: 30 })).count;
			progress(`${left} left after ${Math.round((performance.now() - began) / 1000)} s`);
		}
	}
	delay.disable();
	const seconds = (performance.now() - began) / 1000;
	const files = readdirSync(month).filter((name) => name.endsWith(".jsonl"));
	const { problems } = await keryx.store.checkIntegrity({ scope: OPERATOR });
	const equal = await restored(keryx, month, files);
	await keryx.stop();
	const slowest = answers.toSorted((a, b) => a - b);
	return [
		measured(`${OLD} conversations ended, archived, read back and deleted`, seconds, "s"),
		atLeast(OLD, measured("archives", files.length, "files")),
		atMost(
			LOOP_BAR_MS,
			measured("loop delay p99, with its resolution of 5 ms", delay.percentile(99) / 1e6, "ms"),
		),
		measured("loop delay, longest", delay.max / 1e6, "ms"),
		measured("messages answered meanwhile", answers.length, "messages"),
		measured("answer p99", slowest[Math.floor(slowest.length * 0.99)] ?? Number.NaN, "ms"),
		atMost(0, measured("problems of the store afterwards", problems.length, "problems")),
		atLeast(Math.min(SAMPLE, OLD), measured("restored and equal to their archives", equal, "conversations")),
	];
}

/** How many of a sample are, after their return, as their archive says; but for when they were last used. */
async function restored(keryx: Keryx, month: string, files: readonly string[]): Promise<number> {
	const step = Math.max(1, Math.floor(files.length / SAMPLE));
	let equal = 0;
	for (const file of files.filter((_, n) => n % step === 0).slice(0, SAMPLE)) {
		const archived = readFileSync(join(month, file), "utf8");
		const id = conversationId(file.split(".")[0] ?? "");
		await keryx.client.restoreArchive({ archive: id });
		const lines: string[] = [];
		for await (const line of exportJsonl(keryx.store, {
			scope: OPERATOR,
			what: { kind: "conversation", id },
		}))
			lines.push(line);
		if (comparable(lines.join("")) === comparable(archived)) equal++;
	}
	return equal;
}

function comparable(text: string): string {
	return text.replace(/"lastActivityAt":\d+/g, "").replace(/,?"origin":"archive"/g, "");
}
