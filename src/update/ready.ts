// Asks the Keryx that runs in a home whether it works.
import { request } from "node:http";
import { join } from "node:path";

const PATIENCE_MS = 5000;

/** True if it answers yes. health: it runs. ready: everything works, including its channels. */
export function says(home: string, what: "health" | "ready"): Promise<boolean> {
	return new Promise((resolve) => {
		const where = { socketPath: join(home, "keryx.sock"), path: `/${what}`, timeout: PATIENCE_MS };
		const asking = request(where, (answer) => {
			answer.resume();
			resolve(answer.statusCode === 200);
		});
		asking.on("timeout", () => asking.destroy());
		asking.on("error", () => resolve(false));
		asking.end();
	});
}
