// A program that accepts messages into a store until it is killed at a given write. Prints each acknowledged one.
import { writeSync } from "node:fs";
import { NO_SECRETS, openEngine, storeOn } from "../../src/store/index.ts";
import { type KillPoint, killingEngine } from "../../src/testing/killing-engine.ts";
import { countedIds } from "./clock.ts";

const [path = "", at = "", when = ""] = process.argv.slice(2);
const engine = await openEngine({ url: `sqlite:${path}`, clock: { now: () => 0 } });
const store = storeOn(killingEngine(engine, { at: Number(at), when: when as KillPoint["when"] }), {
	clock: { now: () => 0 },
	ids: countedIds(),
	secrets: NO_SECRETS,
});
for (let n = 1; n <= 3; n++) {
	await store.accept({
		kind: "person",
		source: { platform: "telegram", chat_id: "1" },
		platformMessage: `m${n}`,
		content: "hello",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "accept" },
	});
	writeSync(1, `m${n}\n`);
}
await store.close();
