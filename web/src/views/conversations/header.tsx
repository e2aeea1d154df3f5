// The head of an open conversation: what it is, how full, what goes on, and what can be done with it.
import { Link } from "@tanstack/react-router";
import {
	ChevronLeft,
	Copy,
	CornerUpLeft,
	Ellipsis,
	GitBranch,
	Layers,
	NotebookText,
	Pencil,
	Redo2,
	RotateCw,
	Search,
	Shrink,
	SquarePlus,
} from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { api, readText } from "../../api/index.ts";
import type { Conversation, Session } from "../../api/types.ts";
import { Badge, copyText, IconButton, Menu, MenuItem, MenuSeparator, PlatformIcon } from "../../ui/index.ts";
import { LimitGauge } from "./gauge.tsx";
import { ManageItems } from "./manage-items.tsx";
import { showNotes, useNotesShown } from "./notes.ts";
import { useProfiles } from "./profiles.ts";

const DeleteDialog = lazy(() => import("./delete-dialog.tsx").then((m) => ({ default: m.DeleteDialog })));
const RenameDialog = lazy(() => import("./rename-dialog.tsx").then((m) => ({ default: m.RenameDialog })));
const ModelDialog = lazy(() => import("./model-picker.tsx").then((m) => ({ default: m.ModelDialog })));
const SessionsDialog = lazy(() =>
	import("./sessions-dialog.tsx").then((m) => ({ default: m.SessionsDialog })),
);

export function ConversationHeader({
	conversation,
	session,
	isRunning,
	onFind,
	onError,
}: {
	readonly conversation: Conversation;
	readonly session: Session | null;
	readonly isRunning: boolean;
	readonly onFind: () => void;
	readonly onError: (error: unknown) => void;
}) {
	const profile = useProfiles().find(({ name: of }) => of === conversation.profile);
	const withNotes = useNotesShown();
	const [dialog, setDialog] = useState<"rename" | "sessions" | "delete" | "model" | null>(null);
	const configured = profile?.model ?? profile?.agent;
	const model = conversation.model_override?.model ?? configured;
	const { id } = conversation;
	const { name } = conversation;
	const run = (what: Promise<unknown>): void => void what.catch(onError);
	return (
		<header className="flex h-13 shrink-0 items-center gap-2 border-b px-2 md:px-4">
			<Link
				to="/"
				aria-label="Back to the list"
				className="flex size-8 items-center justify-center rounded-sm text-ink-2 hover:bg-hover md:hidden"
			>
				<ChevronLeft size={20} aria-hidden />
			</Link>
			<PlatformIcon platform={conversation.platform} />
			<div className="min-w-0 flex-1">
				<div className="flex min-w-0 items-center gap-2">
					<h1 className="truncate font-semibold leading-5">{name}</h1>
					{conversation.profile !== "" && <Badge>{conversation.profile}</Badge>}
				</div>
				<p className="truncate text-xs text-ink-3">
					{session?.title && session.title !== name ? `${session.title} · ` : ""}
					{model !== undefined && (
						<button
							type="button"
							title="Which model answers here"
							className="rounded-xs hover:text-ink hover:underline"
							onClick={() => setDialog("model")}
						>
							{model}
						</button>
					)}
					{session?.suspended_at ? " · suspended" : ""}
					{isRunning ? " · working" : ""}
				</p>
			</div>
			{session && <LimitGauge session={session} onError={onError} />}
			<Menu
				label="Conversation"
				trigger={
					<IconButton label="More about this conversation">
						<Ellipsis size={18} />
					</IconButton>
				}
			>
				<MenuItem
					icon={<SquarePlus size={15} />}
					hint="the agent starts afresh"
					onSelect={() => run(api.newSession({ conversation: id }))}
				>
					New session
				</MenuItem>
				<MenuItem
					icon={<CornerUpLeft size={15} />}
					onSelect={() => run(api.continueSession({ conversation: id }))}
				>
					Continue the previous one
				</MenuItem>
				<MenuItem
					icon={<GitBranch size={15} />}
					onSelect={() => run(api.branchSession({ conversation: id }))}
				>
					Branch off here
				</MenuItem>
				<MenuItem icon={<Layers size={15} />} onSelect={() => setDialog("sessions")}>
					Earlier sessions
				</MenuItem>
				<MenuSeparator />
				<MenuItem icon={<RotateCw size={15} />} onSelect={() => run(api.retry({ conversation: id }))}>
					Answer again
				</MenuItem>
				<MenuItem icon={<Redo2 size={15} />} onSelect={() => run(api.redo({ conversation: id }))}>
					Redo what was undone
				</MenuItem>
				<MenuItem icon={<Shrink size={15} />} onSelect={() => run(api.compress({ conversation: id }))}>
					Sum up what was said
				</MenuItem>
				<MenuSeparator />
				<MenuItem icon={<Search size={15} />} hint="f" onSelect={onFind}>
					Find in it
				</MenuItem>
				<MenuItem icon={<Pencil size={15} />} onSelect={() => setDialog("rename")}>
					Rename
				</MenuItem>
				<MenuItem icon={<Copy size={15} />} onSelect={() => run(copyWhole(id))}>
					Copy as Markdown
				</MenuItem>
				<MenuItem icon={<NotebookText size={15} />} onSelect={() => showNotes(!withNotes)}>
					{withNotes ? "Hide notes to the agent" : "Show notes to the agent"}
				</MenuItem>
				<ManageItems conversation={conversation} onDelete={() => setDialog("delete")} onError={onError} />
			</Menu>
			<Suspense>
				{dialog === "rename" && <RenameDialog conversation={conversation} onClose={() => setDialog(null)} />}
				{dialog === "delete" && (
					<DeleteDialog conversations={[conversation]} onClose={() => setDialog(null)} />
				)}
				{dialog === "model" && (
					<ModelDialog
						conversation={conversation}
						configured={configured ?? "nothing"}
						onClose={() => setDialog(null)}
					/>
				)}
				{dialog === "sessions" && <SessionsDialog conversation={id} onClose={() => setDialog(null)} />}
			</Suspense>
		</header>
	);
}

/** The whole conversation, every session of it. */
async function copyWhole(conversation: string): Promise<void> {
	const text = await readText(`/api/export?conversation=${encodeURIComponent(conversation)}&format=markdown`);
	if (!(await copyText(text))) throw new Error("The browser did not let the page use the clipboard.");
}
