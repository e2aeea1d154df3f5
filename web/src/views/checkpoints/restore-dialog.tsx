// A restore in three steps: preview, question, result. Only what the server reports is shown as done.

import { useMutation, useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, queryClient } from "../../api/index.ts";
import { texts } from "../../texts/checkpoints.ts";
import { Button, Dialog, ErrorLine, Marked, SkeletonRows } from "../../ui/index.ts";
import { type Checkpoint, count, KEPT, nameOf, type Plan, type Restored, timeOf } from "./words.ts";

/** Limit for each kind of change. */
const MOST_LISTED = 500;

export function RestoreDialog({
	conversation,
	target,
	file,
	onClose,
}: {
	readonly conversation: string;
	readonly target: Checkpoint;
	readonly file: string | undefined;
	readonly onClose: () => void;
}) {
	const [force, setForce] = useState(false);
	const [isSure, setSure] = useState(false);
	const only = file === undefined ? {} : { file };
	const plan = useQuery({
		queryKey: ["checkpointPlan", conversation, target.id, file, force],
		queryFn: ({ signal }) =>
			api.checkpointPlan({ conversation, id: target.id, ...only, force: force ? "true" : "false" }, signal),
		// Never cached: the plan depends on the files as they are now.
		gcTime: 0,
		staleTime: 0,
	});
	const settled = () =>
		queryClient.invalidateQueries({ predicate: ({ queryKey }) => isOfFiles(queryKey[0]) });
	const restoring = useMutation({
		mutationFn: () => api.restoreCheckpoint({ conversation, id: target.id, ...only, force }),
		onSettled: settled,
	});
	const undoing = useMutation({
		mutationFn: (before: Checkpoint) => api.restoreCheckpoint({ conversation, id: before.id, ...only }),
		onSettled: settled,
	});
	const report = undoing.data ?? restoring.data;
	const isBusy = restoring.isPending || undoing.isPending;
	const changes = (plan.data?.restore.length ?? 0) + (plan.data?.remove.length ?? 0);
	const what = file ?? texts.restoreDialog.theWholeFolder;
	const common = { open: true, onOpenChange: (open: boolean) => !open && onClose() } as const;

	if (report)
		return (
			<Dialog
				{...common}
				wide
				title={undoing.data ? texts.restoreDialog.theRestoreWasUndone : texts.restoreDialog.restored}
				about={texts.restoreDialog.restoredFrom(what, nameOf(report.target), timeOf(report.target))}
				actions={
					<>
						{!undoing.data && restoring.data && (
							<Button disabled={isBusy} onClick={() => undoing.mutate(restoring.data.before)}>
								{isBusy ? texts.restoreDialog.undoing : texts.restoreDialog.undoThisRestore}
							</Button>
						)}
						<Button look="primary" onClick={onClose}>
							{texts.restoreDialog.done}
						</Button>
					</>
				}
			>
				<Report report={report} />
				{undoing.isError && <ErrorLine error={undoing.error} />}
			</Dialog>
		);
	if (isSure && plan.data)
		return (
			<Dialog
				{...common}
				title={
					file === undefined
						? texts.restoreDialog.goBackToThisCheckpoint
						: texts.restoreDialog.restoreThisFile
				}
				about={`${nameOf(target)}, ${timeOf(target)}`}
				actions={
					<>
						<Button disabled={isBusy} onClick={() => setSure(false)}>
							{texts.restoreDialog.back}
						</Button>
						<Button look="danger" disabled={isBusy} onClick={() => restoring.mutate()}>
							{isBusy ? texts.restoreDialog.restoring : texts.restoreDialog.restoreNow}
						</Button>
					</>
				}
			>
				<p>{summary(plan.data)}</p>
				<p className="mt-2 text-ink-2">{texts.restoreDialog.keryxTakesACheckpointOf}</p>
				{restoring.isError && <ErrorLine error={restoring.error} />}
			</Dialog>
		);
	return (
		<Dialog
			{...common}
			wide
			title={texts.restoreDialog.previewOfTheRestore}
			about={texts.restoreDialog.restoresFrom(what, nameOf(target), timeOf(target))}
			actions={
				<>
					<Button onClick={onClose}>{texts.restoreDialog.cancel}</Button>
					<Button
						look="primary"
						disabled={!plan.data || plan.isFetching || changes === 0}
						onClick={() => setSure(true)}
					>
						{texts.restoreDialog.continue}
					</Button>
				</>
			}
		>
			{plan.data ? (
				<PlanShown plan={plan.data} force={force} onForce={setForce} />
			) : plan.error ? (
				<ErrorLine error={plan.error} />
			) : (
				<SkeletonRows rows={3} />
			)}
		</Dialog>
	);
}

