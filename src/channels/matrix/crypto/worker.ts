// The entry file of the thread with the keys: a slow disk must not stop the event loop, and the library's globals stay here.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { Call, CryptoSettings, Ready, Reply } from "./calls.ts";
import { FileTaken } from "./idb-file.ts";
import { openMachine } from "./server.ts";

const port = parentPort as MessagePort;
const say = (message: Ready | Reply) => port.postMessage(message);
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

try {
	const { calls, close } = await openMachine(workerData as CryptoSettings);
	// One at a time: the library's machine expects the answer to a request before the next sync.
	let last: Promise<void> = Promise.resolve();
	const answer = async ({ id, method, args }: Call): Promise<void> => {
		try {
			if (method === "close") {
				close();
				say({ id, value: undefined });
				return;
			}
			const call = calls[method] as (...given: readonly unknown[]) => Promise<unknown>;
			say({ id, value: await call(...args) });
		} catch (error) {
			say({ id, problem: messageOf(error) });
		}
	};
	port.on("message", (call: Call) => {
		last = last.then(() => answer(call));
	});
	say({ ready: true });
} catch (error) {
	say({ problem: messageOf(error), isTaken: error instanceof FileTaken });
}
