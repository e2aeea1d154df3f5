// /mcp: one request, one server of its own, for whoever asks. Nothing is kept between two requests, so that any node can answer any.
// Serves the stateless protocol of 2026 and the clients of 2025.
import { createMcpHandler } from "@modelcontextprotocol/server";
import { apiTransport } from "../http/client/index.ts";
import type { ApiHost } from "../http/index.ts";
import { serverFor } from "./server.ts";

/** Of one request: a long message. Files come in by the API. */
const MOST_BYTES = 4 * 1024 * 1024;

export function mcpEndpoint(version: string): NonNullable<ApiHost["mcp"]> {
	return {
		fetch: (request, { ask, bearer }) => {
			const transport = apiTransport({ fetch: ask }, { bearer });
			const handler = createMcpHandler(() => serverFor({ transport }, version), {
				maxRequestBodySize: MOST_BYTES,
			});
			return handler.fetch(request);
		},
	};
}
