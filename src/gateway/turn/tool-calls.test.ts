import { expect, test } from "vitest";
import { z } from "zod";
import type { Store } from "../../store/index.ts";
import { createVirtualClock } from "../../testing/index.ts";
import { Aborted } from "../../time/index.ts";
import { createTools, defineTool } from "../../tools/index.ts";
import { type CallEnvironment, runCall } from "./tool-calls.ts";

test("without a lease no tool is called; it is called once the lease is back, and never if the turn was stopped meanwhile", async () => {
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
	const clock = createVirtualClock(0);
	const stopping = new AbortController();
	const environment: CallEnvironment = {
		store: { cluster: lease } as unknown as Store,
		tools: createTools([look]),
		clock,
		toolMs: 1000,
		turn: { id: "t", token: 1 },
		context: {} as CallEnvironment["context"],
		interrupted: () => new AbortController().signal,
		signal: stopping.signal,
		beforeFiles: () => Promise.resolve(),
		// The lease runs out while somebody is asked.
		ask: () => {
			lease.holdsLease = false;
			return Promise.resolve({ kind: "go", started: false });
		},
	};
	const late = runCall({ id: "late", name: "look", input: {} }, environment);
	await clock.advance(10_000);
	expect(called).toEqual([]);
	lease.holdsLease = true;
	await clock.advance(10_000);
	await late;
	expect(called).toEqual(["late"]);
	const stopped = runCall({ id: "stopped", name: "look", input: {} }, environment);
	await clock.advance(10_000);
	stopping.abort("lost");
	await expect(stopped).rejects.toThrow(Aborted);
	expect(called).toEqual(["late"]);
});
