import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/index.ts";
import type { Session } from "../../api/types.ts";
import { Button, Dialog, ErrorLine, Input } from "../../ui/index.ts";

export function RenameDialog({
	session,
	onClose,
}: {
	readonly session: Session;
	readonly onClose: () => void;
}) {
	const [title, setTitle] = useState(session.title ?? "");
	const rename = useMutation({
		mutationFn: () => api.setTitle({ session: session.id, title }),
		onSuccess: onClose,
	});
	const isReady = title.trim() !== "" && !rename.isPending;
	return (
		<Dialog
			open
			onOpenChange={onClose}
			title="Rename the session"
			actions={
				<>
					<Button look="quiet" onClick={onClose}>
						Cancel
					</Button>
					<Button look="primary" disabled={!isReady} onClick={() => rename.mutate()}>
						Rename
					</Button>
				</>
			}
		>
			<form
				className="flex flex-col gap-2"
				onSubmit={(event) => {
					event.preventDefault();
					if (isReady) rename.mutate();
				}}
			>
				<Input
					aria-label="Title"
					value={title}
					maxLength={500}
					onChange={({ target }) => setTitle(target.value)}
				/>
				{rename.isError && <ErrorLine error={rename.error} />}
			</form>
		</Dialog>
	);
}
