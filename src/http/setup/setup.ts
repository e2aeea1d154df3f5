// The first run: three steps on the page for a home without set-up. Completed steps follow from the state; skipped ones and its end are
// stored.
import { z } from "@hono/zod-openapi";
import { type HandlersOf, operator, running } from "../call.ts";
import { endpoint } from "../endpoint.ts";

const step = z.enum(["model", "chat", "you"]);

const setup = z
	.object({
		open: z.boolean().openapi({ description: "the page shows the steps" }),
		steps: z.array(z.object({ name: step, state: z.enum(["open", "done", "skipped"]) })),
	})
	.openapi("Setup");

export const setupEndpoints = {
	setup: endpoint("get", "/api/setup", {
		about:
			"the steps of the first run: connect a model, add a chat, be known there or say something here; of a home that was set up before, none is open",
		answer: setup,
	}),
	skipSetup: endpoint("post", "/api/setup/skip", {
		about: "skips a step of the first run; all ends it, and it is never shown again",
		body: { step: z.enum(["model", "chat", "you", "all"]) },
		answer: setup,
	}),
} as const;

export const setupHandlers: HandlersOf<typeof setupEndpoints> = {
	// Others do not see the first run.
	setup: (_input, call) => (call.scope.kind === "operator" ? read(call) : { open: false, steps: [] }),
	skipSetup: async ({ step: skipped }, call) => {
		running(call.host);
		await call.host.store.skipFirstRun({ step: skipped });
		return read(call);
	},
};

async function read({
	host: { store, setup: facts, now },
	scope: anybody,
}: Parameters<(typeof setupHandlers)["setup"]>[1]): Promise<z.output<typeof setup>> {
	const scope = operator(anybody);
	const { ended, skipped } = await store.firstRun({ scope });
	if (ended || !facts) return { open: false, steps: [] };
	const isKnown = async () =>
		(await store.conversations({ scope, list: "open", limit: 1 })).length > 0 ||
		(await store.pairings({ scope, now: now() })).some(
			({ state, role }) => state === "approved" && role === "owner",
		);
	const done = { ...facts(), you: await isKnown() };
	const steps = (["model", "chat", "you"] as const).map((name) => ({
		name,
		state: done[name] ? ("done" as const) : skipped.includes(name) ? ("skipped" as const) : ("open" as const),
	}));
	return { open: steps.some(({ state }) => state === "open"), steps };
}
