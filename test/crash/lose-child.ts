// Owns a store and writes as fast as it can, several at once, until it is refused. Says as JSON lines of each acknowledged write whether
// the marker was there before it began, and at the end what it was refused with. `lose-child.ts <path> <marker>`.
import "../support/keep-compiled.ts";
import { existsSync } from "node:fs";
import { KeryxError } from "../../src/errors.ts";
import { hello, open } from "./support.ts";

const [path = "", marker = ""] = process.argv.slice(2);
const store = await open(path);
console.log("owner");
let n = 0;
const lane = async (): Promise<KeryxError> => {
	for (;;) {
		const isLate = existsSync(marker);
		try {
			const { id } = await store.accept(hello(`${process.pid} ${n++}`));
			console.log(JSON.stringify({ isLate, id }));
		} catch (error) {
			if (error instanceof KeryxError) return error;
			throw error;
		}
	}
};
const [refused] = await Promise.all(Array.from({ length: 4 }, lane));
// Ends as after kill -9: nothing is put in order. Not before the pipe has taken the line, which it does late if its reader is.
process.stdout.write(`${JSON.stringify({ refused })}\n`, () => process.kill(process.pid, "SIGKILL"));
