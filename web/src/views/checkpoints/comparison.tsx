// The differences between a checkpoint and another one, or the present. The older one always comes first.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, FileDiff as FileIcon, RotateCw, Undo2 } from "lucide-react";
import { useId, useMemo, useState } from "react";
import { api } from "../../api/index.ts";
import { classes } from "../../lib/classes.ts";
import { unifiedLines } from "../../lib/diff.ts";
import { texts } from "../../texts/checkpoints.ts";
import { Badge, Button, Diff, Empty, ErrorState, IconButton, Select, SkeletonRows } from "../../ui/index.ts";
import { Changes } from "./changes.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";
import { type Checkpoint, count, type FileDiff, nameOf, timeOf } from "./words.ts";

export interface Compared {
	readonly conversation: string;
	readonly checkpoint: Checkpoint;
	readonly checkpoints: readonly Checkpoint[];
	/** Id of the other checkpoint; undefined compares with the present. */
	readonly other: string | undefined;
	readonly file: string | undefined;
}

export function Comparison(compared: Compared) {
	const { conversation, checkpoint, checkpoints, other, file } = compared;
	const [restoring, setRestoring] = useState<{ readonly file?: string } | null>(null);
	const [from, to] = inOrder(checkpoint, other, checkpoints);
	const diff = useQuery({
		queryKey: ["checkpointDiff", conversation, from, to],
		queryFn: ({ signal }) => api.checkpointDiff({ conversation, id: from, to }, signal),
		meta: { on: ["checkpoint", "restore"] },
		// Files change without events.
		staleTime: to === "now" ? 0 : Number.POSITIVE_INFINITY,
		placeholderData: keepPreviousData,
	});
	return (
		<section aria-label={texts.comparison.comparison} className="flex h-full min-h-0 min-w-0 flex-1 flex-col">
			<Heading
				{...compared}
				onRefresh={() => void diff.refetch()}
				isRefreshing={diff.isFetching}
				onRestore={() => setRestoring({})}
			/>
			{diff.data ? (
				<Files
					files={diff.data.files}
					selected={file}
					conversation={conversation}
					checkpoint={checkpoint}
					other={other}
					onRestore={(path) => setRestoring({ file: path })}
				/>
			) : diff.error ? (
				<ErrorState error={diff.error} onRetry={() => void diff.refetch()} />
			) : (
				<SkeletonRows />
			)}
			{restoring && (
				<RestoreDialog
					conversation={conversation}
					target={checkpoint}
					file={restoring.file}
					onClose={() => setRestoring(null)}
				/>
			)}
		</section>
	);
}

function inOrder(
	one: Checkpoint,
	other: string | undefined,
	all: readonly Checkpoint[],
): readonly [string, string] {
	if (other === undefined) return [one.id, "now"];
	const indexOf = (id: string) => all.findIndex((each) => each.id === id);
	return indexOf(other) > indexOf(one.id) ? [other, one.id] : [one.id, other];
}

function Heading({
	conversation,
	checkpoint,
	checkpoints,
	other,
	onRefresh,
	isRefreshing,
	onRestore,
}: Compared & {
	readonly onRefresh: () => void;
	readonly isRefreshing: boolean;
	readonly onRestore: () => void;
}) {
	const navigate = useNavigate({ from: "/checkpoints" });
	const field = useId();
	const before = checkpoints[checkpoints.findIndex(({ id }) => id === checkpoint.id) + 1];
	const { excluded } = checkpoint;
	return (
		<header className="flex shrink-0 flex-col gap-2 border-b px-4 py-2.5">
			<div className="flex items-center gap-2">
				<Link
					to="/checkpoints"
					search={{ conversation }}
					aria-label={texts.comparison.allCheckpoints}
					className="-ml-1.5 inline-flex size-8 shrink-0 items-center justify-center rounded-sm text-ink-2 hover:bg-hover md:hidden"
				>
					<ArrowLeft size={16} aria-hidden />
				</Link>
				<div className="min-w-0 flex-1">
					<h2 className="truncate font-semibold">{nameOf(checkpoint)}</h2>
					<p className="truncate text-xs text-ink-3">
						{timeOf(checkpoint)} · {count(checkpoint.files, "file")} ·{" "}
						<code className="font-mono">{checkpoint.id.slice(0, 12)}</code>
					</p>
				</div>
				<Button look="primary" icon={<Undo2 size={15} />} onClick={onRestore}>
					{texts.comparison.restore}
				</Button>
			</div>
			<div className="flex items-center gap-2 text-sm text-ink-2">
				<label htmlFor={field} className="shrink-0">
					{texts.comparison.comparedWith}
				</label>
				<div className="min-w-0">
					<Select
						id={field}
						value={other ?? "now"}
						onChange={({ target: { value } }) =>
							void navigate({
								search: { conversation, id: checkpoint.id, ...(value !== "now" && { with: value }) },
							})
						}
					>
						<option value="now">{texts.comparison.now}</option>
						{before && <option value={before.id}>{texts.comparison.thePreviousOne}</option>}
						{checkpoints
							.filter(({ id }) => id !== checkpoint.id && id !== before?.id)
							.map((one) => (
								<option key={one.id} value={one.id}>
									{timeOf(one)}: {nameOf(one)}
								</option>
							))}
					</Select>
				</div>
				<IconButton
					label={texts.comparison.compareAgain}
					size="sm"
					disabled={isRefreshing}
					onClick={onRefresh}
				>
					<RotateCw size={14} />
				</IconButton>
			</div>
			{excluded.length > 0 && (
				<p className="text-xs text-ink-3">
					{texts.comparison.notSaved}
					{excluded
						.map(
							({ reason, count: n, examples }) =>
								`${examples[0] ?? ""}${n > 1 ? andMore(n - 1) : ""} (${reason})`,
						)
						.join(", ")}
				</p>
			)}
		</header>
	);
}

