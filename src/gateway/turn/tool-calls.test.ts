import { expect, test } from "vitest";
import { z } from "zod";
import type { Store } from "../../store/index.ts";
import { createVirtualClock } from "../../testing/index.ts";
import { Aborted } from "../../time/index.ts";
import { createTools, defineTool } from "../../tools/index.ts";
import { type CallEnvironment, runCall } from "./tool-calls.ts";

test("without a lease no tool is called, and with it each is", async () => {
	const called: string[] = [];
	const look = defineTool({
		name: "look",
		description: "looks",
		input: z.object({}),
		repeatable: true,
		run: (_, { call }) => {
			called.push(call);
			return Promise.resolve({ content: "seen" });
		},
	});
	const lease = { holdsLease: true };
	const environment: CallEnvironment = {
		store: { cluster: lease } as unknown as Store,
		tools: createTools([look]),
		clock: createVirtualClock(0),
		toolMs: 1000,
		turn: { id: "t", token: 1 },
		context: {} as CallEnvironment["context"],
		interrupted: () => new AbortController().signal,
		signal: new AbortController().signal,
		beforeFiles: () => Promise.resolve(),
		// The lease runs out while somebody is asked.
		ask: (call) => {
			lease.holdsLease = call.id === "held";
			return Promise.resolve({ kind: "go", started: false });
		},
	};
	await expect(runCall({ id: "lost", name: "look", input: {} }, environment)).rejects.toThrow(Aborted);
	expect(called).toEqual([]);
	await runCall({ id: "held", name: "look", input: {} }, environment);
	expect(called).toEqual(["held"]);
});
