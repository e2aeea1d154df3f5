// One editable setting, by its type.

import { type ReactNode, useId } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/settings.ts";
import { Badge, Input, Select, TextArea } from "../../ui/index.ts";

type Setting = Answer<"settings">["settings"][number];
export type SettingValue = Setting["value"];
/** The input as typed; null resets to the default. */
export type Draft = string | boolean | null;

export function SettingField({
	setting,
	draft,
	problem,
	onChange,
}: {
	readonly setting: Setting;
	readonly draft: Draft | undefined;
	readonly problem: string | undefined;
	readonly onChange: (draft: Draft | undefined) => void;
}) {
	const { key, label, about, type, fixed, from } = setting;
	const id = useId();
	const aboutId = `${id}-about`;
	const shown = draft === undefined ? setting.value : draft === null ? setting.default : draft;
	const common = {
		id,
		disabled: fixed !== null,
		"aria-describedby": aboutId,
		"aria-invalid": problem !== undefined,
	};
	const field: ReactNode =
		type === "boolean" ? (
			<input
				{...common}
				type="checkbox"
				checked={shown === true}
				className="size-4 accent-(--accent)"
				onChange={({ target }) => onChange(target.checked)}
			/>
		) : type === "choice" ? (
			<Select
				{...common}
				value={String(shown ?? "")}
				onChange={({ target }) => onChange(target.value || null)}
			>
				{setting.default === null && <option value="">{texts.settingField.notSet}</option>}
				{setting.choices.map((choice) => (
					<option key={choice} value={choice}>
						{choice}
					</option>
				))}
			</Select>
		) : type === "long_text" ? (
			<TextArea
				{...common}
				rows={4}
				value={String(shown ?? "")}
				className="resize-y"
				onChange={({ target }) => onChange(target.value)}
			/>
		) : (
			<Input
				{...common}
				value={String(shown ?? "")}
				inputMode={type === "number" ? "decimal" : "text"}
				autoComplete="off"
				spellCheck={false}
				onChange={({ target }) => onChange(target.value)}
			/>
		);
	return (
		<div className={classes("flex min-w-0 flex-col gap-1", type === "long_text" && "md:col-span-2")}>
			<div className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
				{type === "boolean" && field}
				<label htmlFor={id} className="font-medium">
					{label}
				</label>
				{draft !== undefined && <Badge tone="accent">{texts.settingField.changed}</Badge>}
				<code className="ml-auto font-mono text-xs text-ink-3">{key}</code>
			</div>
			{type !== "boolean" && field}
			<p id={aboutId} className="text-xs text-ink-3">
				{problem === undefined ? (
					about
				) : (
					<span role="alert" className="text-danger">
						{texts.settingField.it(problem)}
					</span>
				)}
				{fixed !== null && texts.settingField.itCannotBeChangedHere(fixed)}
				{fixed === null && from === "file" && draft === undefined && (
					<>
						{" "}
						<button
							type="button"
							aria-label={texts.settingField.resetToDefault(label)}
							className="rounded-xs text-ink-2 underline underline-offset-2 hover:text-ink"
							onClick={() => onChange(null)}
						>
							{setting.default === null
								? texts.settingField.resetToDefault2
								: texts.settingField.resetToDefault3(String(setting.default))}
						</button>
					</>
				)}
				{draft !== undefined && (
					<>
						{" "}
						<button
							type="button"
							aria-label={texts.settingField.undoTheChange(label)}
							className="rounded-xs text-ink-2 underline underline-offset-2 hover:text-ink"
							onClick={() => onChange(undefined)}
						>
							{texts.settingField.undoTheChange2}
						</button>
					</>
				)}
			</p>
		</div>
	);
}

/** An empty input is the default. Text that is not a number is sent unchanged, and the server reports the error. */
export function draftValue(draft: Draft, type: string): SettingValue {
	if (draft === null || typeof draft === "boolean") return draft;
	const text = type === "long_text" ? draft : draft.trim();
	if (text.trim() === "") return null;
	return type === "number" && Number.isFinite(Number(text)) ? Number(text) : text;
}
