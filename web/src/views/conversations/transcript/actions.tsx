// Actions on a message: edit it, answer again, branch, undo. Each keeps the earlier text as another version.

import { ChevronLeft, ChevronRight } from "lucide-react";
import { createContext, useContext, useState } from "react";
import { api, attachmentBlob } from "../../../api/index.ts";
import type { Conversation, Message } from "../../../api/types.ts";
import { texts } from "../../../texts/conversations.ts";
import { ErrorLine, IconButton } from "../../../ui/index.ts";
import { attachedTo, textOf } from "./content.ts";
import type { TranscriptState } from "./store.ts";
import type { Fork } from "./versions.ts";

export interface MessageActions {
	/** Puts the message into the box. The next message sent replaces it. */
	readonly edit: (message: Message) => void;
	/** Asks again for this answer; null if that is not possible. */
	readonly regenerate: (message: Message) => (() => void) | null;
	readonly branch: (message: Message) => void;
	/** Undoes the message, and puts its text back into the box. */
	readonly undo: (message: Message) => void;
}

const Actions = createContext<MessageActions | null>(null);

export const MessageActionsProvider = Actions.Provider;

export function useMessageActions(): MessageActions | null {
	return useContext(Actions);
}

/** The person's message that led to an answer: the first one of its turn. */
export function askedBy(answer: Message, { segments }: TranscriptState): Message | null {
	const rows = segments.find(({ id }) => id === answer.session)?.messages ?? [];
	const index = rows.findIndex(({ id }) => id === answer.id);
	const last = rows.slice(0, index).findLast(({ role, hidden }) => role === "user" && !hidden);
	if (!last || last.turn === null) return last ?? null;
	return rows.find(({ role, turn, hidden }) => role === "user" && turn === last.turn && !hidden) ?? last;
}

/** The message's text and its files. */
export async function contentsOf(
	{ id }: Conversation,
	{ content }: Message,
): Promise<{ readonly text: string; readonly files: readonly File[] }> {
	const files = attachedTo(content).map(async ({ blob, media_type, name = "file" }) => {
		const bytes = await attachmentBlob(id, blob, media_type);
		return new File([bytes], name, { type: media_type });
	});
	return { text: textOf(content), files: await Promise.all(files) };
}

/** Switches to another version of the messages that follow. The agent continues with it. */
export function VersionSwitch({
	conversation,
	fork,
}: {
	readonly conversation: string;
	readonly fork: Fork;
}) {
	const [error, setError] = useState<unknown>(null);
	const { versions, shown } = fork;
	const go = (index: number) => {
		const target = versions[index];
		if (target === undefined) return undefined;
		return () => {
			setError(null);
			api.switchSession({ conversation, target }).catch(setError);
		};
	};
	return (
		<fieldset aria-label={texts.actions.versions} className="flex items-center text-xs text-ink-2">
			<IconButton
				label={texts.actions.previousVersion}
				size="sm"
				disabled={shown === 0}
				onClick={go(shown - 1)}
			>
				<ChevronLeft size={14} />
			</IconButton>
			<span className="tabular-nums">
				{shown + 1} / {versions.length}
			</span>
			<IconButton
				label={texts.actions.nextVersion}
				size="sm"
				disabled={shown === versions.length - 1}
				onClick={go(shown + 1)}
			>
				<ChevronRight size={14} />
			</IconButton>
			{error !== null && <ErrorLine error={error} />}
		</fieldset>
	);
}
