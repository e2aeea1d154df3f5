// The current model, and a choice of others. A choice applies to this conversation until a new session.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../../../api/index.ts";
import { texts } from "../../../texts/conversations.ts";
import { Button, Dialog, ErrorLine, Field, Input, PickList } from "../../../ui/index.ts";
import { type ModelOverride, modelName } from "./model-button.tsx";

/** provider:model, or a model alone. Everything after the first colon is the model's name. */
const NAME = /^(?:([a-z0-9][\w.-]{0,63}):)?(\w(?:[\w.:/@-]{0,198}\w)?)$/i;
/** A provider may have hundreds of models; typing finds the others. */
const MOST_SHOWN = 50;

export function ModelDialog({
	override,
	profile,
	configured,
	onChoose,
	onClose,
}: {
	readonly override: ModelOverride;
	readonly profile: string;
	/** The model that answers if nobody has chosen one. */
	readonly configured: string;
	readonly onChoose: (override: ModelOverride) => Promise<unknown>;
	readonly onClose: () => void;
}) {
	const chosen = modelName(override);
	const [name, setName] = useState(chosen);
	const [, provider, model] = NAME.exec(name.trim()) ?? [];
	const { data, isPending } = useApi("modelChoices", { profile });
	const words = name === chosen ? "" : name.trim().toLowerCase();
	const fitting = (data?.models ?? [])
		.map((one, index) => ({
			value: `${one.provider}:${one.model}`,
			name: one.model,
			// The first model is the one in the configuration.
			about: index === 0 ? texts.modelPicker.defaultModel(one.provider) : one.provider,
		}))
		.filter(({ value }) => value.toLowerCase().includes(words));
	const inUse = override ? chosen : fitting[0]?.name === configured ? fitting[0].value : "";
	const choose = useMutation({ mutationFn: onChoose, onSuccess: onClose });
	const take = (wanted: string): void => {
		const [, of, called] = NAME.exec(wanted) ?? [];
		if (called !== undefined) choose.mutate({ model: called, ...(of && { provider: of }) });
	};
	return (
		<Dialog
			open
			onOpenChange={onClose}
			title={texts.modelPicker.modelForThisConversation}
			about={texts.modelPicker.defaultAnotherChoiceAppliesTo(configured)}
			actions={
				<>
					<Button disabled={override === null || choose.isPending} onClick={() => choose.mutate(null)}>
						{texts.modelPicker.useTheDefault}
					</Button>
					<Button
						look="primary"
						disabled={model === undefined || choose.isPending}
						onClick={() => model !== undefined && choose.mutate({ model, ...(provider && { provider }) })}
					>
						{texts.modelPicker.useThisModel}
					</Button>
				</>
			}
		>
			<Field label={texts.modelPicker.modelProviderModel}>
				{(field) => (
					<Input
						id={field}
						autoFocus
						placeholder="anthropic:claude-sonnet"
						value={name}
						autoComplete="off"
						spellCheck={false}
						onChange={({ target }) => setName(target.value)}
					/>
				)}
			</Field>
			{isPending && <p className="mt-2 text-sm text-ink-3">{texts.modelPicker.loadingModels}</p>}
			{fitting.length > 0 && (
				<div className="mt-2">
					<PickList
						label={texts.modelPicker.availableModels}
						picks={fitting.slice(0, MOST_SHOWN)}
						chosen={inUse}
						chosenLabel={texts.modelPicker.chosen}
						disabled={choose.isPending}
						onPick={take}
					/>
				</div>
			)}
			{fitting.length > MOST_SHOWN && (
				<p className="mt-1 text-xs text-ink-3">
					{texts.modelPicker.moreTypePartOfA(fitting.length - MOST_SHOWN)}
				</p>
			)}
			{choose.isError && <ErrorLine error={choose.error} />}
		</Dialog>
	);
}
