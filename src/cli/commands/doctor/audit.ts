// Whether the audit is intact: its chain, and its witness outside the store.

import { auditKeyIn, auditWitness, type Home, mayHaveStore, storeUrlOf } from "../../../app/home.ts";
import type { Config } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { NO_SECRETS, OPERATOR, openStore, systemIds } from "../../../store/index.ts";
import { systemClock } from "../../../time/index.ts";
import { counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, wrong } from "./finding.ts";

const REMEDY = texts.doctor.audit.remedy;

/** quick: without looking through every entry. */
export async function lookAtAudit(
	home: Home,
	config: Pick<Config, "store">,
	quick: boolean,
): Promise<Finding[]> {
	if (!mayHaveStore(home, config)) return [];
	try {
		const key = auditKeyIn(home);
		const store = await openStore({
			url: storeUrlOf(home, config),
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
				if (!entry) return [fine("audit", texts.doctor.audit.none)];
				return [wrong("audit", texts.doctor.audit.noKey, texts.doctor.audit.noKeyRemedy)];
			}
			const { count, problem } = quick
				? await store.auditStanding({ scope: OPERATOR })
				: await store.verifyAudit({ scope: OPERATOR }).then(({ count, bad }) => ({
						count,
						problem: bad && texts.doctor.audit.wrong(bad.n, bad.problem),
					}));
			if (problem !== null) return [wrong("audit", problem, REMEDY)];
			return [fine("audit", texts.doctor.audit.fine(counted(count, "entry", "entries")))];
		} finally {
			await store.close();
		}
	} catch (error) {
		// The store's own check has reported why it cannot be opened.
		if (error instanceof KeryxError && error.code.startsWith("store.")) return [];
		if (error instanceof KeryxError) return [wrong("audit", error.message, error.hint)];
		throw error;
	}
}
