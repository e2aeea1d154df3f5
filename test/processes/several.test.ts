// Two gateways on one store, which use the same other machine. Nothing runs: only what each of them says about the rows.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ConversationId } from "../../src/domain/index.ts";
import { createProcesses, createProcessesOn, localMachine } from "../../src/processes/index.ts";
import { createSecrets, openStore, type Store } from "../../src/store/index.ts";
import { beginArgs } from "../../src/testing/conformance/store/processes.ts";
import { createVirtualClock } from "../../src/testing/index.ts";
import { countedIds } from "../support/clock.ts";

const OPERATOR = { kind: "operator" } as const;
const IDENTITY = { bootId: "b", pid: 1, startTime: "1" };
const clock = createVirtualClock(Date.now());
const ids = countedIds();
const settings = () => ({
	maxRunning: 3,
	maxPerConversation: 3,
	maxLogBytes: 1000,
	keepDays: 7,
	onShutdown: "keep" as const,
});
let home: string;
let store: Store;
let conversation: ConversationId;

beforeEach(async () => {
	home = mkdtempSync(join(tmpdir(), "keryx-several-"));
	store = await openStore({ url: "sqlite::memory:", clock, ids, secrets: createSecrets(new Map()) });
	const accepted = await store.accept({
		kind: "person",
		source: { platform: "telegram", chat_id: "1", chat_type: "dm", user_id: "1" },
		platformMessage: "1",
		content: "hello",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "accept" },
	});
	conversation = accepted.conversation as ConversationId;
});
afterEach(async () => {
	await store.close();
	rmSync(home, { recursive: true, force: true });
});

async function running(id: string, backend: string): Promise<void> {
	await store.beginProcess(beginArgs(conversation, id, { backend }));
	await store.processStarted({ id, identity: IDENTITY });
}

/** A gateway that shares the store, of which only the named nodes live. */
function gateway(name: string, living: readonly string[]) {
	const nodes = async () => living.map((one) => ({ name: one }));
	return createProcessesOn({
		store: { ...store, cluster: { onBroadcast: () => {}, broadcast: () => {} }, nodes } as unknown as Store,
		clock,
		ids,
		settings,
		machines: [localMachine(home, { name }), localMachine(join(home, "box"), { name: "buildbox" })],
	});
}

test("a gateway leaves alone what another one runs on a machine that both use", async () => {
	await running("proc_000000000001", "buildbox@garden");
	const cellar = gateway("cellar", ["garden", "cellar"]);
	await cellar.open();
	expect(await cellar.list(OPERATOR, 9)).toMatchObject([
		{ status: "running", elsewhere: { node: "garden", lives: true } },
	]);
	await cellar.close();
});

test("a program that was seen running and left no trace is lost, and not one that never started", async () => {
	await running("proc_000000000001", "local");
	const processes = createProcesses({ store, clock, ids, settings, machine: localMachine(home) });
	await processes.open();
	expect(await processes.find(OPERATOR, "proc_000000000001")).toMatchObject({
		status: "lost",
		cause: "nothing of it was found on its machine, so what happened to it is unknown",
	});
	await processes.close();
});

test("programs of a gateway that never comes back count against no limit, and a kill gives them up", async () => {
	for (const n of [1, 2, 3]) await running(`proc_00000000000${n}`, `pod-${n}`);
	const limits = { inAll: 3, perConversation: 3 };
	const begin = (isShared: boolean) =>
		store.beginProcess(beginArgs(conversation, "proc_000000000004", { backend: "pod-4", limits, isShared }));
	expect(await begin(false)).toMatchObject({ kind: "limit" });
	expect(await begin(true)).toMatchObject({ kind: "begun" });
	const pod = gateway("pod-4", ["pod-4"]);
	const killed = await pod.kill(OPERATOR, "proc_000000000001");
	expect(killed.process).toMatchObject({
		status: "lost",
		cause: "its gateway pod-1 is gone, and it was given up on request",
	});
	await expect(
		pod.kill({ kind: "conversation", conversation, standing: "guest" }, "proc_000000000002"),
	).rejects.toMatchObject({ code: "process.refused" });
});
