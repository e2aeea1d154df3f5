// Actions on several conversations at once.

import { Archive, ArchiveRestore, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { Conversation } from "../../../api/types.ts";
import { texts } from "../../../texts/conversations.ts";
import { Button } from "../../../ui/index.ts";
import { putAway } from "./put-away.tsx";

const DeleteDialog = lazy(() => import("./delete-dialog.tsx").then((m) => ({ default: m.DeleteDialog })));

export function SelectionBar({
	chosen,
	all,
	onAll,
	onDone,
	onError,
}: {
	readonly chosen: readonly Conversation[];
	readonly all: readonly Conversation[];
	readonly onAll: () => void;
	readonly onDone: () => void;
	readonly onError: (error: unknown) => void;
}) {
	const [asks, setAsks] = useState(false);
	const move = (state: Conversation["state"]) =>
		void putAway(
			chosen.map(({ id }) => id),
			state,
		).then(onDone, onError);
	const isAway = chosen.length > 0 && chosen.every(({ state }) => state !== "open");
	const none = chosen.length === 0;
	return (
		<div className="flex shrink-0 flex-wrap items-center gap-2 border-t bg-panel px-4 py-2">
			<p className="flex min-h-7 w-full items-center justify-between gap-2">
				<span role="status" className="text-sm text-ink-2 tabular-nums">
					{texts.selectionBar.selected(chosen.length)}
				</span>
				{chosen.length < all.length && (
					<Button size="sm" look="quiet" onClick={onAll}>
						{texts.selectionBar.all}
					</Button>
				)}
			</p>
			{isAway ? (
				<Button size="sm" className="flex-1" icon={<ArchiveRestore size={14} />} onClick={() => move("open")}>
					{texts.selectionBar.restore}
				</Button>
			) : (
				<Button
					size="sm"
					className="flex-1"
					icon={<Archive size={14} />}
					disabled={none}
					onClick={() => move("archived")}
				>
					{texts.selectionBar.archive}
				</Button>
			)}
			<Button
				size="sm"
				className="flex-1"
				look="danger"
				icon={<Trash2 size={14} />}
				disabled={none || chosen.every(({ state }) => state === "deleted")}
				onClick={() => setAsks(true)}
			>
				{texts.selectionBar.delete}
			</Button>
			<Suspense>{asks && <DeleteDialog conversations={chosen} onClose={() => setAsks(false)} />}</Suspense>
		</div>
	);
}
