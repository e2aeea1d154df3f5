// The store's contents: whether it opens, whether invariants hold, whether search is complete. Works next to a running Keryx; only the
// search index is ever rebuilt, by that Keryx if there is one.

import { statSync } from "node:fs";
import { type Home, isOnServer, mayHaveStore, storeUrlOf } from "../../../app/home.ts";
import type { Config } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import type { Client } from "../../../http/index.ts";
import type { Secrets } from "../../../secrets/index.ts";
import {
	OPERATOR,
	openStore,
	SCHEMA_VERSION,
	type Store,
	shownUrl,
	systemIds,
} from "../../../store/index.ts";
import { systemClock } from "../../../time/index.ts";
import type { Output } from "../../io/output.ts";
import { whileWaiting, withProgress } from "../../io/progress.ts";
import { bytesInWords, counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { lookAtBackup } from "./backup.ts";
import { type Finding, fine, fixed, wrong } from "./finding.ts";
import { lookAtLogins } from "./keeping.ts";

export interface StoreLook {
	readonly output: Output;
	readonly home: Home;
	readonly secrets: Secrets;
	/** The running Keryx's client. */
	readonly client: Client | null;
	/** Undefined: it could not be read. */
	readonly config: Pick<Config, "backup" | "store"> | undefined;
	readonly now: number;
	/** Not the long look through every row. */
	readonly quick: boolean;
	readonly fix: boolean;
	readonly rebuild: boolean;
}

export async function lookAtStore(look: StoreLook): Promise<Finding[]> {
	if (!mayHaveStore(look.home, configured(look))) return [fine("store", texts.doctor.store.none)];
	let looked: { findings: Finding[]; search: SearchState };
	try {
		const store = await open(look, "read");
		try {
			looked = await lookInto(store, look);
		} finally {
			await store.close();
		}
	} catch (error) {
		return [refused("store", error)];
	}
	return [...looked.findings, await search(looked.search, look)];
}

/** A configuration that cannot be read names no server. */
function configured({ config }: Pick<StoreLook, "config">): Pick<Config, "store"> {
	return config ?? { store: { url: "sqlite:", nodes: "one" } };
}

function open(look: Pick<StoreLook, "home" | "secrets" | "config">, access: "read" | "own"): Promise<Store> {
	const { home, secrets } = look;
	const url = storeUrlOf(home, configured(look));
	return openStore({ url, clock: systemClock, ids: systemIds(systemClock), secrets, access });
}

/** From integrity checks and errors; null if all is well. */
interface SearchState {
	readonly problem: string | null;
	/** Too damaged to be read: it is emptied first. */
	readonly isDamaged: boolean;
}

/** This many problems are shown; --json has all of them. */
const SHOWN = 5;
const ABOUT_SEARCH = "the search index ";

async function lookInto(
	store: Store,
	look: StoreLook,
): Promise<{ findings: Finding[]; search: SearchState }> {
	const { output, home, quick, config, now } = look;
	const onServer = isOnServer(configured(look).store);
	const opened = fine(
		"store",
		onServer
			? texts.doctor.store.onServer(shownUrl(configured(look).store.url), SCHEMA_VERSION)
			: texts.doctor.store.fine(home.storePath, bytesInWords(statSync(home.storePath).size), SCHEMA_VERSION),
	);
	const backup = onServer
		? fine("backup", texts.doctor.backup.onServer)
		: lookAtBackup(await store.lastBackup({ scope: OPERATOR }), { config, now });
	const logins = await lookAtLogins(store, now);
	const damage = await searching(store);
	if (quick)
		return { findings: [opened, backup, logins], search: { problem: damage, isDamaged: damage !== null } };
	const { problems } = await whileWaiting(output, texts.doctor.store.looking, () =>
		store.checkIntegrity({ scope: OPERATOR }),
	);
	const rows = problems.filter((problem) => !problem.startsWith(ABOUT_SEARCH));
	const rest = problems.find((problem) => problem.startsWith(ABOUT_SEARCH)) ?? null;
	return {
		findings: [opened, backup, logins, integrity(rows)],
		search: { problem: damage ?? rest, isDamaged: damage !== null },
	};
}

function integrity(problems: readonly string[]): Finding {
	if (problems.length === 0) return fine("integrity", texts.doctor.store.whole);
	const more = problems.length > SHOWN ? texts.doctor.store.more(problems.length - SHOWN) : "";
	return wrong(
		"integrity",
		`${counted(problems.length, "problem")}: ${problems.slice(0, SHOWN).join("; ")}${more}`,
		texts.doctor.store.remedy,
	);
}

async function searching(store: Store): Promise<string | null> {
	try {
		await store.search({ scope: OPERATOR, query: "keryx", limit: 1 });
		return null;
	} catch (error) {
		if (error instanceof KeryxError) return error.message;
		throw error;
	}
}

async function search({ problem, isDamaged }: SearchState, look: StoreLook): Promise<Finding> {
	if (!look.rebuild && (problem === null || !look.fix))
		return problem === null
			? fine("search", look.quick ? texts.doctor.store.search : texts.doctor.store.searchWhole)
			: wrong("search", problem, texts.doctor.store.searchRemedy, texts.doctor.store.mends);
	try {
		return fixed(
			"search",
			texts.doctor.store.rebuilt(
				counted(await rebuild(look, isDamaged), "message or title", "messages and titles"),
			),
		);
	} catch (error) {
		return refused("search", error);
	}
}

async function rebuild(look: StoreLook, wipe: boolean): Promise<number> {
	const { output, client } = look;
	const store = client ? null : await open(look, "own");
	const step = (args: { cursor?: string; wipe: boolean }) => (client ?? (store as Store)).rebuildSearch(args);
	try {
		return await withProgress(output, async (tell) => {
			let total = 0;
			for (let cursor: string | null = ""; cursor !== null; ) {
				const { indexed, next } = await step({ wipe, ...(cursor !== "" && { cursor }) });
				total += indexed;
				tell(texts.doctor.store.rebuilding(counted(total, "row")));
				cursor = next;
			}
			return total;
		});
	} finally {
		await store?.close();
	}
}

function refused(check: string, error: unknown): Finding {
	if (error instanceof KeryxError) return wrong(check, error.message, error.hint);
	throw error;
}
