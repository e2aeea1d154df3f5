// Serving the API on a Unix socket in Keryx's home. The file's permission makes whoever can open it the operator.
import { chmodSync, rmSync } from "node:fs";
import { createAdaptorServer } from "@hono/node-server";
import { KeryxError } from "../errors.ts";
import type { Api } from "./app.ts";

/** What the kernel takes for the path of a socket, less the byte that ends it. */
const LONGEST_PATH = process.platform === "darwin" ? 103 : 107;

export interface Served {
	close(): Promise<void>;
}

/** Only the owner of the store may call this: a socket file of an earlier owner is replaced. */
export function serveOnSocket(api: Api, path: string): Promise<Served> {
	if (Buffer.byteLength(path) > LONGEST_PATH)
		throw new KeryxError("home.unusable", `the socket's path ${path} is longer than ${LONGEST_PATH} bytes`, {
			hint: "choose a KERYX_HOME with a shorter path",
		});
	rmSync(path, { force: true });
	// An import is one request, and may take longer than the five minutes that Node allows by itself.
	const server = createAdaptorServer({ fetch: api.fetch, serverOptions: { requestTimeout: 0 } });
	return new Promise((resolve, reject) => {
		server.once("error", (cause) =>
			reject(
				new KeryxError("home.unusable", `the socket ${path} cannot be opened: ${cause.message}`, { cause }),
			),
		);
		// The socket is bound within this call: nobody else can open it before its permission is set.
		const before = process.umask(0o177);
		try {
			server.listen(path, () => {
				chmodSync(path, 0o600);
				resolve({
					close: () =>
						new Promise((done) => {
							api.close();
							server.close(() => done());
							if ("closeIdleConnections" in server) server.closeIdleConnections();
						}),
				});
			});
		} finally {
			process.umask(before);
		}
	});
}
