// Whether the audit is as it was written: its chain, and what its witness outside the store saw.
import { existsSync } from "node:fs";
import { auditKeyIn, auditWitness, type Home } from "../../../app/home.ts";
import { KeryxError } from "../../../errors.ts";
import { NO_SECRETS, OPERATOR, openStore, systemIds } from "../../../store/index.ts";
import { systemClock } from "../../../time/index.ts";
import { counted } from "../../io/words.ts";
import { type Finding, fine, wrong } from "./finding.ts";

const REMEDY =
	"`keryx confirm audit --verify` says more. After you restored a backup, `keryx confirm audit --accept` takes it as it is; otherwise somebody altered it: compare with a backup";

/** quick: without looking through every entry. */
export async function lookAtAudit(home: Home, quick: boolean): Promise<Finding[]> {
	if (!existsSync(home.storePath)) return [];
	try {
		const key = auditKeyIn(home);
		const store = await openStore({
			url: home.storeUrl,
			clock: systemClock,
			ids: systemIds(systemClock),
			secrets: NO_SECRETS,
			access: "read",
			...(key && { auditKey: key }),
			auditWitness: auditWitness(home),
		});
		try {
			if (!key) {
				const [entry] = await store.auditLog({ scope: OPERATOR, limit: 1 });
				if (!entry) return [fine("audit", "nothing was asked about yet")];
				return [wrong("audit", "its key, audit.key, is not there", "restore it from a backup")];
			}
			const { count, problem } = quick
				? await store.auditStanding({ scope: OPERATOR })
				: await store.verifyAudit({ scope: OPERATOR }).then(({ count, bad }) => ({
						count,
						problem: bad && `entry ${bad.n}: ${bad.problem}`,
					}));
			if (problem !== null) return [wrong("audit", problem, REMEDY)];
			return [fine("audit", `${counted(count, "entry", "entries")}, as they were written`)];
		} finally {
			await store.close();
		}
	} catch (error) {
		// What keeps the store from being opened was told with it.
		if (error instanceof KeryxError && error.code.startsWith("store.")) return [];
		if (error instanceof KeryxError) return [wrong("audit", error.message, error.hint)];
		throw error;
	}
}
