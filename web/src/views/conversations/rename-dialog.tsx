import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/index.ts";
import type { Conversation } from "../../api/types.ts";
import { Button, Dialog, ErrorLine, Input } from "../../ui/index.ts";

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
			title="Rename the conversation"
			about="The name stays until you change it, here and everywhere else."
			actions={
				<>
					{conversation.title !== null && (
						<Button look="quiet" disabled={rename.isPending} onClick={() => rename.mutate(null)}>
							Remove the name
						</Button>
					)}
					<Button look="quiet" onClick={onClose}>
						Cancel
					</Button>
					<Button look="primary" disabled={!isReady} onClick={() => rename.mutate(title)}>
						Rename
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
					aria-label="Title"
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
