// Accepts one message after the other and says so after each, for a test that watches the system calls in between.
import "../support/keep-compiled.ts";
import { writeSync } from "node:fs";
import { hello, open } from "./support.ts";

const [path = "", count] = process.argv.slice(2);
const store = await open(path);
for (let n = 1; n <= Number(count); n++) {
	await store.accept(hello(String(n)));
	writeSync(1, `acknowledged ${n}\n`);
}
await store.close();
