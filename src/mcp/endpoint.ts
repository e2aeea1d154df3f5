// /mcp: one server per request, for any caller. Nothing is kept between requests, so that any node can answer. Serves the stateless
// protocol of 2026 and the clients of 2025.
import { createMcpHandler } from "@modelcontextprotocol/server";
import { apiTransport } from "../http/client/index.ts";
import type { ApiHost } from "../http/index.ts";
import { serverFor } from "./server.ts";

/** Per request: enough for a long message. Files come through the API. */
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
