// Connecting a model: the provider, its key, one of its models. The model is tried once before anything is saved, and answers from the next
// message on.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { api, useApi } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import {
	Button,
	ErrorLine,
	ErrorState,
	Field,
	Input,
	PickList,
	Select,
	SkeletonRows,
} from "../../ui/index.ts";

type Current = Answer<"model">;
type Provider = Current["providers"][number]["provider"];

const NAMES: Readonly<Record<Provider, string>> = {
	openai: texts.modelTab.openAI,
	anthropic: texts.modelTab.anthropic,
	google: texts.modelTab.google,
	openrouter: texts.modelTab.openRouter,
	ollama: texts.modelTab.ollamaOnThisMachine,
	"openai-compatible": texts.modelTab.anotherOpenAICompatibleServer,
};

/** Provider names for use within a sentence. */
const PLACES: Readonly<Record<Provider, string>> = {
	...NAMES,
	ollama: texts.modelTab.ollama,
	"openai-compatible": texts.modelTab.ownServer,
};

/** A provider may have hundreds of models; typing finds the others. */
const MOST_SHOWN = 50;

export function ModelTab() {
	const { data, error, refetch } = useApi("model", {}, { on: ["config"] });
	if (data?.providers.length === 0)
		return <p className="px-4 py-4 lg:px-6">{texts.modelTab.theProgramThatEmbedsKeryx}</p>;
	if (!data)
		return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows rows={4} />;
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-5 px-4 py-4 lg:px-6">
			<p className="max-w-160">
				{data.kind === "ai-sdk" && data.provider ? (
					<>
						{texts.modelTab.inUse} <strong className="font-semibold">{data.model}</strong>{" "}
						<span className="text-ink-2">({PLACES[data.provider]})</span>
					</>
				) : data.kind === "offline" ? (
					texts.modelTab.noModelIsConnectedYet
				) : (
					texts.modelTab.theAgentIsSavingA(data.kind)
				)}
			</p>
			<ModelForm key={`${data.provider} ${data.model}`} current={data} />
		</div>
	);
}

/** The key exists only in this form, and is gone when the form is left. */
export function ModelForm({
	current,
	extraButton,
}: {
	readonly current: Current;
	/** Shown next to the connect button. */
	readonly extraButton?: ReactNode;
}) {
	const [provider, setProvider] = useState<Provider>(current.provider ?? "anthropic");
	const facts = current.providers.find((one) => one.provider === provider);
	const isCurrent = provider === current.provider;
	const [model, setModel] = useState(current.model ?? facts?.suggested ?? "");
	const [address, setAddress] = useState(current.base_url ?? "");
	const [key, setKey] = useState("");
	const asked = {
		provider,
		...(address.trim() !== "" && { base_url: address.trim() }),
		...(key.trim() !== "" && { key: key.trim() }),
	};
	const models = useMutation({ mutationFn: () => api.listModels(asked), gcTime: 0 });
	const taking = useMutation({
		mutationFn: () => api.takeModel({ ...asked, model: model.trim() }),
		onSuccess: () => {
			setKey("");
			models.reset();
		},
		gcTime: 0,
	});
	const choose = (next: Provider) => {
		setProvider(next);
		setKey("");
		setAddress(next === current.provider ? (current.base_url ?? "") : "");
		setModel(
			next === current.provider
				? (current.model ?? "")
				: (current.providers.find((one) => one.provider === next)?.suggested ?? ""),
		);
		models.reset();
		taking.reset();
	};
	const listed = models.data?.models ?? [];
	const words = listed.includes(model.trim()) ? "" : model.trim().toLowerCase();
	const fitting = listed.filter((name) => name.toLowerCase().includes(words));
	const lacks =
		model.trim() === "" ||
		(facts?.needs_address === true && address.trim() === "") ||
		(facts?.needs_key === true && !facts.has_key && key.trim() === "");
	const submit = (event: FormEvent) => {
		event.preventDefault();
		taking.mutate();
	};
	return (
		<form className="flex max-w-120 flex-col gap-4" onSubmit={submit}>
			<Field label={texts.modelTab.provider}>
				{(id) => (
					<Select id={id} value={provider} onChange={({ target }) => choose(target.value as Provider)}>
						{current.providers.map((one) => (
							<option key={one.provider} value={one.provider}>
								{NAMES[one.provider]}
							</option>
						))}
					</Select>
				)}
			</Field>
			{(facts?.needs_address || address !== "") && (
				<Field label={texts.modelTab.address} about={texts.modelTab.theAddressOfItsAPI}>
					{(id) => (
						<Input
							id={id}
							type="url"
							value={address}
							spellCheck={false}
							onChange={({ target }) => setAddress(target.value)}
						/>
					)}
				</Field>
			)}
			<Field label={texts.modelTab.aPIKey} about={keyHint(facts)}>
				{(id) => (
					<Input
						id={id}
						type="password"
						value={key}
						autoComplete="off"
						spellCheck={false}
						placeholder={facts?.has_key ? "stored" : ""}
						onChange={({ target }) => setKey(target.value)}
					/>
				)}
			</Field>
			<Field
				label={texts.modelTab.model}
				about={models.data ? texts.modelTab.available(listed.length) : undefined}
			>
				{(id) => (
					<div className="flex gap-2">
						<Input
							id={id}
							className="min-w-0 flex-1"
							value={model}
							autoComplete="off"
							spellCheck={false}
							onChange={({ target }) => setModel(target.value)}
						/>
						<Button type="button" disabled={models.isPending} onClick={() => models.mutate()}>
							{models.isPending ? texts.modelTab.loading : texts.modelTab.listModels}
						</Button>
					</div>
				)}
			</Field>
			{fitting.length > 0 && (
				<PickList
					label={texts.modelTab.availableModels}
					picks={fitting.slice(0, MOST_SHOWN).map((name) => ({ value: name, name }))}
					chosen={model.trim()}
					chosenLabel={texts.modelTab.chosen}
					onPick={setModel}
				/>
			)}
			{models.error && <ErrorLine error={models.error} />}
			{taking.error && <ErrorLine error={taking.error} />}
			<div className="flex flex-wrap items-center gap-3">
				<Button look="primary" type="submit" disabled={lacks || taking.isPending}>
					{taking.isPending
						? texts.modelTab.testingTheModel
						: isCurrent
							? texts.modelTab.testAndSave
							: texts.modelTab.testAndConnect}
				</Button>
				{extraButton}
				{taking.data && (
					<p role="status" className="text-ink-2">
						{texts.modelTab.answeredInMsItIs(taking.data.model, taking.data.ms)}
					</p>
				)}
			</div>
		</form>
	);
}

function keyHint(facts: Current["providers"][number] | undefined): string {
	if (facts?.has_key) return texts.modelTab.aKeyIsSavedLeave;
	return facts?.needs_key ? texts.modelTab.itIsSavedInA : texts.modelTab.onlyIfTheServerNeeds;
}
