// Finds a confirmation by the start of its id.

import { KeryxError } from "../../../errors.ts";
import type { Client } from "../../../http/index.ts";
import { listed } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { ask, PAGE } from "./calls.ts";

const WHOLE = /^[0-9a-f]{12}$/;
const BEGINNING = /^[0-9a-f]{1,11}$/;
/** Older ones need their whole id. */
const NEWEST = 1000;

/** Among waiting ones, or the newest; a complete id is used as it is. */
export async function confirmationId(
	client: Client,
	given: string,
	among: "pending" | "newest",
): Promise<string> {
	if (WHOLE.test(given)) return given;
	if (!BEGINNING.test(given)) throw none(given, among);
	const ids: string[] = [];
	for (let before: string | undefined; ids.length < NEWEST; ) {
		const { confirmations, next } = await ask(client, "confirmList", {
			query: {
				limit: PAGE,
				...(among === "pending" && { status: "pending" }),
				...(before !== undefined && { before }),
			},
		});
		ids.push(...confirmations.map(({ id }) => id));
		if (next === null) break;
		before = next;
	}
	return theOne(ids, given) ?? fail(none(given, among));
}

/** Undefined if there is none. */
export function theOne(ids: readonly string[], beginning: string): string | undefined {
	const found = ids.filter((id) => id.startsWith(beginning));
	if (found.length <= 1) return found[0];
	const shown = found.length > 5 ? [...found.slice(0, 5), "others"] : found;
	throw new KeryxError("argument.invalid", texts.find.ambiguous(beginning, listed(shown, "or")), {
		field: "id",
		hint: texts.find.longer,
	});
}

function none(given: string, among: "pending" | "newest"): KeryxError {
	const which = among === "pending" ? texts.confirm.noneWaiting : texts.confirm.none;
	return new KeryxError("store.not_found", texts.find.none(which, JSON.stringify(given)), {
		field: "id",
		hint: texts.confirm.listHint,
	});
}

function fail(error: KeryxError): never {
	throw error;
}
