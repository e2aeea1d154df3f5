import { useNavigate, useSearch } from "@tanstack/react-router";
import { Archive, ArchiveX } from "lucide-react";
import { useApi } from "../../api/index.ts";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/checkpoints.ts";
import { Empty, ErrorState, Marked, Page, Select, SkeletonRows } from "../../ui/index.ts";
import { Comparison } from "./comparison.tsx";
import { TakeCheckpoint } from "./take-dialog.tsx";
import { Timeline } from "./timeline.tsx";

/** The server's limit for one list. A conversation named in the address is offered in addition. */
const MOST_OFFERED = 200;

export function CheckpointsView() {
	const { conversation: named } = useSearch({ from: "/checkpoints" });
	const { data, error, refetch } = useApi(
		"conversations",
		{ limit: MOST_OFFERED, list: "with_checkpoints" },
		{ on: ["conversation", "checkpoint"] },
	);
	const conversation = named ?? data?.conversations[0]?.id;
	return (
		<Page
			title={texts.view.checkpoints}
			actions={
				conversation !== undefined && (
					<>
						<Choice value={conversation} offered={data?.conversations ?? []} />
						<TakeCheckpoint conversation={conversation} />
					</>
				)
			}
		>
			{conversation !== undefined ? (
				<OfConversation key={conversation} conversation={conversation} />
			) : error ? (
				<ErrorState error={error} onRetry={() => void refetch()} />
			) : data ? (
				<Empty icon={<Archive size={24} />} title={texts.view.noCheckpoints}>
					{texts.view.keryxSavesAFolderBefore}
				</Empty>
			) : (
				<SkeletonRows />
			)}
		</Page>
	);
}

function Choice({
	value,
	offered,
}: {
	readonly value: string;
	readonly offered: readonly { readonly id: string; readonly name: string }[];
}) {
	const navigate = useNavigate({ from: "/checkpoints" });
	const { data: named } = useApi("conversation", { conversation: value });
	const choices = offered.some(({ id }) => id === value) || !named ? offered : [named, ...offered];
	return (
		<div className="w-56 max-sm:w-40">
			<Select
				aria-label={texts.view.theFolderOfThisConversation}
				value={value}
				onChange={({ target }) => void navigate({ search: { conversation: target.value } })}
			>
				{choices.map(({ id, name }) => (
					<option key={id} value={id}>
						{name}
					</option>
				))}
			</Select>
		</div>
	);
}

function OfConversation({ conversation }: { readonly conversation: string }) {
	const { id, with: other, file } = useSearch({ from: "/checkpoints" });
	const { data, error, refetch } = useApi("checkpoints", { conversation }, { on: ["checkpoint", "restore"] });
	if (error && !data)
		return error.code === "checkpoint.disabled" ? (
			<Empty icon={<ArchiveX size={24} />} title={texts.view.checkpointsAreTurnedOff}>
				<Marked text={texts.view.setCheckpointsEnabledToTrue} />
			</Empty>
		) : (
			<ErrorState error={error} onRetry={() => void refetch()} />
		);
	if (!data) return <SkeletonRows />;
	const { checkpoints, workspace } = data;
	if (checkpoints.length === 0)
		return (
			<Empty icon={<Archive size={24} />} title={texts.view.noCheckpointsOfThisFolder}>
				<Marked text={texts.view.keryxSavesBeforeAndAfter(workspace)} />
			</Empty>
		);
	const chosen = checkpoints.find((one) => one.id === id);
	const shown = chosen ?? checkpoints[0];
	return (
		<div className="flex min-h-0 flex-1">
			<div
				className={classes(
					"min-h-0 w-full shrink-0 overflow-y-auto md:w-72 md:border-r lg:w-80",
					chosen && "max-md:hidden",
				)}
			>
				<p className="truncate px-4 pt-3 font-mono text-xs text-ink-3 lg:pl-6" title={workspace}>
					{workspace}
				</p>
				<Timeline conversation={conversation} checkpoints={checkpoints} selected={shown?.id} />
			</div>
			<div className={classes("min-h-0 min-w-0 flex-1", !chosen && "max-md:hidden")}>
				{id !== undefined && !chosen ? (
					<Empty title={texts.view.thisCheckpointNoLongerExists}>{texts.view.keryxKeepsALimitedNumber}</Empty>
				) : (
					shown && (
						<Comparison
							key={shown.id}
							conversation={conversation}
							checkpoint={shown}
							checkpoints={checkpoints}
							other={checkpoints.some((one) => one.id === other && one.id !== shown.id) ? other : undefined}
							file={file}
						/>
					)
				)}
			</div>
		</div>
	);
}
