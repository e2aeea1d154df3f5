// Going back, in three steps: what would be done, a question, and what was done. What is shown as done is what the server reports.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, queryClient } from "../../api/index.ts";
import { Button, Dialog, ErrorLine, SkeletonRows } from "../../ui/index.ts";
import { type Checkpoint, count, KEPT, nameOf, type Plan, type Restored, timeOf } from "./words.ts";

/** Of each kind. */
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
		// What would be done is what would be done now.
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
	const what = file ?? "the whole folder";
	const common = { open: true, onOpenChange: (open: boolean) => !open && onClose() } as const;

	if (report)
		return (
			<Dialog
				{...common}
				wide
				title={undoing.data ? "The restore was undone" : "Restored"}
				about={`${what} is as it was: ${nameOf(report.target)}, ${timeOf(report.target)}.`}
				actions={
					<>
						{!undoing.data && restoring.data && (
							<Button disabled={isBusy} onClick={() => undoing.mutate(restoring.data.before)}>
								{isBusy ? "Undoing" : "Undo this restore"}
							</Button>
						)}
						<Button look="primary" onClick={onClose}>
							Done
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
				title={file === undefined ? "Go back to this checkpoint?" : "Restore this file?"}
				about={`${nameOf(target)}, ${timeOf(target)}`}
				actions={
					<>
						<Button disabled={isBusy} onClick={() => setSure(false)}>
							Back to the plan
						</Button>
						<Button look="danger" disabled={isBusy} onClick={() => restoring.mutate()}>
							{isBusy ? "Restoring" : "Restore now"}
						</Button>
					</>
				}
			>
				<p>{summary(plan.data)}</p>
				<p className="mt-2 text-ink-2">A checkpoint of now is taken first, so that this can be undone.</p>
				{restoring.isError && <ErrorLine error={restoring.error} />}
			</Dialog>
		);
	return (
		<Dialog
			{...common}
			wide
			title="What a restore would do"
			about={`${what}, back to: ${nameOf(target)}, ${timeOf(target)}`}
			actions={
				<>
					<Button onClick={onClose}>Leave it as it is</Button>
					<Button
						look="primary"
						disabled={!plan.data || plan.isFetching || changes === 0}
						onClick={() => setSure(true)}
					>
						Go on
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
		restore.length > 0 && `${count(restore.length, "file goes", "files go")} back`,
		remove.length > 0 && `${count(remove.length, "file is", "files are")} removed`,
		kept.length > 0 &&
			`${count(kept.length, "file stays", "files stay")} as ${kept.length === 1 ? "it is" : "they are"}`,
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
			{isNothing && <p>Nothing would change: the files are as they were.</p>}
			<Paths title="Goes back to how it was" paths={plan.restore} />
			<Paths title="Is removed, because it was not there" paths={plan.remove} />
			<Paths
				title="Stays as it is"
				paths={plan.kept.map(({ path }) => path)}
				why={(path) => KEPT[plan.kept.find((one) => one.path === path)?.reason ?? "refused"]}
			/>
			<Paths title="Differs, but is not saved, and so is not touched" paths={plan.untouched} />
			{hasForeign && (
				<label className="flex items-start gap-2">
					<input
						type="checkbox"
						checked={force}
						onChange={(event) => onForce(event.target.checked)}
						className="mt-1 accent-accent"
					/>
					<span>
						Take back what others have changed, too
						<span className="block text-sm text-ink-3">
							A person's own edits since then are lost from the folder; the checkpoint of now keeps them.
						</span>
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
			<Paths title="Restored" paths={restored} />
			<Paths title="Removed" paths={removed} />
			<Paths
				title="Kept"
				paths={kept.map(({ path }) => path)}
				why={(path) => KEPT[kept.find((one) => one.path === path)?.reason ?? "refused"]}
			/>
			<Paths title="Not touched" paths={untouched} />
			<p className="text-sm text-ink-3">
				What was there before is the checkpoint{" "}
				<code className="font-mono text-xs">{report.before.id.slice(0, 12)}</code>.
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
						and {(paths.length - MOST_LISTED).toLocaleString()} more
					</li>
				)}
			</ul>
		</section>
	);
}
