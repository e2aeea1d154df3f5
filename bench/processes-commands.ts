// What a command of the terminal costs: a thousand in a row, and the same beside ten thousand that are kept. Both are ratios to the
// first ones, measured in the same minute. And how long Keryx takes to start while its process host is stopped.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { ConversationId } from "../src/domain/index.ts";
import { systemClock } from "../src/gateway/index.ts";
import { createProcesses, localMachine, type Processes } from "../src/processes/index.ts";
import { NO_SECRETS, openStore, type Store, systemIds } from "../src/store/index.ts";
import { atMost, measured, median, type Row } from "./harness.ts";

const COMMANDS = Number(process.env.KERYX_BENCH_COMMANDS ?? 1000);
const SAMPLE = Math.max(10, COMMANDS / 10);
const KEPT = 10_000;
const OPERATOR = { kind: "operator" } as const;

export async function measureCommands(): Promise<Row[]> {
	const home = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	const ids = systemIds(systemClock);
	const store = await openStore({ url: "sqlite::memory:", clock: systemClock, ids, secrets: NO_SECRETS });
	const open = () =>
		createProcesses({
			store,
			machine: localMachine(home, { idleMs: 1000 }),
			clock: systemClock,
			ids,
			settings: () => ({
				maxRunning: 100,
				maxPerConversation: 100,
				maxLogBytes: 1024 * 1024,
				keepDays: 7,
				onShutdown: "kill",
			}),
		});
	let processes = open();
	await processes.open();
	try {
		const conversation = await talk(store);
		await commands(processes, home, conversation, 20);
		const times = await commands(processes, home, conversation, COMMANDS);
		const first = median(times.slice(0, SAMPLE));
		const last = median(times.slice(-SAMPLE));
		keep(home);
		const beside = median(await commands(processes, home, conversation, SAMPLE));
		const stopped = await startWhileStopped(processes, home, conversation, open);
		processes = stopped.processes;
		return [
			measured(`one command, the first ${SAMPLE}, median`, first, "ms"),
			atMost(
				1.5,
				measured(`the last ${SAMPLE} of ${COMMANDS} in a row, against the first`, last / first, "ratio"),
			),
			atMost(
				1.5,
				measured(`the same beside ${KEPT} that are kept, against the first`, beside / first, "ratio"),
			),
			atMost(3000, measured("start while the process host is stopped", stopped.ms, "ms")),
		];
	} finally {
		await processes.close();
		await store.close();
		rmSync(home, { recursive: true, force: true });
	}
}

/** As the tool does it: started, waited for, read, looked after, and its folder gone once its result is stored. */
async function commands(
	processes: Processes,
	home: string,
	conversation: ConversationId,
	count: number,
): Promise<number[]> {
	const times: number[] = [];
	for (let n = 0; n < count; n++) {
		const began = performance.now();
		const { id } = await start(processes, home, conversation, "echo x", false);
		await processes.wait(OPERATOR, id, { ms: 60_000 });
		await processes.output(OPERATOR, id, { most: 50_000, mark: () => "" });
		await processes.leftBehind(id);
		processes.discard(id);
		times.push(performance.now() - began);
	}
	return times;
}

function start(
	processes: Processes,
	home: string,
	conversation: ConversationId,
	command: string,
	background: boolean,
) {
	return processes.start(
		{
			command,
			argv: ["/bin/sh", "-c", command],
			cwd: home,
			env: { PATH: process.env.PATH ?? "" },
			background,
			pty: null,
			notify: "none",
		},
		{
			conversation,
			principal: null,
			turn: null,
			role: null,
			destination: { platform: "local", account: "", chatId: "bench" },
		},
	);
}

async function talk(store: Store): Promise<ConversationId> {
	const accepted = await store.accept({
		kind: "person",
		source: { platform: "local", chat_id: "bench", chat_type: "dm", user_id: "bench" },
		platformMessage: "1",
		content: "hello",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "accept" },
	});
	return accepted.conversation as ConversationId;
}

/** As ended ones leave their folders. */
function keep(home: string): void {
	const gone = { bootId: "gone", pid: 1, startTime: "1" };
	const meta = { argv: ["true"], cwd: "/", pty: null, startedAt: 0, host: gone, identity: gone };
	const end = { cause: "exited", code: 0, signal: null, reason: null, endedAt: 0, survivors: [] };
	for (let n = 0; n < KEPT; n++) {
		const folder = join(home, "processes", `kept_${String(n).padStart(8, "0")}`);
		mkdirSync(folder);
		writeFileSync(join(folder, "meta.json"), JSON.stringify(meta));
		writeFileSync(join(folder, "end.json"), JSON.stringify(end));
		writeFileSync(join(folder, "log.0"), "x\n");
	}
}

async function startWhileStopped(
	processes: Processes,
	home: string,
	conversation: ConversationId,
	open: () => Processes,
): Promise<{ readonly ms: number; readonly processes: Processes }> {
	const { id } = await start(processes, home, conversation, "sleep 1000", true);
	const backend = (await localMachine(home).find()) as { hostPid?: number; close(): Promise<void> } | null;
	const host = backend?.hostPid ?? 0;
	await backend?.close();
	process.kill(host, "SIGSTOP");
	const next = open();
	try {
		const began = performance.now();
		await next.open();
		return { ms: performance.now() - began, processes: next };
	} finally {
		process.kill(host, "SIGCONT");
		await processes.kill(OPERATOR, id, { graceMs: 0 });
		await processes.close();
	}
}
