import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { Conversation } from "../../../api/types.ts";
import { texts } from "../../../texts/conversations.ts";
import { Button, Dialog, ErrorLine, Marked } from "../../../ui/index.ts";
import { exportConversation } from "../export.ts";
import { putAway } from "./put-away.tsx";

/** Explains what deleting means, and offers an export first. */
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
		conversations.length === 1 && first
			? `“${first.name}”`
			: texts.deleteDialog.conversations(conversations.length);
	return (
		<Dialog
			open
			onOpenChange={onClose}
			title={texts.deleteDialog.delete(what)}
			actions={
				<>
					<Button look="quiet" onClick={onClose}>
						{texts.deleteDialog.cancel}
					</Button>
					<Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
						{texts.deleteDialog.delete2}
					</Button>
				</>
			}
		>
			<div className="flex flex-col gap-3">
				<p>{texts.deleteDialog.itDisappearsFromTheList}</p>
				<p className="text-ink-2">
					<Marked text={texts.deleteDialog.youCanRestoreItChoose} />
				</p>
				<div>
					<Button
						size="sm"
						icon={<Download size={14} />}
						disabled={save.isPending}
						onClick={() => save.mutate()}
					>
						{save.isSuccess ? texts.deleteDialog.savedAsMarkdown : texts.deleteDialog.saveACopyAsMarkdown}
					</Button>
				</div>
				{(remove.error ?? save.error) && <ErrorLine error={remove.error ?? save.error} />}
			</div>
		</Dialog>
	);
}
