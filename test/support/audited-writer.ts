// A program that adds to a store's audit until it is killed. Prints each acknowledged entry.
import { writeSync } from "node:fs";
import { NO_SECRETS, openStore, systemIds } from "../../src/store/index.ts";

const [path = "", witness = "", name = ""] = process.argv.slice(2);
const clock = { now: () => Date.now() };
const store = await openStore({
	url: `sqlite:${path}`,
	clock,
	ids: systemIds(clock),
	secrets: NO_SECRETS,
	auditKey: new Uint8Array(32).fill(3),
	auditWitness: witness,
});
for (let n = 0; ; n++) {
	const token = `${name}-${n}`;
	await store.createToken({ name: token, digest: token, role: "reader", by: "operator", via: "cli" });
	writeSync(1, "+");
}
