// Login links for the page, for whoever has proven to be the operator.
import { z } from "@hono/zod-openapi";
import type { HandlersOf } from "../call.ts";
import { endpoint } from "../endpoint.ts";

export const loginEndpoints = {
	loginLink: endpoint("post", "/api/login-link", {
		about: "a link that logs one browser in, once, within ten minutes",
		answer: z.object({
			path: z.string(),
			url: z
				.string()
				.nullable()
				.openapi({ description: "the whole link; null if this Keryx listens on no port" }),
		}),
	}),
} as const;

export const loginHandlers: HandlersOf<typeof loginEndpoints> = {
	loginLink: (_input, { host, access }) => {
		const path = access.loginPath();
		const at = host.url?.() ?? null;
		return { path, url: at === null ? null : `${at}${path}` };
	},
};
