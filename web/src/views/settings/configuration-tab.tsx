import { useNavigate, useSearch } from "@tanstack/react-router";
import { FileCog, Search } from "lucide-react";
import { useId, useState } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { useApi } from "../../api/index.ts";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/settings.ts";
import { Empty, ErrorState, Input, Marked, SkeletonRows } from "../../ui/index.ts";
import { Problems } from "./problems.tsx";

type Entry = Answer<"config">["entries"][number];

/** Every value in force, with its source. */
export function ConfigurationTab() {
	const { q = "" } = useSearch({ from: "/settings" });
	const navigate = useNavigate({ from: "/settings" });
	const [onlyChanged, setOnlyChanged] = useState(false);
	const checkbox = useId();
	const { data, error, refetch } = useApi("config", {}, { on: ["config"] });
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows />;
	const changed = data.entries.filter(({ from }) => from !== "default").length;
	const shown = data.entries.filter(
		(entry) => (!onlyChanged || entry.from !== "default") && matches(entry, q),
	);
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-4 px-4 py-4 lg:px-6">
			<p className="text-ink-2">
				{data.file === null ? (
					texts.configurationTab.thereIsNoConfigYaml
				) : (
					<Marked text={texts.configurationTab.readFromEnvironmentVariablesOverride(data.file)} />
				)}
			</p>
			{data.problems.length > 0 && (
				<div role="alert" className="rounded-md border border-danger/50 bg-danger-soft px-4 py-3">
					<p className="font-medium text-danger">{texts.configurationTab.theFileHasErrorsKeryx}</p>
					<Problems problems={data.problems} />
				</div>
			)}
			{data.warnings.length > 0 && (
				<ul
					aria-label={texts.configurationTab.warnings}
					className="rounded-md border border-warn/40 bg-warn-soft px-4 py-2 text-sm"
				>
					{data.warnings.map((warning) => (
						<li key={warning} className="break-words text-warn">
							{warning}
						</li>
					))}
				</ul>
			)}
			<div className="flex flex-wrap items-center gap-x-4 gap-y-2">
				<Input
					type="search"
					aria-label={texts.configurationTab.filter}
					placeholder={texts.configurationTab.filterByKeyValueOr}
					icon={<Search size={15} />}
					className="w-full sm:w-80"
					value={q}
					onChange={({ target }) =>
						void navigate({
							search: ({ q: _, ...rest }) => (target.value === "" ? rest : { ...rest, q: target.value }),
							replace: true,
						})
					}
				/>
				<label htmlFor={checkbox} className="flex items-center gap-2 text-ink-2">
					<input
						id={checkbox}
						type="checkbox"
						checked={onlyChanged}
						onChange={({ target }) => setOnlyChanged(target.checked)}
						className="size-4 accent-(--accent)"
					/>
					{texts.configurationTab.changedSettingsOnly(changed)}
				</label>
			</div>
			{shown.length === 0 && (
				<Empty icon={<FileCog size={24} />} title={texts.configurationTab.noMatchingSetting}>
					{onlyChanged && q === ""
						? texts.configurationTab.allSettingsHaveTheirDefault
						: texts.configurationTab.tryAnotherWordOrFewer}
				</Empty>
			)}
			{[...groupsOf(shown)].map(([group, entries]) => (
				<Group key={group} group={group} entries={entries} />
			))}
		</div>
	);
}

function Group({ group, entries }: { readonly group: string; readonly entries: readonly Entry[] }) {
	const heading = useId();
	return (
		<section aria-labelledby={heading}>
			<h2 id={heading} className="mb-1 font-mono text-sm font-semibold">
				{group}
			</h2>
			<dl className="overflow-hidden rounded-md border">
				{entries.map((entry) => (
					<Line key={entry.key} entry={entry} />
				))}
			</dl>
		</section>
	);
}

function Line({ entry }: { readonly entry: Entry }) {
	const isChanged = entry.from !== "default";
	const name = entry.key.includes(".") ? entry.key.slice(entry.key.indexOf(".") + 1) : entry.key;
	return (
		<div
			className={classes(
				"grid grid-cols-[minmax(40%,1fr)_minmax(0,auto)] gap-x-4 gap-y-0.5 border-b px-3 py-1.5 last:border-0 sm:grid-cols-[minmax(0,2fr)_minmax(0,2.5fr)_minmax(0,2fr)]",
				isChanged && "bg-accent-soft/50",
			)}
		>
			<dt className="flex items-baseline gap-2 font-mono text-xs leading-5 break-all text-ink-2">
				<span
					aria-hidden
					className={classes("mt-[7px] size-1.5 shrink-0 self-start rounded-full", isChanged && "bg-accent")}
				/>
				{name}
			</dt>
			<dd className="min-w-0 pl-3.5 font-mono text-xs leading-5 break-words whitespace-pre-wrap max-sm:order-last max-sm:col-span-2 sm:pl-0">
				{shownValue(entry.value)}
				{entry.after_restart !== undefined && (
					<span className="block font-sans text-warn">
						{texts.configurationTab.afterARestart}
						<span className="font-mono">{shownValue(entry.after_restart)}</span>
					</span>
				)}
			</dd>
			<dd className="text-right">
				<span
					className={classes(
						"text-xs break-all",
						isChanged ? "font-medium text-accent-strong" : "text-ink-3",
					)}
				>
					{sourceOf(entry)}
				</span>
			</dd>
		</div>
	);
}

function sourceOf({ from, line, variable }: Entry): string {
	if (from === "environment") return variable ?? "environment";
	if (from === "file") return line === null ? "file" : texts.configurationTab.fileLine(line);
	return from;
}

function shownValue(value: unknown): string {
	if (typeof value === "string") return value === "" ? '""' : value;
	return JSON.stringify(value) ?? "";
}

function matches(entry: Entry, text: string): boolean {
	const all = `${entry.key} ${shownValue(entry.value)} ${sourceOf(entry)}`.toLowerCase();
	return text
		.toLowerCase()
		.split(/\s+/)
		.every((word) => all.includes(word));
}

/** Groups entries by the first word of their key, in the server's order. Keys of one word form one group. */
function groupsOf(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
	return Map.groupBy(entries, ({ key }) =>
		key.includes(".") ? key.slice(0, key.indexOf(".")) : texts.configurationTab.topLevel,
	);
}
