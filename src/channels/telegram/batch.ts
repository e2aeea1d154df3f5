// A batch of updates on its way to the host: those of one chat one after the other, chats side by side, so that a large file holds up
// its own chat alone. The cursor moves only past what is committed together with everything before it (I3).
import type { Update } from "grammy/types";
import { chatOf } from "./updates.ts";

/** Commits one update, and the cursor with it where one is given. */
export type HandIn = (update: Update, cursor: string | undefined) => Promise<void>;

/**
 * Resolves when every update is committed. Rejects with the first failure, after what was under way has ended; `onCommitted` has heard of
 * everything that was committed by then.
 */
export async function takeBatch(
	updates: readonly Update[],
	handIn: HandIn,
	onCommitted: (update: Update) => void,
): Promise<void> {
	const committed = new Set<Update>();
	let next = 0;
	let failed: { readonly error: unknown } | undefined;
	let cursor: number | undefined;
	const take = async (lane: readonly Update[]) => {
		for (const update of lane) {
			if (failed) return;
			while (committed.has(updates[next] as Update)) next++;
			const isNext = updates[next] === update;
			try {
				await handIn(update, isNext ? String(update.update_id) : undefined);
			} catch (error) {
				failed ??= { error };
				return;
			}
			if (isNext) cursor = update.update_id;
			committed.add(update);
			onCommitted(update);
		}
	};
	await Promise.all(lanesOf(updates).map(take));
	if (failed) throw failed.error;
	const last = updates.at(-1);
	// The last one to be committed was not the last of the batch.
	if (last && cursor !== last.update_id) await handIn({ update_id: last.update_id }, String(last.update_id));
}

/** By chat; a group and the supergroup that it became are one. */
function lanesOf(updates: readonly Update[]): readonly (readonly Update[])[] {
	const same = new Map<number, number>();
	for (const { message } of updates) {
		if (message?.migrate_to_chat_id !== undefined) same.set(message.migrate_to_chat_id, message.chat.id);
		if (message?.migrate_from_chat_id !== undefined) same.set(message.chat.id, message.migrate_from_chat_id);
	}
	const lanes = new Map<number, Update[]>();
	for (const update of updates) {
		const id = chatOf(update)?.id ?? 0;
		const key = same.get(id) ?? id;
		lanes.set(key, [...(lanes.get(key) ?? []), update]);
	}
	return [...lanes.values()];
}
