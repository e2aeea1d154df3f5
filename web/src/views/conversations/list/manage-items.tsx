// Menu entries for a whole conversation.

import { Archive, ArchiveRestore, Download, Pin, PinOff, Trash2 } from "lucide-react";
import { api } from "../../../api/index.ts";
import type { Conversation } from "../../../api/types.ts";
import { texts } from "../../../texts/conversations.ts";
import { MenuItem, MenuSeparator } from "../../../ui/index.ts";
import { exportConversation } from "../export.ts";
import { putAway } from "./put-away.tsx";

export function ManageItems({
	conversation,
	onDelete,
	onError,
}: {
	readonly conversation: Conversation;
	readonly onDelete: () => void;
	readonly onError: (error: unknown) => void;
}) {
	const { id, state, pinned } = conversation;
	const run = (what: Promise<unknown>): void => void what.catch(onError);
	return (
		<>
			{state === "open" && (
				<MenuItem
					icon={pinned ? <PinOff size={15} /> : <Pin size={15} />}
					onSelect={() => run(api.pinConversation({ conversation: id, pinned: !pinned }))}
				>
					{pinned ? texts.manageItems.unpin : texts.manageItems.pinToTheTop}
				</MenuItem>
			)}
			<MenuItem
				icon={<Download size={15} />}
				onSelect={() => run(exportConversation(conversation, "markdown"))}
			>
				{texts.manageItems.exportAsMarkdown}
			</MenuItem>
			<MenuItem icon={<Download size={15} />} onSelect={() => run(exportConversation(conversation, "jsonl"))}>
				{texts.manageItems.exportAsJSON}
			</MenuItem>
			<MenuSeparator />
			{state === "open" ? (
				<MenuItem icon={<Archive size={15} />} onSelect={() => run(putAway([id], "archived"))}>
					{texts.manageItems.archive}
				</MenuItem>
			) : (
				<MenuItem icon={<ArchiveRestore size={15} />} onSelect={() => run(putAway([id], "open"))}>
					{texts.manageItems.restore}
				</MenuItem>
			)}
			{state !== "deleted" && (
				<MenuItem icon={<Trash2 size={15} />} danger onSelect={onDelete}>
					{texts.manageItems.delete}
				</MenuItem>
			)}
		</>
	);
}
