// One conversation: its head, its transcript, the box to write in.

import { X } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, api, useApi } from "../../api/index.ts";
import type { Conversation } from "../../api/types.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { useRunningTurn } from "../../live/index.ts";
import { ErrorLine, ErrorState, IconButton, SkeletonRows } from "../../ui/index.ts";
import { Compose, type ComposeHandle } from "./compose.tsx";
import { textOf } from "./content.ts";
import { ConversationHeader } from "./header.tsx";
import { send } from "./outgoing.ts";
import { PutAwayBanner } from "./put-away.tsx";
import { TranscriptView } from "./transcript.tsx";
import type { Spot, TranscriptState } from "./transcript-store.ts";
import { transcriptOf, useTranscript } from "./transcripts.ts";
import { markSeen } from "./unread.ts";

const FindBar = lazy(() => import("./find-bar.tsx").then((m) => ({ default: m.FindBar })));

export function OpenConversation({ id, at }: { readonly id: string; readonly at: string | undefined }) {
	const { data, error, refetch } = useApi(
		"conversation",
		{ conversation: id },
		{ on: ["session", "conversation", "turn"], of: id },
	);
	if (data) return <Talk key={id} conversation={data} at={at} />;
	if (error) return <ErrorState error={error} title="No conversation" onRetry={() => void refetch()} />;
	return <SkeletonRows rows={5} label="Loading the conversation" />;
}

function Talk({
	conversation,
	at,
}: {
	readonly conversation: Conversation;
	readonly at: string | undefined;
}) {
	const { id } = conversation;
	const transcript = useMemo(() => transcriptOf(id), [id]);
	const state = useTranscript(transcript);
	const running = useRunningTurn(id);
	const [error, setError] = useState<unknown>(null);
	const [isFinding, setFinding] = useState(false);
	useShortcut("f", "Find in this conversation", () => setFinding(true));
	const compose = useRef<ComposeHandle>(null);
	const spot = useMemo(() => spotOf(at), [at]);
	const live = state.segments.at(-1)?.session ?? null;
	useSeen(conversation, state);
	const attempt = async (what: Promise<unknown>): Promise<void> => {
		setError(null);
		await what.catch((cause: unknown) =>
			setError(cause instanceof ApiError ? cause : new Error(String(cause))),
		);
	};
	const stop = () => void attempt(api.stop({ conversation: id }));
	const undo = () =>
		void attempt(
			api.undo({ conversation: id }).then(({ text }) => {
				if (text !== null) compose.current?.putBack(text);
			}),
		);
	return (
		<section aria-label={conversation.name} className="flex h-full min-h-0 flex-col">
			<ConversationHeader
				conversation={conversation}
				session={state.isAtEnd ? live : null}
				isRunning={running !== null}
				onStop={stop}
				onFind={() => setFinding(true)}
				onError={setError}
			/>
			<PutAwayBanner conversation={conversation} onError={setError} />
			<Suspense>{isFinding && <FindBar conversation={id} onClose={() => setFinding(false)} />}</Suspense>
			<TranscriptView conversation={conversation} transcript={transcript} spot={spot} onStop={stop} />
			{error !== null && (
				<div className="mx-auto flex w-full max-w-3xl items-center gap-2 px-4 pb-2">
					<ErrorLine error={error} />
					<IconButton label="Dismiss" size="sm" onClick={() => setError(null)}>
						<X size={14} />
					</IconButton>
				</div>
			)}
			<Compose
				draftKey={id}
				handle={compose}
				placeholder={conversation.platform === "web" ? "Write a message" : `Write to ${conversation.name}`}
				history={() => saidIn(state)}
				onUndo={hasSaid(state) ? undo : undefined}
				onSend={(text) => {
					if (!state.isAtEnd) void transcript.load();
					void send({ kind: "conversation", conversation }, text, lastIdIn(state));
				}}
			/>
		</section>
	);
}

/** Who looks at it has seen it. */
function useSeen(conversation: Conversation, state: TranscriptState): void {
	const { id, last_activity_at } = conversation;
	const newest = state.segments.at(-1)?.messages.at(-1)?.created_at ?? last_activity_at;
	useEffect(() => {
		const look = () => {
			if (document.visibilityState !== "visible") return;
			markSeen(id, newest);
			markSeen(id, last_activity_at);
		};
		look();
		document.addEventListener("visibilitychange", look);
		return () => document.removeEventListener("visibilitychange", look);
	}, [id, last_activity_at, newest]);
}

/** `<session>:<seq>`; what is not one leads to the end. */
function spotOf(at: string | undefined): Spot | null {
	const [, session, seq] = /^(.+):(\d+)$/.exec(at ?? "") ?? [];
	return session !== undefined && seq !== undefined ? { session, seq: Number(seq) } : null;
}

function saidIn({ segments }: TranscriptState): readonly string[] {
	return segments.flatMap(({ messages }) =>
		messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content)),
	);
}

function hasSaid({ segments }: TranscriptState): boolean {
	return segments.at(-1)?.messages.some(({ role }) => role === "user") ?? false;
}

function lastIdIn({ segments }: TranscriptState): number {
	return segments.findLast(({ messages }) => messages.length > 0)?.messages.at(-1)?.id ?? 0;
}
