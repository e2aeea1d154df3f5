// Messages to a running, built gateway through its socket: each is answered before its lane says the next one.
import { Agent, request } from "node:http";
import { join } from "node:path";
import { TEXT } from "./store-data.ts";

const LANES = 32;
/** Each lane has so many conversations. */
const OWN = 32;

export async function sayMany(home: string, count: number): Promise<void> {
	const agent = new Agent({ keepAlive: true, maxSockets: LANES });
	const socketPath = join(home, "keryx.sock");
	let said = 0;
	const lane = async (n: number): Promise<void> => {
		while (said < count) await say(agent, socketPath, `chat ${n * OWN + (said++ % OWN)}`);
	};
	try {
		await Promise.all(Array.from({ length: LANES }, (_, n) => lane(n)));
	} finally {
		agent.destroy();
	}
}

function say(agent: Agent, socketPath: string, user: string): Promise<void> {
	const text = JSON.stringify({ model: "keryx", user, messages: [{ role: "user", content: TEXT }] });
	const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
	return new Promise((resolve, reject) => {
		const path = "/v1/chat/completions";
		const asked = request({ agent, socketPath, path, method: "POST", headers }, (answer) => {
			answer.resume();
			answer.on("error", reject);
			answer.on("end", () => {
				if (answer.statusCode === 200) resolve();
				else reject(new Error(`a message got ${answer.statusCode}`));
			});
		});
		asked.on("error", reject);
		asked.end(text);
	});
}
