// The new version's own checks, in a separate process, before an update: `node check.js <home> <copy of the store>`. The running version
// starts this file of the other version, so its name, arguments and output never change.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkConfig } from "../config/index.ts";
import { NO_SECRETS, OPERATOR, openStore, SCHEMA_VERSION, systemClock, systemIds } from "../store/index.ts";

export interface Checked {
	/** The version of the store that this version works with. */
	readonly schema: number;
	/** What keeps this version from working here; empty: nothing. */
	readonly problems: readonly string[];
}

async function check(home: string, copy: string): Promise<Checked> {
	const { problems } = checkConfig({ home, env: process.env });
	const ofConfig = problems.map(({ message }) => `config.yaml: ${message}`);
	if (!existsSync(copy)) return { schema: SCHEMA_VERSION, problems: ofConfig };
	const key = join(home, "audit.key");
	const store = await openStore({
		url: `sqlite:${copy}`,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
		...(existsSync(key) && { auditKey: readFileSync(key) }),
	});
	try {
		const { problems: ofStore } = await store.checkIntegrity({ scope: OPERATOR });
		return { schema: SCHEMA_VERSION, problems: [...ofConfig, ...ofStore] };
	} finally {
		await store.close();
	}
}

const [home = "", copy = ""] = process.argv.slice(2);
const checked = await check(home, copy).catch((error: unknown) => ({
	schema: SCHEMA_VERSION,
	problems: [(error as Error).message],
}));
process.stdout.write(`${JSON.stringify(checked)}\n`);
