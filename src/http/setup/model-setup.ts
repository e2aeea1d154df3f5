// Connects a model from the page: the same as `keryx setup`. It changes config.yaml, so it needs proof of a human; keys are never
// returned.
import { z } from "@hono/zod-openapi";
import { baseUrlSchema, MODEL_PROVIDERS } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { ApiHost, HandlersOf, ModelSetup } from "../call.ts";
import { endpoint } from "../endpoint.ts";

const provider = z.enum(MODEL_PROVIDERS);
const address = baseUrlSchema
	.max(2000)
	.openapi({ description: "where the provider's API is; left out: its default address" });
const key = z.string().trim().min(1).max(10_000).openapi({
	description:
		"left out: the one stored for the provider, or its variable, which is only sent to the provider's own address and those in config.yaml",
});

export const modelSetupEndpoints = {
	model: endpoint("get", "/api/model", {
		about: "the current model, and which providers can be connected",
		answer: z.object({
			kind: z.string(),
			provider: provider.nullable(),
			model: z.string().nullable(),
			base_url: z.string().nullable(),
			providers: z.array(
				z.object({
					provider,
					needs_key: z.boolean(),
					needs_address: z.boolean(),
					has_key: z.boolean().openapi({ description: "one is stored, or its variable is set" }),
					suggested: z.string().openapi({ description: "a model most people choose; may be empty" }),
				}),
			),
		}),
	}),
	listModels: endpoint("post", "/api/model/list", {
		about: "ask a provider for its models",
		body: { provider, base_url: address.optional(), key: key.optional() },
		answer: z.object({ models: z.array(z.string()) }),
	}),
	takeModel: endpoint("post", "/api/model", {
		about: "connect a model: call it once, then write config.yaml and, if a key is given, a key file",
		body: {
			provider,
			model: z.string().min(1).max(500),
			base_url: address.optional(),
			key: key.optional(),
		},
		answer: z.object({
			provider,
			model: z.string(),
			ms: z.int().openapi({ description: "how long it took to answer" }),
		}),
	}),
} as const;

/** If the embedding program provides the configuration, nothing can be connected here. */
const NONE = { provider: null, model: null, base_url: null } as const;

export const modelSetupHandlers: HandlersOf<typeof modelSetupEndpoints> = {
	model: (_input, { host }) => {
		if (!host.modelSetup) return { kind: host.agent, ...NONE, providers: [] };
		const { providers, ...current } = host.modelSetup.current();
		return { ...current, providers: [...providers] };
	},
	listModels: async ({ provider: of, base_url, key: given }, { host, signal }) => ({
		models: [...(await setupOf(host).list({ provider: of, baseUrl: base_url, key: given }, signal))],
	}),
	takeModel: ({ provider: of, model, base_url, key: given }, { host, signal, visitor: { who, via } }) =>
		setupOf(host).take({ provider: of, model, baseUrl: base_url, key: given, by: { who, via } }, signal),
};

function setupOf({ modelSetup }: ApiHost): ModelSetup {
	if (modelSetup) return modelSetup;
	throw new KeryxError("gateway.stopped", "Keryx is not running, so no model can be connected", {
		hint: "start Keryx, then try again",
	});
}
