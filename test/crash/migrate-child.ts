// Opens a store of an earlier version, and with it brings it up to date. Says so, or why not, before it closes it.
// `migrate-child.ts <path>`.
import "../support/keep-compiled.ts";
import { KeryxError } from "../../src/errors.ts";
import { open } from "./support.ts";

const [path = ""] = process.argv.slice(2);
try {
	const store = await open(path);
	console.log("open");
	await store.close();
} catch (error) {
	console.log(error instanceof KeryxError ? error.code : error);
}
