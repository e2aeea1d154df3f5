// The list of conversations next to the open one. A phone shows one at a time.

import { Outlet, useParams, useSearch } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/conversations.ts";
import { Empty, ErrorLine, Marked, SkeletonRows } from "../../ui/index.ts";
import { useFirstMessages } from "./compose/first-messages.ts";
import { FirstRun } from "./first-run.tsx";
import { useConversationList } from "./list/data.ts";
import { ConversationList } from "./list/list.tsx";
import { useSetup } from "./setup.ts";

export { followOutgoing, send } from "./compose/outgoing.ts";
export { exportConversation } from "./export.ts";
export { followConversationList, useConversationList } from "./list/data.ts";
export { putAway } from "./list/put-away.tsx";
export { useUnreadCount } from "./list/unread.ts";
export { followTranscripts } from "./transcript/transcripts.ts";

/** Transcript and composer are loaded when the first conversation is opened, or at once if the address names one. */
const opening = () => import("./open-conversation.tsx");
const OpenConversation = lazy(() => opening().then((m) => ({ default: m.OpenConversation })));
const FirstRunSteps = lazy(() =>
	import("../first-run/index.tsx").then((m) => ({ default: m.FirstRunSteps })),
);
const NewConversation = lazy(() =>
	import("./list/new-conversation.tsx").then((m) => ({ default: m.NewConversation })),
);
if (location.pathname.startsWith("/c/")) void opening().catch(() => undefined);

export function ConversationsView() {
	const isOpen = useParams({ strict: false }).conversation !== undefined;
	const setup = useSetup();
	const isFirstRun = useIsFirstRun() || setup === "open";
	return (
		<div className="flex h-full min-h-0">
			<div
				className={classes(
					"h-full w-full shrink-0 border-r md:w-76 xl:w-88",
					(isOpen || isFirstRun) && "max-md:hidden",
				)}
			>
				<ConversationList />
			</div>
			<div className={classes("h-full min-w-0 flex-1", !isOpen && !isFirstRun && "max-md:hidden")}>
				<Outlet />
			</div>
		</div>
	);
}

export function NoConversationView() {
	const isFirstRun = useIsFirstRun();
	const setup = useSetup();
	const begin = useFirstMessages();
	const [failed, setFailed] = useState(false);
	const say = (sends: readonly string[]): void =>
		void begin(sends).then(
			(taken) => setFailed(!taken),
			() => setFailed(true),
		);
	if (setup === "wait") return <SkeletonRows rows={3} />;
	if (setup === "over")
		return (
			<Suspense fallback={<SkeletonRows rows={3} />}>
				<NewConversation>
					{isFirstRun ? (
						<FirstRun onTry={say} hasFailed={failed} />
					) : (
						<Empty
							icon={<MessagesSquare size={24} strokeWidth={1.5} />}
							title={texts.view.noConversationIsOpen}
						>
							<Marked text={texts.view.chooseOneFromTheList} />
						</Empty>
					)}
				</NewConversation>
			</Suspense>
		);
	return (
		<>
			{failed && (
				<div className="px-5 pt-4">
					<ErrorLine error={new Error(texts.view.itCouldNotBeSent)} />
				</div>
			)}
			<Suspense fallback={<SkeletonRows rows={3} />}>
				<FirstRunSteps onHello={() => say(["hello"])} />
			</Suspense>
		</>
	);
}

export function ConversationView() {
	const { conversation } = useParams({ from: "/conversations/c/$conversation" });
	const { m } = useSearch({ from: "/conversations/c/$conversation" });
	return (
		<Suspense fallback={<SkeletonRows rows={5} label={texts.view.loadingTheConversation} />}>
			{conversation === "new" ? (
				<NewConversation />
			) : (
				<OpenConversation key={conversation} id={conversation} at={m} />
			)}
		</Suspense>
	);
}

function useIsFirstRun(): boolean {
	const { data } = useConversationList();
	return data?.pages[0]?.conversations.length === 0;
}
