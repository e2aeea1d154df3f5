// Opens a store of an earlier version, and with it brings it up to date. Says each part of it, with how much it has
// written until then, or why it is refused. `migrate-child.ts <path>`.
import "../support/keep-compiled.ts";
import { KeryxError } from "../../src/errors.ts";
import { NO_SECRETS, openStore, systemClock, systemIds } from "../../src/store/index.ts";
import { urlOf } from "./support.ts";
import { writtenBy } from "./written.ts";

const [path = ""] = process.argv.slice(2);
try {
	const store = await openStore({
		url: urlOf(path),
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
		onMigration: ({ kind }) => console.log(kind, writtenBy("self", path)),
	});
	await store.close();
} catch (error) {
	console.log(error instanceof KeryxError ? error.code : error);
}
