// Keryx's own agent and those of profiles, and the models a conversation may choose.
import { z } from "@hono/zod-openapi";
import { MODEL_PROVIDERS } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { HandlersOf } from "../call.ts";
import { endpoint } from "../endpoint.ts";

const provider = z.enum(MODEL_PROVIDERS);

export const profileEndpoints = {
	profiles: endpoint("get", "/api/profiles", {
		about: "Keryx's own agent and the profiles that can be talked to, each with the model that answers",
		answer: z.object({
			profiles: z.array(
				z
					.object({
						name: z.string().openapi({ description: "empty for Keryx's own" }),
						agent: z.string(),
						provider: provider.nullable(),
						model: z.string().nullable(),
						runs_on: z.string().openapi({
							description: "where its commands run: this machine, another one over ssh, or a container",
						}),
					})
					.openapi("Profile"),
			),
		}),
	}),
	modelChoices: endpoint("get", "/api/model/choices", {
		about: "models that a conversation of a profile may choose from, the configured ones first",
		query: { profile: z.string().max(64).default("") },
		answer: z.object({ models: z.array(z.object({ provider, model: z.string() })) }),
	}),
} as const;

export const profileHandlers: HandlersOf<typeof profileEndpoints> = {
	profiles: (_input, { host, scope }) => {
		// Only the operator sees the agents.
		if (scope.kind !== "operator") return { profiles: [] };
		const own = { profile: "", agent: host.agent, provider: null, model: null, runsOn: "this machine" };
		const all = host.answering?.() ?? [own];
		return {
			profiles: all.map(({ profile: name, runsOn, ...rest }) => ({ name, ...rest, runs_on: runsOn })),
		};
	},
	modelChoices: async ({ profile }, { host }) => {
		if (profile !== "" && !host.profiles?.includes(profile))
			throw new KeryxError("store.not_found", `there is no profile ${profile}`, { field: "profile" });
		return { models: (await host.modelChoices?.(profile))?.map((one) => ({ ...one })) ?? [] };
	},
};
