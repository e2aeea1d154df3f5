// Editable settings. Changes are a draft in this page; config.yaml is written after the person has seen the differences.

import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, useApi } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import { Button, ErrorLine, ErrorState, SkeletonRows } from "../../ui/index.ts";
import { type Draft, draftValue, SettingField, type SettingValue } from "./setting-field.tsx";
import { SettingsHistory } from "./settings-history.tsx";
import { type Preview, SettingsPreview } from "./settings-preview.tsx";

type Drafts = Readonly<Record<string, Draft>>;

export function GeneralTab() {
	const { data, error, refetch } = useApi("settings", {}, { on: ["config"] });
	const [drafts, setDrafts] = useState<Drafts>({});
	const [preview, setPreview] = useState<Preview | null>(null);
	const changes = useMemo(() => changesIn(data?.settings ?? [], drafts), [data, drafts]);
	const count = Object.keys(changes).length;
	const review = useMutation({
		mutationFn: () => api.previewSettings({ changes }),
		onSuccess: (found) => {
			if (found.problems.length === 0) setPreview({ ...found, wanted: { changes } });
		},
	});
	const problems = new Map(review.data?.problems.map(({ key, message }) => [key, message]));
	const groups = useMemo(() => Map.groupBy(data?.settings ?? [], ({ group }) => group), [data]);
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows />;
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-7 px-4 py-4 lg:px-6">
			<p className="max-w-160 text-ink-2">{texts.generalTab.changesAreSavedToConfig}</p>
			{data.problem !== null && (
				<p role="alert" className="rounded-md border border-danger/50 bg-danger-soft px-4 py-3 text-danger">
					{texts.generalTab.fixConfigYamlBeforeYou(data.problem)}
				</p>
			)}
			<form
				className="flex flex-col gap-7"
				onSubmit={(event) => {
					event.preventDefault();
					review.mutate();
				}}
			>
				{[...groups].map(([group, settings]) => (
					<fieldset key={group} disabled={data.problem !== null} className="min-w-0">
						<legend className="mb-2 text-base font-semibold">{group}</legend>
						<div className="grid grid-cols-1 gap-x-8 gap-y-4 md:grid-cols-2">
							{settings.map((setting) => (
								<SettingField
									key={setting.key}
									setting={setting}
									draft={drafts[setting.key]}
									problem={setting.key in changes ? problems.get(setting.key) : undefined}
									onChange={(draft) => {
										review.reset();
										setDrafts(({ [setting.key]: _, ...others }) =>
											draft === undefined ? others : { ...others, [setting.key]: draft },
										);
									}}
								/>
							))}
						</div>
					</fieldset>
				))}
				<div className="sticky bottom-0 -mx-4 flex flex-wrap items-center gap-3 border-t bg-ground px-4 py-3 lg:-mx-6 lg:px-6">
					<Button look="primary" type="submit" disabled={count === 0 || review.isPending}>
						{count === 0
							? texts.generalTab.noChanges
							: count === 1
								? texts.generalTab.review1Change
								: texts.generalTab.reviewChanges(count)}
					</Button>
					{count > 0 && (
						<Button
							look="quiet"
							onClick={() => {
								setDrafts({});
								review.reset();
							}}
						>
							{texts.generalTab.discard}
						</Button>
					)}
					<div role="status" className="min-w-0 flex-1 text-sm">
						{problems.size > 0 && (
							<span className="text-danger">
								{problems.size === 1
									? texts.generalTab.oneValueIsNotValid
									: texts.generalTab.valuesAreNotValid(problems.size)}
							</span>
						)}
					</div>
					{review.isError && <ErrorLine error={review.error} />}
				</div>
			</form>
			<SettingsHistory
				onUndo={(n) =>
					api.previewSettings({ undo: n }).then((found) => setPreview({ ...found, wanted: { undo: n } }))
				}
			/>
			{preview && (
				<SettingsPreview
					preview={preview}
					onClose={() => setPreview(null)}
					onWritten={() => {
						if ("changes" in preview.wanted) setDrafts({});
						review.reset();
						setPreview(null);
						void refetch();
					}}
				/>
			)}
		</div>
	);
}

/** Only the values that differ from those in force. */
function changesIn(
	settings: readonly { readonly key: string; readonly value: SettingValue; readonly type: string }[],
	drafts: Drafts,
): Readonly<Record<string, SettingValue>> {
	return Object.fromEntries(
		settings.flatMap(({ key, value, type }) => {
			const draft = drafts[key];
			if (draft === undefined) return [];
			const wanted = draftValue(draft, type);
			return wanted === value ? [] : [[key, wanted]];
		}),
	);
}
