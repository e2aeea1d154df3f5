// Buttons: the platform keeps an opaque id, the store keeps what pressing it does and who may (I14, I17). A button is committed with the
// delivery that shows it. When its question is settled, the same transaction ends its buttons and edits its message.
import { seal, unseal } from "../../codec.ts";
import { all, type Context, get, type Op, run, sql } from "../../query.ts";
import type { DeliveryBody, NewButton, NewDelivery, QuestionEnds } from "../../types.ts";

const insert = sql(
	`INSERT INTO buttons (id, delivery, conversation, platform, account, chat, confirmation, principal, until, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
);
const byId = sql<ButtonRow>(`SELECT * FROM buttons WHERE id = ?`);
const openOf = sql<ButtonRow>(
	"SELECT * FROM buttons WHERE confirmation = ? AND confirmation IS NOT NULL AND ended_at IS NULL",
);
const end = sql("UPDATE buttons SET ended_at = ? WHERE id = ?");
const press = sql("UPDATE buttons SET pressed_at = ? WHERE id = ? AND pressed_at IS NULL");
const forget = sql(
	"DELETE FROM buttons WHERE id IN (SELECT id FROM buttons WHERE until < ? ORDER BY until LIMIT ?)",
);

/** A later press finds nothing, and says so. */
const KEPT_MS = 7 * 86_400_000;
/** Pruned with each addition, so that there are never many. */
const FORGOTTEN_AT_ONCE = 4;

export interface ButtonRow {
	readonly id: string;
	readonly delivery: string;
	readonly platform: string;
	readonly account: string;
	readonly chat: string;
	readonly confirmation: string | null;
	readonly principal: string | null;
	readonly until: number;
	readonly pressed_at: number | null;
	readonly ended_at: number | null;
	readonly body: string;
	readonly body_key: number | null;
}

interface ButtonBody extends Pick<NewButton, "command" | "owner"> {
	/** Whether its message shows the outcome of the question. */
	readonly edited: boolean;
	readonly ends?: QuestionEnds;
}

export function* addButtons(
	context: Context,
	conversation: string,
	{ id: delivery, destination, presses = [], ends }: NewDelivery,
): Op<void> {
	const { platform, account, chatId } = destination;
	for (const [n, { id, command, principal, owner, until, confirmation }] of presses.entries()) {
		// Once per message, not per button.
		const body: ButtonBody = {
			command,
			owner,
			edited: ends !== undefined,
			...(ends && n === 0 && { ends }),
		};
		const at = [platform, account, chatId, confirmation ?? null, principal, until] as const;
		yield* run(insert, id, delivery, conversation, ...at, seal(body));
	}
	if (presses.length > 0) yield* run(forget, context.now - KEPT_MS, FORGOTTEN_AT_ONCE * presses.length);
}

export function* findButton(id: string): Op<(ButtonRow & ButtonBody) | undefined> {
	const row = yield* get(byId, id);
	return row && { ...row, ...unseal<ButtonBody>(row.body, row.body_key) };
}

/** False if someone was first. */
export function* markPressed(context: Context, id: string): Op<boolean> {
	return (yield* run(press, context.now, id)) > 0;
}

/** Ends the buttons of a confirmation. Returns the messages that showed them, updated. */
export function* endButtons(
	context: Context,
	confirmation: string,
	as: keyof QuestionEnds,
): Op<readonly { readonly delivery: string; readonly body: DeliveryBody }[]> {
	const ended: { delivery: string; body: DeliveryBody }[] = [];
	for (const row of yield* all(openOf, confirmation)) {
		yield* run(end, context.now, row.id);
		const { ends } = unseal<ButtonBody>(row.body, row.body_key);
		if (ends) ended.push({ delivery: row.delivery, body: { ...ends[as], edits: row.delivery } });
	}
	return ended;
}
