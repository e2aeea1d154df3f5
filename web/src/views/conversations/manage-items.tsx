// What can be done with a conversation as a whole: entries of its menu.
import { Archive, ArchiveRestore, Download, Pin, PinOff, Trash2 } from "lucide-react";
import { api } from "../../api/index.ts";
import type { Conversation } from "../../api/types.ts";
import { MenuItem, MenuSeparator } from "../../ui/index.ts";
import { exportConversation } from "./export.ts";
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
					{pinned ? "Unpin" : "Pin to the top"}
				</MenuItem>
			)}
			<MenuItem
				icon={<Download size={15} />}
				onSelect={() => run(exportConversation(conversation, "markdown"))}
			>
				Export as Markdown
			</MenuItem>
			<MenuItem icon={<Download size={15} />} onSelect={() => run(exportConversation(conversation, "jsonl"))}>
				Export as JSON
			</MenuItem>
			<MenuSeparator />
			{state === "open" ? (
				<MenuItem icon={<Archive size={15} />} onSelect={() => run(putAway([id], "archived"))}>
					Archive
				</MenuItem>
			) : (
				<MenuItem icon={<ArchiveRestore size={15} />} onSelect={() => run(putAway([id], "open"))}>
					Restore
				</MenuItem>
			)}
			{state !== "deleted" && (
				<MenuItem icon={<Trash2 size={15} />} danger onSelect={onDelete}>
					Delete
				</MenuItem>
			)}
		</>
	);
}
