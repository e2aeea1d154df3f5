// Who changed which setting, when, and a way to undo it.

import { useMutation } from "@tanstack/react-query";
import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import { Badge, Button, ErrorLine, PlainText, RelativeTime } from "../../ui/index.ts";
import { useWho } from "../confirmations/words.ts";

export function SettingsHistory({ onUndo }: { readonly onUndo: (n: number) => Promise<void> }) {
	const { data, error } = useApi("settingsHistory", {}, { on: ["config"] });
	const whoOf = useWho();
	const undo = useMutation({ mutationFn: onUndo });
	return (
		<section aria-labelledby="history-heading">
			<h2 id="history-heading" className="text-base font-semibold">
				{texts.settingsHistory.history}
			</h2>
			<p className="text-sm text-ink-2">{texts.settingsHistory.changesMadeOnThisPage}</p>
			{error && <ErrorLine error={error} />}
			{undo.isError && <ErrorLine error={undo.error} />}
			{data?.changes.length === 0 && (
				<p className="mt-2 text-ink-3">{texts.settingsHistory.nothingHasBeenChangedYet}</p>
			)}
			<ol aria-label={texts.settingsHistory.settingChanges} className="mt-1">
				{data?.changes.map(({ n, at, who, edits, undoes, failed, fixed }) => (
					<li key={n} className="flex flex-wrap items-start gap-x-3 gap-y-1 border-b py-2.5 last:border-0">
						<div className="min-w-0 flex-1 basis-72">
							{edits.map(({ key, before, after }) => (
								<p key={key} className="text-sm wrap-anywhere">
									<code className="font-mono text-xs">{key}</code>{" "}
									<span className="text-ink-3 line-through">
										<PlainText text={shown(before)} />
									</span>{" "}
									<PlainText text={shown(after)} />
								</p>
							))}
							<p className="text-xs text-ink-3">
								<RelativeTime at={at} /> {texts.settingsHistory.by(whoOf(who))}
								{undoes !== null && texts.settingsHistory.toUndoAnEarlierChange}
							</p>
						</div>
						{failed !== null && <Badge tone="warn">{texts.settingsHistory.notSaved(failed)}</Badge>}
						<Button
							size="sm"
							disabled={fixed !== null || undo.isPending}
							title={fixed ?? undefined}
							onClick={() => undo.mutate(n)}
						>
							{texts.settingsHistory.undo}
						</Button>
					</li>
				))}
			</ol>
		</section>
	);
}

const LONGEST = 200;

function shown(value: unknown): string {
	if (value === null || value === undefined) return "default";
	const text = typeof value === "string" ? value : JSON.stringify(value);
	return text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text;
}
