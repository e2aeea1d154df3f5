// A gateway whose agent starts five programs of different kinds when it is told to, for the test that kills it.
import { join } from "node:path";
import type { StepAgent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { createLocalChannel } from "../../src/channels/local/index.ts";
import { configSchema } from "../../src/config/schema.ts";
import { createGateway, type Gateway, systemClock } from "../../src/gateway/index.ts";
import { createProcesses, localMachine, processSettings } from "../../src/processes/index.ts";
import { NO_SECRETS, openStore, type Store, systemIds } from "../../src/store/index.ts";
import { createTerminalTools, createTools } from "../../src/tools/index.ts";
import { withoutWall } from "../../src/walls/index.ts";

export interface Program {
	readonly kind: string;
	readonly command: string;
	readonly pty?: boolean;
	readonly exitCode: number;
	/** Everything it prints. */
	readonly output: string;
}

/** What each does: it says in a ledger that it has begun, prints what is expected of it, and exits with a code of its own. */
export function programs(ledger: string): readonly Program[] {
	const begin = (kind: string) => `echo "begun ${kind} $KERYX_PROCESS" >> ${ledger}`;
	const numbers = Array.from({ length: 3000 }, (_, n) => `${n + 1}\n`).join("");
	return [
		{
			kind: "chatty",
			command: `${begin("chatty")}; for n in 0 1 2; do seq $((n*1000+1)) $((n*1000+1000)); sleep 0.1; done`,
			exitCode: 0,
			output: numbers,
		},
		{ kind: "silent", command: `${begin("silent")}; sleep 0.3; exit 3`, exitCode: 3, output: "" },
		{
			kind: "short",
			command: `${begin("short")}; head -c 5000 /dev/zero | tr '\\000' x; exit 7`,
			exitCode: 7,
			output: "x".repeat(5000),
		},
		{
			kind: "pty",
			command: `${begin("pty")}; stty size; sleep 0.2; echo over; exit 4`,
			pty: true,
			exitCode: 4,
			output: "30 120\r\nover\r\n",
		},
		{
			kind: "parent",
			command: `${begin("parent")}; (sleep 0.4; echo grandchild; echo "late $KERYX_PROCESS" >> ${ledger}) & echo parent; exit 5`,
			exitCode: 5,
			output: "parent\ngrandchild\n",
		},
	];
}

export function ledgerIn(folder: string): string {
	return join(folder, "ledger");
}

export interface Life {
	readonly store: Store;
	readonly gateway: Gateway;
	end(): Promise<void>;
}

export async function openLife(folder: string): Promise<Life> {
	const config = configSchema.parse({
		session_reset: { mode: "none", max_messages: 0 },
		approvals: { mode: "off" },
		agent: { max_steps: 10_000 },
		shutdown: { drain_seconds: 0 },
	});
	const ids = systemIds(systemClock);
	const store = await openStore({
		url: `sqlite:${join(folder, "keryx.db")}`,
		clock: systemClock,
		ids,
		secrets: NO_SECRETS,
	});
	const processes = createProcesses({
		store,
		machine: localMachine(folder, { idleMs: 3000 }),
		clock: systemClock,
		ids,
		settings: () => processSettings(config),
	});
	const gateway = createGateway({
		store,
		agent: starter(ledgerIn(folder)),
		tools: createTools(
			createTerminalTools({
				processes,
				workspaceOf: () => folder,
				wallOf: async () => withoutWall({ PATH: process.env.PATH ?? "" }),
				facts: { keryxHome: folder, keryxProgram: "/nowhere/keryx", home: folder },
				mode: () => "off",
				limits: () => ({ foregroundSeconds: 100, waitSeconds: 100 }),
				now: systemClock.now,
			}),
		),
		processes,
		channels: [createLocalChannel("local", systemClock.now)],
		config,
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
	});
	await gateway.start();
	return {
		store,
		gateway,
		end: async () => {
			await gateway.stop();
			await store.close();
		},
	};
}

/** To `go` it starts all of them; to the end of one it says that it has heard. */
function starter(ledger: string): StepAgent {
	return {
		kind: "step",
		name: "starter",
		async *step({ history }) {
			const last = history.at(-1);
			const goes = last?.role === "user" && last.kind === "person";
			const toolCalls = programs(ledger).map(({ kind, command, pty = false }) => ({
				id: `${kind}-${history.length}`,
				name: "terminal",
				input: { command, pty, background: true },
			}));
			yield {
				type: "done",
				message: { content: goes ? "" : "heard", toolCalls: goes ? toolCalls : [], finishReason: "stop" },
				usage: { ...NO_USAGE, provider: "starter", model: "starter" },
			};
		},
	};
}
