// Archive, delete and restore, with a chance to undo.

import { X } from "lucide-react";
import { useEffect } from "react";
import { api } from "../../../api/index.ts";
import type { Conversation } from "../../../api/types.ts";
import { createValue } from "../../../lib/value.ts";
import { texts } from "../../../texts/conversations.ts";
import { Button, IconButton } from "../../../ui/index.ts";

type State = Conversation["state"];

interface Done {
	readonly ids: readonly string[];
	readonly state: Exclude<State, "open">;
}

const SHOWN_MS = 12_000;
const last = createValue<Done | null>(null);

/** Throws an ApiError. */
export async function putAway(ids: readonly string[], state: State): Promise<void> {
	await api.setConversationState({ conversations: [...ids], state });
	last.set(state === "open" ? null : { ids, state });
}

const WORDS: Readonly<Record<Done["state"], string>> = { archived: "archived", deleted: "deleted" };

/** Says what was just archived or deleted, with an undo button. */
export function PutAwayNotice({ onError }: { readonly onError: (error: unknown) => void }) {
	const done = last.use();
	useEffect(() => {
		if (!done) return;
		const timer = setTimeout(() => last.set(null), SHOWN_MS);
		return () => clearTimeout(timer);
	}, [done]);
	return (
		<div role="status" className="shrink-0">
			{done && (
				<p className="flex items-center gap-2 border-t bg-panel px-4 py-2 text-sm">
					<span className="min-w-0 flex-1">
						{done.ids.length === 1
							? texts.putAway.conversation
							: texts.putAway.conversations(done.ids.length)}{" "}
						{WORDS[done.state]}.
					</span>
					<Button size="sm" onClick={() => void putAway(done.ids, "open").catch(onError)}>
						{texts.putAway.undo}
					</Button>
					<IconButton label={texts.putAway.dismiss} size="sm" onClick={() => last.set(null)}>
						<X size={14} />
					</IconButton>
				</p>
			)}
		</div>
	);
}

/** Shown above an archived or deleted conversation, with a restore button. */
export function PutAwayBanner({
	conversation: { id, state },
	onError,
}: {
	readonly conversation: Conversation;
	readonly onError: (error: unknown) => void;
}) {
	if (state === "open") return null;
	return (
		<p className="flex shrink-0 items-center gap-3 border-b bg-panel px-4 py-2 text-sm text-ink-2">
			<span className="min-w-0 flex-1">
				{state === "archived"
					? texts.putAway.thisConversationIsArchivedThe
					: texts.putAway.thisConversationIsDeletedOnly}
			</span>
			<Button size="sm" onClick={() => void putAway([id], "open").catch(onError)}>
				{texts.putAway.restore}
			</Button>
		</p>
	);
}