function Files({
	files,
	selected,
	conversation,
	checkpoint,
	other,
	onRestore,
}: {
	readonly files: readonly FileDiff[];
	readonly selected: string | undefined;
	readonly conversation: string;
	readonly checkpoint: Checkpoint;
	readonly other: string | undefined;
	readonly onRestore: (path: string) => void;
}) {
	const shown = files.find(({ path }) => path === selected) ?? files[0];
	if (!shown)
		return (
			<Empty icon={<FileIcon size={24} />} title={texts.comparison.noDifferences}>
				{other === undefined ? texts.comparison.theFilesAreTheSame : texts.comparison.theFilesWereTheSame}
			</Empty>
		);
	return (
		<div className="flex min-h-0 flex-1 flex-col xl:flex-row">
			<nav
				aria-label={texts.comparison.changedFiles}
				className="max-h-40 shrink-0 overflow-y-auto border-b bg-panel py-1 xl:max-h-none xl:w-64 xl:border-r xl:border-b-0"
			>
				<ul>
					{files.map((file) => (
						<li key={file.path}>
							<Link
								to="/checkpoints"
								search={{
									conversation,
									id: checkpoint.id,
									...(other !== undefined && { with: other }),
									file: file.path,
								}}
								replace
								{...(file === shown && { "aria-current": "true" })}
								className={classes(
									"flex items-center gap-2 px-4 py-1 -outline-offset-2",
									file === shown ? "bg-selected" : "hover:bg-hover",
								)}
							>
								<StatusMark status={file.status} />
								<span className="min-w-0 flex-1 truncate font-mono text-xs" title={file.path}>
									<bdi>{file.path}</bdi>
								</span>
								{!file.binary && <Changes {...file} />}
							</Link>
						</li>
					))}
				</ul>
			</nav>
			<OneFile key={shown.path} file={shown} onRestore={() => onRestore(shown.path)} />
		</div>
	);
}

const MARKS = {
	added: { letter: "A", look: "text-ok", name: "new" },
	changed: { letter: "M", look: "text-warn", name: "changed" },
	deleted: { letter: "D", look: "text-danger", name: "deleted" },
} as const;

function StatusMark({ status }: { readonly status: FileDiff["status"] }) {
	const { letter, look, name } = MARKS[status];
	return (
		<span
			role="img"
			aria-label={name}
			title={name}
			className={classes("w-3 shrink-0 font-mono text-xs font-semibold", look)}
		>
			{letter}
		</span>
	);
}

function OneFile({ file, onRestore }: { readonly file: FileDiff; readonly onRestore: () => void }) {
	const { path, status, binary, text, cut } = file;
	const lines = useMemo(() => unifiedLines(text), [text]);
	return (
		<div className="flex min-h-0 min-w-0 flex-1 flex-col">
			<div className="flex min-h-10 shrink-0 items-center gap-2 border-b px-4 py-1">
				<h3 className="min-w-0 flex-1 truncate font-mono text-sm" title={path}>
					{path}
				</h3>
				<Badge tone={status === "added" ? "ok" : status === "deleted" ? "danger" : "neutral"}>
					{MARKS[status].name}
				</Badge>
				<Button size="sm" icon={<Undo2 size={14} />} onClick={onRestore}>
					{texts.comparison.restoreThisFile}
				</Button>
			</div>
			{binary ? (
				<Empty title={texts.comparison.notATextFile}>{texts.comparison.theContentsDifferTheyAre}</Empty>
			) : lines.length === 0 ? (
				<Empty title={texts.comparison.noChangedLines}>{texts.comparison.onlyTheNameOrThe}</Empty>
			) : (
				<Diff label={texts.comparison.changesTo(path)} lines={lines} className="min-h-0 flex-1 pb-4" />
			)}
			{cut && (
				<p role="note" className="shrink-0 border-t bg-warn-soft px-4 py-1.5 text-sm text-warn">
					{texts.comparison.onlyTheFirstPartOf}
				</p>
			)}
		</div>
	);
}

function andMore(others: number): string {
	return texts.comparison.andMore(others);
}
