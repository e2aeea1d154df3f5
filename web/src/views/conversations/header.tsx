// The header of an open conversation: its name, the gauge, the activity, and its menu.

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
import { api, readText, useMe } from "../../api/index.ts";
import type { Conversation, Session } from "../../api/types.ts";
import { texts } from "../../texts/conversations.ts";
import { Badge, copyText, IconButton, Menu, MenuItem, MenuSeparator, PlatformIcon } from "../../ui/index.ts";
import { ModelButton } from "./compose/model-button.tsx";
import { ManageItems } from "./list/manage-items.tsx";
import { useProfiles } from "./profiles.ts";
import { LimitGauge } from "./transcript/gauge.tsx";
import { showNotes, useNotesShown } from "./transcript/notes.ts";

const DeleteDialog = lazy(() =>
	import("./list/delete-dialog.tsx").then((m) => ({ default: m.DeleteDialog })),
);
const RenameDialog = lazy(() =>
	import("./list/rename-dialog.tsx").then((m) => ({ default: m.RenameDialog })),
);
const ModelDialog = lazy(() =>
	import("./compose/model-picker.tsx").then((m) => ({ default: m.ModelDialog })),
);
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
	const isOffline = model === "offline";
	const { isPerson } = useMe();
	const { id, name, first_session, live_session } = conversation;
	const hasEarlier = first_session !== live_session;
	const run = (what: Promise<unknown>): void => void what.catch(onError);
	return (
		<header className="flex h-13 shrink-0 items-center gap-2 border-b px-2 md:px-4">
			<Link
				to="/"
				aria-label={texts.header.backToTheList}
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
					{isOffline && (
						<>
							{texts.header.noModelIsConnected}
							{!isPerson && (
								<>
									{" · "}
									<Link to="/settings" className="text-accent hover:underline">
										{texts.header.connectOne}
									</Link>
								</>
							)}
						</>
					)}
					{model !== undefined && !isOffline && (
						<ModelButton model={model} onClick={() => setDialog("model")} />
					)}
					{session?.suspended_at ? texts.header.suspended : ""}
					{isRunning ? texts.header.working : ""}
				</p>
			</div>
			{session && <LimitGauge session={session} onError={onError} />}
			<Menu
				label={texts.header.conversation}
				trigger={
					<IconButton label={texts.header.moreActionsForThisConversation}>
						<Ellipsis size={18} />
					</IconButton>
				}
			>
				<MenuItem
					icon={<SquarePlus size={15} />}
					hint={texts.header.theAgentStartsFresh}
					onSelect={() => run(api.newSession({ conversation: id }))}
				>
					{texts.header.newSession}
				</MenuItem>
				{hasEarlier && (
					<MenuItem
						icon={<CornerUpLeft size={15} />}
						onSelect={() => run(api.continueSession({ conversation: id }))}
					>
						{texts.header.continueThePreviousSession}
					</MenuItem>
				)}
				<MenuItem
					icon={<GitBranch size={15} />}
					onSelect={() => run(api.branchSession({ conversation: id }))}
				>
					{texts.header.branchFromHere}
				</MenuItem>
				{hasEarlier && (
					<MenuItem icon={<Layers size={15} />} onSelect={() => setDialog("sessions")}>
						{texts.header.earlierSessions}
					</MenuItem>
				)}
				<MenuSeparator />
				<MenuItem icon={<RotateCw size={15} />} onSelect={() => run(api.retry({ conversation: id }))}>
					{texts.header.answerAgain}
				</MenuItem>
				<MenuItem icon={<Redo2 size={15} />} onSelect={() => run(api.redo({ conversation: id }))}>
					{texts.header.redo}
				</MenuItem>
				<MenuItem icon={<Shrink size={15} />} onSelect={() => run(api.compress({ conversation: id }))}>
					{texts.header.summariseTheSession}
				</MenuItem>
				<MenuSeparator />
				<MenuItem icon={<Search size={15} />} hint="f" onSelect={onFind}>
					{texts.header.findInThisConversation}
				</MenuItem>
				<MenuItem icon={<Pencil size={15} />} onSelect={() => setDialog("rename")}>
					{texts.header.rename}
				</MenuItem>
				<MenuItem icon={<Copy size={15} />} onSelect={() => run(copyWhole(id))}>
					{texts.header.copyAsMarkdown}
				</MenuItem>
				<MenuItem icon={<NotebookText size={15} />} onSelect={() => showNotes(!withNotes)}>
					{withNotes ? texts.header.hideNotesToTheAgent : texts.header.showNotesToTheAgent}
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
						override={conversation.model_override}
						profile={conversation.profile}
						configured={configured ?? "nothing"}
						onChoose={(override) => api.setModel({ conversation: id, override })}
						onClose={() => setDialog(null)}
					/>
				)}
				{dialog === "sessions" && <SessionsDialog conversation={id} onClose={() => setDialog(null)} />}
			</Suspense>
		</header>
	);
}

/** Copies the whole conversation, with all its sessions. */
async function copyWhole(conversation: string): Promise<void> {
	const text = await readText(`/api/export?conversation=${encodeURIComponent(conversation)}&format=markdown`);
	if (!(await copyText(text))) throw new Error(texts.header.theBrowserBlockedAccessTo);
}
