// The API for another program's server. Callers authenticate, as on Keryx's own port: only Keryx's socket implies the operator.
import type { Api } from "../http/index.ts";

/** `url`: its address; without one, only requests to this machine's loopback are answered. */
export function mounted(api: Api, url: string | undefined): Api {
	const { hostname, port } = url === undefined ? { hostname: "127.0.0.1", port: "" } : new URL(url);
	return {
		...api,
		fetch: (request, entrance, connection) =>
			api.fetch(
				request,
				entrance ?? { kind: "port", host: hostname, port: portOf(port, request), remote: "" },
				connection,
			),
	};
}

/** A loopback request names its port. An unreadable Host is refused later. */
function portOf(given: string, request: Request): number {
	const asked = `http://${request.headers.get("host") ?? ""}`;
	return Number(given || (URL.canParse(asked) && new URL(asked).port) || 80);
}
