import { useMutation } from "@tanstack/react-query";
import { api, useApi } from "../../api/index.ts";
import type { Session } from "../../api/types.ts";
import { texts } from "../../texts/conversations.ts";
import { Badge, Button, Dialog, ErrorLine, ErrorState, RelativeTime, SkeletonRows } from "../../ui/index.ts";

/** Lists the sessions of a conversation, to return to one. */
export function SessionsDialog({
	conversation,
	onClose,
}: {
	readonly conversation: string;
	readonly onClose: () => void;
}) {
	const list = useApi("sessions", { conversation, limit: 200 }, { on: ["session"], of: conversation });
	const resume = useMutation({
		mutationFn: ({ id }: Session) => api.switchSession({ conversation, target: id }),
		onSuccess: onClose,
	});
	return (
		<Dialog
			open
			onOpenChange={onClose}
			title={texts.sessionsDialog.earlierSessions}
			about={texts.sessionsDialog.resumingOneEndsTheCurrent}
		>
			{resume.isError && <ErrorLine error={resume.error} />}
			{list.isPending ? (
				<SkeletonRows rows={3} />
			) : list.isError ? (
				<ErrorState error={list.error} onRetry={() => void list.refetch()} />
			) : (
				<ul className="-mx-2">
					{list.data.sessions.map((session) => (
						<li key={session.id} className="flex items-center gap-3 rounded-sm px-2 py-1.5 hover:bg-hover">
							<span className="min-w-0 flex-1">
								<span className="block truncate font-medium">
									{session.title ?? texts.sessionsDialog.untitled}
								</span>
								<span className="text-xs text-ink-3 tabular-nums">
									{texts.sessionsDialog.messages(session.messages)}
									<RelativeTime at={session.last_activity_at} />
								</span>
							</span>
							{session.id === session.live ? (
								<Badge tone="accent">{texts.sessionsDialog.live}</Badge>
							) : (
								<Button size="sm" disabled={resume.isPending} onClick={() => resume.mutate(session)}>
									{texts.sessionsDialog.resume}
								</Button>
							)}
						</li>
					))}
				</ul>
			)}
		</Dialog>
	);
}
