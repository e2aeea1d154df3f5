// The end of a turn on its way to the store: what it writes, and how far it has come. It is tried again after a fault, and written in a
// plainer form if something in it is at fault.
import type { NewMessage, ResetPolicy } from "../../domain/index.ts";
import type { NewDelivery, Process, Store } from "../../store/index.ts";
import { answeringModel } from "../commands/words.ts";
import type { TurnCheckpoints } from "../files/turn-checkpoints.ts";
import { asOne } from "../outbox/as-one.ts";
import { UNEXPECTED } from "../sentences.ts";
import type { Asking } from "./asking.ts";
import { filesOf } from "./attachments/files-out.ts";
import { isLeftOut, leftOutNotice } from "./attachments/left-out.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { lastRows, type NoticeAbout, type Outcome, replyTo, rotation } from "./end.ts";
import type { Preview } from "./previews.ts";
import type { TurnRows } from "./rows.ts";
import { isQuiet, type TurnStart } from "./start.ts";

/** More are not named: those that run come first. */
const MOST_PROCESSES = 100;

export type EndTurnArgs = Parameters<Store["endTurn"]>[0];

export const FAILED: Outcome = { kind: "failed", reason: "internal", sentence: UNEXPECTED };

/** The outcome of a turn, and how much of its end is done. */
export class Ending {
	outcome: Outcome;
	rows: readonly NewMessage[];
	mustRotate = false;
	/** Its preview is settled and its files are saved. */
	isSettled = false;
	/** Null: not created yet. */
	args: EndTurnArgs | null = null;

	constructor(outcome: Outcome, rows: readonly NewMessage[]) {
		this.outcome = outcome;
		this.rows = rows;
	}

	rotates(): void {
		this.mustRotate = true;
		this.args = null;
	}

	/** Without anything that could be at fault: no rows of the agent, no reply of the agent. */
	makePlain(purpose: TurnStart["purpose"]): void {
		this.outcome = FAILED;
		this.rows = purpose === "compaction" ? [] : lastRows(FAILED, { held: [], partial: "" });
		this.isSettled = true;
		this.args = null;
	}
}

/** The turn that ends, as far as its end needs it. */
export interface EndingTurn {
	readonly start: TurnStart;
	readonly with: TurnDependencies;
	/** Does not wait for a store in trouble: the whole end is tried again. */
	readonly store: Store;
	readonly policy: ResetPolicy;
	readonly rows: TurnRows;
	readonly blobs: readonly string[];
	/** Attachments that the last step left out and a later one does not. */
	readonly unshown: readonly string[];
	readonly preview: Preview | undefined;
	readonly asking: Asking;
	readonly checkpoints: TurnCheckpoints;
}

/** Everything the end of the turn writes. Made once: after a fault of the store, the same is written again. */
export async function endTurnArgs(
	{ outcome, rows, mustRotate }: Ending,
	ending: EndingTurn,
): Promise<EndTurnArgs> {
	const { start, policy, preview, asking, checkpoints } = ending;
	const { turn, token, boundary, conversationInfo } = start;
	const { openingOf, isOwners, store } = ending.with;
	const about = noticeAbout(start, ending.with, policy);
	const messages = ending.rows.indexed(rows);
	const count = ending.rows.count + rows.filter((row) => row.role !== "meta").length;
	const { cap } = ending.rows;
	const full = mustRotate || (cap > 0 && count >= cap);
	const shown = isOwners ? outcome : store.secrets.forOthers.hideIn(outcome);
	const reply = asOne(
		[...replyTo(shown, start, about), ...(isQuiet(start) ? [] : sideMessages(outcome, rows, ending, about))],
		about.outlet,
	);
	return {
		turn,
		token,
		outcome: outcome.kind === "failed" ? { kind: "failed", reason: outcome.reason } : { kind: outcome.kind },
		messages,
		blobs: ending.blobs,
		deliveries: preview?.holdBack(reply) ?? reply,
		policy,
		noticeGiven: outcome.kind === "completed" && boundary !== null && !isQuiet(start),
		...(full && {
			ifRotated: rotation(start, {
				...about,
				cap,
				opening: openingOf(conversationInfo),
				processes: await openProcesses(ending),
				confirmations: await asking.allOpen(),
				checkpoint: await checkpoints.rotation(),
			}),
		}),
	};
}

export function noticeAbout(
	{ conversationInfo }: TurnStart,
	{ config, outlet }: Pick<TurnDependencies, "config" | "outlet">,
	policy: ResetPolicy,
): NoticeAbout {
	return { policy, outlet, model: answeringModel(config.agent, conversationInfo.modelOverride) };
}

/** Files, and a notice about attachments that the model was not shown. */
function sideMessages(
	outcome: Outcome,
	rows: readonly NewMessage[],
	{ start, unshown, rows: written }: EndingTurn,
	{ outlet }: NoticeAbout,
): NewDelivery[] {
	const leftOut = [...written.all.filter((row) => row.turn === start.turn), ...rows].filter(isLeftOut);
	return [
		...(outcome.kind === "completed" ? filesOf(start, written.all, outlet) : []),
		...leftOutNotice(start, leftOut, unshown, outlet),
	];
}

/** Background programs: they continue after a rotation. */
async function openProcesses({
	start: { conversation },
	store,
}: EndingTurn): Promise<readonly Pick<Process, "id" | "command">[]> {
	const scope = { kind: "conversation", conversation } as const;
	const listed = await store.processes({ scope, limit: MOST_PROCESSES });
	return listed
		.filter(({ background, endedAt }) => background && endedAt === null)
		.map(({ id, command }) => ({ id, command }));
}
