// The API for a server that another program runs. Whoever calls there has to say who they are, as on a port of Keryx's own: only what
// comes over Keryx's socket is the operator's by itself.
import type { Api } from "../http/index.ts";

/** `url`: where it is reached; without one, requests to this machine's loopback alone are answered. */
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

/** A request to the loopback names the port that it came by. A Host that cannot be read is refused later. */
function portOf(given: string, request: Request): number {
	const asked = `http://${request.headers.get("host") ?? ""}`;
	return Number(given || (URL.canParse(asked) && new URL(asked).port) || 80);
}
