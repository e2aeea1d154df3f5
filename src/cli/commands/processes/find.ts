// Finds a process by the start of its id.

import { KeryxError } from "../../../errors.ts";
import type { ProcessInfo } from "../../../processes/index.ts";
import { OPERATOR } from "../../../store/index.ts";
import { listed } from "../../io/words.ts";
import { found } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";
import type { Reach } from "./reach.ts";

const PREFIX = "proc_";
const SHORTEST = 4;
const SHOWN = 5;

export interface Named {
	readonly id: string;
	/** Null where only the store knows it. */
	readonly info: ProcessInfo | null;
}

/** By its id, or a beginning of four characters or more that only one has; `proc_` may be left out. */
export async function processNamed(reach: Reach, given: string): Promise<Named> {
	const infos = new Map((await reach.machine.inspect()).map((info) => [info.id, info]));
	const own = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given;
	for (const id of [given, PREFIX + own]) {
		const info = infos.get(id);
		if (info) return { id, info };
	}
	if (own.length < SHORTEST)
		throw new KeryxError("argument.invalid", texts.processes.tooShort(JSON.stringify(given)), {
			field: "id",
			hint: texts.processes.tooShortHint(SHORTEST),
		});
	const store = await reach.store();
	const row = store && (await found(store.process({ scope: OPERATOR, id: given })));
	const ids = [...infos.keys()].filter((id) => id.startsWith(given) || id.startsWith(PREFIX + own));
	const all = [...new Set(row ? [row.id, ...ids] : ids)];
	const [only, ...others] = all;
	if (only === undefined)
		throw new KeryxError("store.not_found", texts.processes.notFound(JSON.stringify(given)), {
			field: "id",
			hint: texts.processes.listHint,
		});
	if (others.length === 0) return { id: only, info: infos.get(only) ?? null };
	const shown = all.length > SHOWN ? [...all.slice(0, SHOWN), "others"] : all;
	throw new KeryxError("argument.invalid", texts.find.ambiguous(given, listed(shown, "or")), {
		field: "id",
		hint: texts.find.longer,
	});
}
