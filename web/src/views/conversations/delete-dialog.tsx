import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { Conversation } from "../../api/types.ts";
import { Button, Dialog, ErrorLine } from "../../ui/index.ts";
import { exportConversation } from "./export.ts";
import { putAway } from "./put-away.tsx";

/** Says what deleting means, and offers a copy first. */
export function DeleteDialog({
	conversations,
	onClose,
}: {
	readonly conversations: readonly Conversation[];
	readonly onClose: () => void;
}) {
	const remove = useMutation({
		mutationFn: () =>
			putAway(
				conversations.map(({ id }) => id),
				"deleted",
			),
		onSuccess: onClose,
	});
	const save = useMutation({
		mutationFn: async () => {
			for (const one of conversations) await exportConversation(one, "markdown");
		},
	});
	const [first] = conversations;
	const what =
		conversations.length === 1 && first ? `“${first.name}”` : `${conversations.length} conversations`;
	return (
		<Dialog
			open
			onOpenChange={onClose}
			title={`Delete ${what}?`}
			actions={
				<>
					<Button look="quiet" onClick={onClose}>
						Cancel
					</Button>
					<Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
						Delete
					</Button>
				</>
			}
		>
			<div className="flex flex-col gap-3">
				<p>
					It disappears from the list and from the search at once. A running answer and background processes
					end.
				</p>
				<p className="text-ink-2">
					You can restore it: choose Deleted in the list’s filter. Keryx removes it for good only by retention
					(the setting <code className="font-mono text-sm">retention.days</code>; 0 keeps everything). If
					somebody writes there again, a new conversation begins.
				</p>
				<div>
					<Button
						size="sm"
						icon={<Download size={14} />}
						disabled={save.isPending}
						onClick={() => save.mutate()}
					>
						{save.isSuccess ? "Saved as Markdown" : "Save a copy as Markdown"}
					</Button>
				</div>
				{(remove.error ?? save.error) && <ErrorLine error={remove.error ?? save.error} />}
			</div>
		</Dialog>
	);
}
