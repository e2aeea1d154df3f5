// Waits for a line, then tries to own a store, and says as JSON how that went. As owner it writes as fast as it can, saying
// each acknowledged id, when it was told "write"; told "hold", it only stays. Told "steal", it deletes the owner's lock first.
// `own-child.ts <path>`.
import "../support/keep-compiled.ts";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { KeryxError } from "../../src/errors.ts";
import { hello, open } from "./support.ts";

console.log("waiting");
const [line] = (await once(process.stdin.setEncoding("utf8"), "data")) as [string];
if (line.startsWith("steal")) rmSync(`${process.argv[2]}.owner`, { force: true });
try {
	const store = await open(process.argv[2] ?? "");
	console.log(JSON.stringify({ epoch: store.epoch, pid: process.pid }));
	for (let n = 1; !line.startsWith("hold"); n++) {
		const { id } = await store.accept(hello(`${process.pid} ${n}`));
		console.log(id);
	}
	await once(process.stdin, "end");
	await store.close();
} catch (error) {
	if (!(error instanceof KeryxError)) throw error;
	console.log(JSON.stringify(error));
	process.stdin.destroy();
}
