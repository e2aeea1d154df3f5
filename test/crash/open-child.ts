// Opens a store, writes and reads in it, and says as JSON how that went. `open-child.ts <path> [own|read]`.
import "../support/keep-compiled.ts";
import { KeryxError } from "../../src/errors.ts";
import { hello, open } from "./support.ts";

const [path = "", access] = process.argv.slice(2);
try {
	const store = await open(path, access === "read" ? "read" : "own");
	if (access !== "read") await store.accept(hello(`${process.pid}`));
	const { length } = await store.conversations({ scope: { kind: "operator" }, limit: 10 });
	await store.close();
	console.log(JSON.stringify({ epoch: store.epoch, conversations: length }));
} catch (error) {
	if (!(error instanceof KeryxError)) throw error;
	console.log(JSON.stringify(error));
}
