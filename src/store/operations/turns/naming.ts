// The model's name for a conversation, with the cost of the call: one transaction, after the turn has ended.
import { KeryxError } from "../../../errors.ts";
import { type Context, get, type Op } from "../../query.ts";
import { giveTitle } from "../sessions/commands.ts";
import { nameByTopic } from "../sessions/filing.ts";
import { findConversation, sessionOfKey } from "../sessions/sessions.ts";
import { addModelCall, type ModelCall } from "./model-calls.ts";
import { turnById } from "./row.ts";

/** The calls of a turn itself count from 1. */
const NAMING_CALL = 0;

export interface NameArgs {
	readonly turn: string;
	/** Null: the model was asked, but gave none. */
	readonly title: string | null;
	readonly call: Omit<ModelCall, "n" | "aside">;
}

/** Repeating it changes nothing. A person's title stays. */
export function* nameByModel(context: Context, { turn: id, title, call }: NameArgs): Op<void> {
	const turn = yield* get(turnById, id);
	if (!turn) throw new KeryxError("store.not_found", `no turn ${id}`, { field: "turn" });
	yield* addModelCall(context, turn, { ...call, n: NAMING_CALL, aside: true });
	const conversation = yield* findConversation(turn.conversation);
	const session = yield* sessionOfKey(turn.session);
	if (title === null || session.title_source === "user" || session.title_source === "model") return;
	yield* giveTitle(context, conversation, session, title, "model");
	yield* nameByTopic(context, conversation, title, "model");
}