function isOfFiles(name: unknown): boolean {
	return name === "checkpoints" || name === "checkpointDiff" || name === "checkpointPlan";
}

function summary({ restore, remove, kept }: Plan): string {
	const parts = [
		restore.length > 0 &&
			count(restore.length, texts.restoreDialog.fileWillBeRestored, texts.restoreDialog.filesWillBeRestored),
		remove.length > 0 &&
			count(remove.length, texts.restoreDialog.fileWillBeRemoved, texts.restoreDialog.filesWillBeRemoved),
		kept.length > 0 &&
			count(kept.length, texts.restoreDialog.fileWillBeLeftAlone, texts.restoreDialog.filesWillBeLeftAlone),
	].filter(Boolean);
	return `${parts.join(", ")}.`;
}

function PlanShown({
	plan,
	force,
	onForce,
}: {
	readonly plan: Plan;
	readonly force: boolean;
	readonly onForce: (force: boolean) => void;
}) {
	const isNothing = plan.restore.length + plan.remove.length + plan.kept.length === 0;
	const hasForeign = force || plan.kept.some(({ reason }) => reason === "changed_since");
	return (
		<div className="flex flex-col gap-4">
			{isNothing && <p>{texts.restoreDialog.nothingWouldChangeTheFiles}</p>}
			<Paths title={texts.restoreDialog.willBeRestored} paths={plan.restore} />
			<Paths title={texts.restoreDialog.willBeRemovedDidNot} paths={plan.remove} />
			<Paths
				title={texts.restoreDialog.willBeLeftAlone}
				paths={plan.kept.map(({ path }) => path)}
				why={(path) => KEPT[plan.kept.find((one) => one.path === path)?.reason ?? "refused"]}
			/>
			<Paths title={texts.restoreDialog.changedButNotPartOf} paths={plan.untouched} />
			{hasForeign && (
				<label className="flex items-start gap-2">
					<input
						type="checkbox"
						checked={force}
						onChange={(event) => onForce(event.target.checked)}
						className="mt-1 accent-accent"
					/>
					<span>
						{texts.restoreDialog.alsoUndoChangesMadeBy}
						<span className="block text-sm text-ink-3">{texts.restoreDialog.editsThatPeopleMadeSince}</span>
					</span>
				</label>
			)}
		</div>
	);
}

function Report({ report }: { readonly report: Restored }) {
	const { restored, removed, kept, untouched } = report;
	return (
		<div className="flex flex-col gap-4">
			<p role="status" className="flex items-center gap-2">
				<Check size={16} aria-hidden className="shrink-0 text-ok" />
				{summary({ restore: restored, remove: removed, kept, untouched, target: report.target })}
			</p>
			<Paths title={texts.restoreDialog.restored} paths={restored} />
			<Paths title={texts.restoreDialog.removed} paths={removed} />
			<Paths
				title={texts.restoreDialog.kept}
				paths={kept.map(({ path }) => path)}
				why={(path) => KEPT[kept.find((one) => one.path === path)?.reason ?? "refused"]}
			/>
			<Paths title={texts.restoreDialog.leftAlone} paths={untouched} />
			<p className="text-sm text-ink-3">
				<Marked text={texts.restoreDialog.theFilesAsTheyWere(report.before.id.slice(0, 12))} />
			</p>
		</div>
	);
}

function Paths({
	title,
	paths,
	why,
}: {
	readonly title: string;
	readonly paths: readonly string[];
	readonly why?: (path: string) => ReactNode;
}) {
	if (paths.length === 0) return null;
	return (
		<section aria-label={title}>
			<h3 className="mb-1 text-sm font-medium">
				{title} <span className="font-normal text-ink-3 tabular-nums">{paths.length}</span>
			</h3>
			<ul className="rounded-sm border bg-panel py-1">
				{paths.slice(0, MOST_LISTED).map((path) => (
					<li key={path} className="flex flex-wrap gap-x-3 px-3 py-0.5">
						<span className="font-mono text-xs leading-5 wrap-anywhere">{path}</span>
						{why && <span className="text-xs leading-5 text-ink-3">{why(path)}</span>}
					</li>
				))}
				{paths.length > MOST_LISTED && (
					<li className="px-3 py-0.5 text-xs leading-5 text-ink-3">
						{texts.restoreDialog.andMore((paths.length - MOST_LISTED).toLocaleString())}
					</li>
				)}
			</ul>
		</section>
	);
}
