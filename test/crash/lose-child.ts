// Owns a store and writes as fast as it can, several at once, until it is refused. Says as JSON lines when each acknowledged write
// had begun, and at the end what it was refused with. `lose-child.ts <path>`.
import "../support/keep-compiled.ts";
import { KeryxError } from "../../src/errors.ts";
import { hello, open } from "./support.ts";

const store = await open(process.argv[2] ?? "");
console.log("owner");
let n = 0;
const lane = async (): Promise<KeryxError> => {
	for (;;) {
		const began = performance.timeOrigin + performance.now();
		try {
			const { id } = await store.accept(hello(`${process.pid} ${n++}`));
			console.log(JSON.stringify({ began, id }));
		} catch (error) {
			if (error instanceof KeryxError) return error;
			throw error;
		}
	}
};
const [refused] = await Promise.all(Array.from({ length: 4 }, lane));
console.log(JSON.stringify({ refused }));
// Ends as after kill -9: nothing is put in order.
process.kill(process.pid, "SIGKILL");
