// How an operation is made from its name, for the engines.
import { type SessionId, sessionIdAfter } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Drawn, ReadName, WriteName } from "../engine.ts";
import type { Context, Op, SlotCount } from "../query.ts";
import type { WitnessFound } from "../types.ts";
import { reads, writes } from "./index.ts";

/** What an engine knows beyond an operation's arguments. */
export interface OwnerContext {
	readonly epoch: number;
	readonly auditKey: Uint8Array | null;
	/** Absent: no witness is kept. */
	readonly witness?: () => WitnessFound;
	/** Only for the sole writer of a store. */
	readonly slots?: SlotCount;
}

const UNKEPT = (): WitnessFound => ({ kind: "unkept" });

export function writeOp(name: WriteName, args: unknown, drawn: Drawn, owner: OwnerContext): Op<unknown> {
	const operation = writes[name] as (context: Context, args: unknown) => Op<unknown>;
	return operation(contextOf(drawn, owner), args);
}

export function readOp(
	name: ReadName,
	args: unknown,
	{ auditKey, witness = UNKEPT }: Pick<OwnerContext, "auditKey" | "witness">,
): Op<unknown> {
	const operation = reads[name] as (
		args: unknown,
		auditKey: Uint8Array | null,
		witness: () => WitnessFound,
	) => Op<unknown>;
	return operation(args, auditKey, witness);
}

function contextOf(drawn: Drawn, { epoch, auditKey, witness = UNKEPT, slots }: OwnerContext): Context {
	let uuids = 0;
	let session: SessionId | undefined;
	return {
		now: drawn.now,
		epoch,
		auditKey,
		witness,
		slots,
		uuid: () => assertDrawn(drawn.uuids?.[uuids++]),
		sessionId: () => {
			session = session === undefined ? assertDrawn(drawn.session) : sessionIdAfter(session);
			return session;
		},
	};
}

function assertDrawn<Id>(id: Id | undefined): Id {
	if (id === undefined)
		throw new KeryxError("store.exhausted", "the ids that came with the operation are used up");
	return id;
}
