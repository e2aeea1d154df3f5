// The changes to config.yaml, before it is written.

import { useMutation } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { api } from "../../api/index.ts";
import { type DiffLine, linesBetween } from "../../lib/diff.ts";
import { texts } from "../../texts/settings.ts";
import { Button, Dialog, Diff, ErrorLine } from "../../ui/index.ts";
import type { SettingValue } from "./setting-field.tsx";

export type Preview = Answer<"previewSettings"> & {
	readonly wanted: { readonly changes: Readonly<Record<string, SettingValue>> } | { readonly undo: number };
};

/** Lines shown around each difference. */
const AROUND = 3;

export function SettingsPreview({
	preview: { before, after, version, wanted },
	onClose,
	onWritten,
}: {
	readonly preview: Preview;
	readonly onClose: () => void;
	readonly onWritten: () => void;
}) {
	const lines = useMemo(() => nearChanges(linesBetween(before, after)), [before, after]);
	const write = useMutation({
		mutationFn: () => api.changeSettings({ ...wanted, version }),
		onSuccess: onWritten,
	});
	const isUndo = "undo" in wanted;
	return (
		<Dialog
			open
			wide
			onOpenChange={(open) => !open && onClose()}
			title={isUndo ? texts.settingsPreview.undoThisChange : texts.settingsPreview.saveTheseChanges}
			about={texts.settingsPreview.thisIsHowConfigYaml}
			actions={
				<>
					<Button onClick={onClose}>{texts.settingsPreview.cancel}</Button>
					<Button look="primary" disabled={write.isPending} onClick={() => write.mutate()}>
						{isUndo ? texts.settingsPreview.undoIt : texts.settingsPreview.saveConfigYaml}
					</Button>
				</>
			}
		>
			<Diff
				lines={lines}
				label={texts.settingsPreview.differencesInConfigYaml}
				className="max-h-[50vh] rounded-md border"
			/>
			{write.isError && (
				<div className="mt-3">
					<ErrorLine error={write.error} />
				</div>
			)}
		</Dialog>
	);
}

/** The lines near each difference; a note replaces the others. */
function nearChanges(lines: readonly DiffLine[]): readonly DiffLine[] {
	const near = lines.map((_, index) =>
		lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ kind }) => kind !== "same"),
	);
	return lines.flatMap((line, index): readonly DiffLine[] => {
		if (near[index]) return [line];
		return index === 0 || near[index - 1] ? [{ kind: "note", text: "…" }] : [];
	});
}
