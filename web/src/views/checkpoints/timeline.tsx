import { Link } from "@tanstack/react-router";
import { classes } from "../../lib/classes.ts";
import { clockTime, dayName, fullTime, useNow } from "../../lib/time.ts";
import { texts } from "../../texts/checkpoints.ts";
import { Changes } from "./changes.tsx";
import { type Checkpoint, count, KINDS, nameOf } from "./words.ts";

/** Newest first, by day. */
export function Timeline({
	conversation,
	checkpoints,
	selected,
}: {
	readonly conversation: string;
	readonly checkpoints: readonly Checkpoint[];
	readonly selected: string | undefined;
}) {
	const now = useNow();
	const days = Map.groupBy(checkpoints, ({ created_at }) => dayName(Date.parse(created_at), now));
	return (
		<nav aria-label={texts.timeline.checkpoints} className="flex flex-col pb-4">
			{[...days].map(([day, ofDay]) => (
				<section key={day} aria-label={day}>
					<h2 className="px-4 pt-4 pb-1 text-xs font-medium text-ink-3 lg:pl-6">{day}</h2>
					<ol>
						{ofDay.map((one) => (
							<li key={one.id}>
								<Entry checkpoint={one} conversation={conversation} isSelected={one.id === selected} />
							</li>
						))}
					</ol>
				</section>
			))}
		</nav>
	);
}

function Entry({
	checkpoint,
	conversation,
	isSelected,
}: {
	readonly checkpoint: Checkpoint;
	readonly conversation: string;
	readonly isSelected: boolean;
}) {
	const { id, created_at, kind, label, files, changed } = checkpoint;
	const at = Date.parse(created_at);
	return (
		<Link
			to="/checkpoints"
			search={{ conversation, id }}
			{...(isSelected && { "aria-current": "true" })}
			className={classes(
				"flex flex-col gap-0.5 border-l-2 py-2 pr-4 pl-3.5 -outline-offset-2 lg:pl-5.5",
				"border-transparent",
				// On a phone the comparison replaces the list, so no entry is marked as selected.
				isSelected ? "md:border-accent md:bg-selected" : "hover:bg-hover",
			)}
		>
			<span className="flex items-baseline gap-2">
				<span className="min-w-0 flex-1 truncate font-medium">{nameOf(checkpoint)}</span>
				<time dateTime={created_at} title={fullTime(at)} className="shrink-0 text-xs text-ink-3 tabular-nums">
					{clockTime(at)}
				</time>
			</span>
			<span className="flex items-baseline gap-2 text-xs text-ink-2">
				<span className="min-w-0 flex-1 truncate">
					{label !== "" && kind !== "restore" && `${KINDS[kind]} · `}
					{changed === null ? count(files, "file") : texts.timeline.changed(count(changed.files, "file"))}
				</span>
				{changed !== null && <Changes {...changed} />}
			</span>
		</Link>
	);
}
