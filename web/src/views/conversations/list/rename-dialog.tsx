import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/index.ts";
import type { Conversation } from "../../../api/types.ts";
import { texts } from "../../../texts/conversations.ts";
import { Button, Dialog, ErrorLine, Input } from "../../../ui/index.ts";

export function RenameDialog({
	conversation,
	onClose,
}: {
	readonly conversation: Conversation;
	readonly onClose: () => void;
}) {
	const [title, setTitle] = useState(conversation.title ?? "");
	const rename = useMutation({
		mutationFn: (to: string | null) => api.renameConversation({ conversation: conversation.id, title: to }),
		onSuccess: onClose,
	});
	const isReady = title.trim() !== "" && !rename.isPending;
	return (
		<Dialog
			open
			onOpenChange={onClose}
			title={texts.renameDialog.renameTheConversation}
			about={texts.renameDialog.theNameIsUsedEverywhere}
			actions={
				<>
					{conversation.title !== null && (
						<Button look="quiet" disabled={rename.isPending} onClick={() => rename.mutate(null)}>
							{texts.renameDialog.removeTheName}
						</Button>
					)}
					<Button look="quiet" onClick={onClose}>
						{texts.renameDialog.cancel}
					</Button>
					<Button look="primary" disabled={!isReady} onClick={() => rename.mutate(title)}>
						{texts.renameDialog.rename}
					</Button>
				</>
			}
		>
			<form
				className="flex flex-col gap-2"
				onSubmit={(event) => {
					event.preventDefault();
					if (isReady) rename.mutate(title);
				}}
			>
				<Input
					aria-label={texts.renameDialog.title}
					value={title}
					maxLength={500}
					placeholder={conversation.name}
					onChange={({ target }) => setTitle(target.value)}
				/>
				{rename.isError && <ErrorLine error={rename.error} />}
			</form>
		</Dialog>
	);
}
