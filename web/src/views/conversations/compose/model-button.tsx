// The name of the model that answers; a click chooses another.

import { ChevronDown } from "lucide-react";
import type { Conversation } from "../../../api/types.ts";
import { texts } from "../../../texts/conversations.ts";

/** Null: the default model answers. */
export type ModelOverride = Conversation["model_override"];

/** In the form people type: `provider:model`, or the model alone. Empty for none. */
export function modelName(override: ModelOverride): string {
	return [override?.provider, override?.model].filter(Boolean).join(":");
}

export function ModelButton({ model, onClick }: { readonly model: string; readonly onClick: () => void }) {
	return (
		<button
			type="button"
			title={texts.header.modelForThisConversation}
			className="group/model inline-flex max-w-full items-center gap-0.5 rounded-xs align-bottom hover:text-ink"
			onClick={onClick}
		>
			<span className="truncate">{model}</span>
			<ChevronDown size={13} aria-hidden className="shrink-0" />
		</button>
	);
}
