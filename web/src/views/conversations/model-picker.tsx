// Which model answers here, and another one instead. The choice holds for this conversation, until a new session.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/index.ts";
import type { Conversation } from "../../api/types.ts";
import { Button, Dialog, ErrorLine, Field, Input } from "../../ui/index.ts";

/** provider:model, or a model alone; what stands behind the first colon is its own name. */
const NAME = /^(?:([a-z0-9][\w.-]{0,63}):)?(\w(?:[\w.:/@-]{0,198}\w)?)$/i;

export function ModelDialog({
	conversation,
	configured,
	onClose,
}: {
	readonly conversation: Conversation;
	/** What answers where nobody has chosen. */
	readonly configured: string;
	readonly onClose: () => void;
}) {
	const { model_override: override, id } = conversation;
	const [name, setName] = useState([override?.provider, override?.model].filter(Boolean).join(":"));
	const [, provider, model] = NAME.exec(name.trim()) ?? [];
	const choose = useMutation({
		mutationFn: (chosen: Conversation["model_override"]) =>
			api.setModel({ conversation: id, override: chosen }),
		onSuccess: onClose,
	});
	return (
		<Dialog
			open
			onOpenChange={onClose}
			title="Which model answers here"
			about={`As configured: ${configured}. Another choice holds for this conversation, until a new session.`}
			actions={
				<>
					<Button disabled={override === null || choose.isPending} onClick={() => choose.mutate(null)}>
						As configured
					</Button>
					<Button
						look="primary"
						disabled={model === undefined || choose.isPending}
						onClick={() => model !== undefined && choose.mutate({ model, ...(provider && { provider }) })}
					>
						Use this model
					</Button>
				</>
			}
		>
			<Field label="Model, as provider:model">
				{(field) => (
					<Input
						id={field}
						placeholder="anthropic:claude-sonnet"
						value={name}
						onChange={({ target }) => setName(target.value)}
					/>
				)}
			</Field>
			{choose.isError && <ErrorLine error={choose.error} />}
		</Dialog>
	);
}
