// One conversation: its header, its transcript, the message box.

import { useNavigate } from "@tanstack/react-router";
import { Pencil, X } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, api, upload, useApi } from "../../api/index.ts";
import type { Conversation, Message } from "../../api/types.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { useRunningTurn } from "../../live/index.ts";
import { texts } from "../../texts/conversations.ts";
import { ErrorLine, ErrorState, IconButton, SkeletonRows } from "../../ui/index.ts";
import { Compose, type ComposeHandle } from "./compose/compose.tsx";
import { type OutgoingFile, send } from "./compose/outgoing.ts";
import { addFiles } from "./compose/uploads.ts";
import { ConversationHeader } from "./header.tsx";
import { PutAwayBanner } from "./list/put-away.tsx";
import { markSeen } from "./list/unread.ts";
import { askedBy, contentsOf, type MessageActions, MessageActionsProvider } from "./transcript/actions.tsx";
import { textOf } from "./transcript/content.ts";
import type { Spot, TranscriptState } from "./transcript/store.ts";
import { TranscriptView } from "./transcript/transcript.tsx";
import { transcriptOf, useTranscript } from "./transcript/transcripts.ts";

const FindBar = lazy(() => import("./transcript/find-bar.tsx").then((m) => ({ default: m.FindBar })));

export function OpenConversation({ id, at }: { readonly id: string; readonly at: string | undefined }) {
	const { data, error, refetch } = useApi(
		"conversation",
		{ conversation: id },
		{ on: ["session", "conversation", "turn"], of: id },
	);
	if (data) return <Talk key={id} conversation={data} at={at} />;
	if (error)
		return (
			<ErrorState
				error={error}
				title={texts.openConversation.noConversation}
				onRetry={() => void refetch()}
			/>
		);
	return <SkeletonRows rows={5} label={texts.openConversation.loadingTheConversation} />;
}

function Talk({
	conversation,
	at,
}: {
	readonly conversation: Conversation;
	readonly at: string | undefined;
}) {
	const { id } = conversation;
	const navigate = useNavigate();
	const transcript = useMemo(() => transcriptOf(id), [id]);
	const state = useTranscript(transcript);
	const running = useRunningTurn(id);
	const [error, setError] = useState<unknown>(null);
	const [isFinding, setFinding] = useState(false);
	useShortcut("f", texts.openConversation.findInThisConversation, () => setFinding(true));
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
	const [editing, setEditing] = useState<Message | null>(null);
	const last = state.segments.findLast(({ messages }) => messages.length > 0)?.messages.at(-1);
	const isOwn = conversation.platform === "web";
	const branchBefore = ({ id: message }: Message) =>
		api.branchSession({ conversation: id, from: { where: "before", message } });
	/** Sends a message. If it replaces one, it starts a branch, and the old text stays as another version. */
	const say = async (
		text: string,
		files: readonly OutgoingFile[],
		instead: Message | null,
	): Promise<void> => {
		if (instead) await branchBefore(instead);
		// Writing leaves the row that a link led to.
		if (spot) await navigate({ to: "/c/$conversation", params: { conversation: id }, replace: true });
		if (!state.isAtEnd) void transcript.load();
		void send({ kind: "conversation", conversation }, text, lastIdIn(state), files);
	};
	const putBack = async (message: Message): Promise<void> => {
		const { text, files } = await contentsOf(conversation, message);
		addFiles(id, files);
		compose.current?.putBack(text);
	};
	const askAgain = async (message: Message): Promise<void> => {
		const { text, files } = await contentsOf(conversation, message);
		await say(text, await Promise.all(files.map(stored)), message);
	};
	const actions: MessageActions = {
		edit: (message) => {
			setEditing(message);
			void attempt(putBack(message));
		},
		regenerate: (answer) => {
			if (!isOwn)
				return answer.turn === last?.turn ? () => void attempt(api.retry({ conversation: id })) : null;
			const asked = askedBy(answer, state);
			return asked && (() => void attempt(askAgain(asked)));
		},
		branch: ({ id: message }) =>
			void attempt(api.branchSession({ conversation: id, from: { where: "after", message } })),
		undo: (message) => {
			const isLive = message.session === state.segments.at(-1)?.id;
			const taken: Promise<unknown> = isLive
				? api.undo({ conversation: id, from: message.id })
				: branchBefore(message);
			void attempt(taken.then(() => putBack(message)));
		},
	};
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
				onFind={() => setFinding(true)}
				onError={setError}
			/>
			<PutAwayBanner conversation={conversation} onError={setError} />
			<Suspense>{isFinding && <FindBar conversation={id} onClose={() => setFinding(false)} />}</Suspense>
			<MessageActionsProvider value={actions}>
				<TranscriptView conversation={conversation} transcript={transcript} spot={spot} />
			</MessageActionsProvider>
			{running !== null && <StopKey onStop={stop} />}
			{error !== null && (
				<div className="mx-auto flex w-full max-w-3xl items-center gap-2 px-4 pb-2">
					<ErrorLine error={error} />
					<IconButton label={texts.openConversation.dismiss} size="sm" onClick={() => setError(null)}>
						<X size={14} />
					</IconButton>
				</div>
			)}
			{editing && (
				<p className="mx-auto flex w-full max-w-3xl items-center gap-2 px-4 pb-1 text-sm text-ink-2">
					<Pencil size={14} aria-hidden className="text-accent" />
					<span className="flex-1">{texts.openConversation.yourNewMessageReplacesThe}</span>
					<IconButton label={texts.openConversation.cancelEditing} size="sm" onClick={() => setEditing(null)}>
						<X size={14} />
					</IconButton>
				</p>
			)}
			<Compose
				draftKey={id}
				handle={compose}
				placeholder={
					conversation.platform === "web"
						? texts.openConversation.writeAMessage
						: texts.openConversation.writeTo(conversation.name)
				}
				history={() => saidIn(state)}
				onUndo={hasSaid(state) ? undo : undefined}
				onStop={running === null ? undefined : stop}
				onSend={(text, files) => {
					setEditing(null);
					void attempt(say(text, files, editing));
				}}
			/>
		</section>
	);
}

/** Uploads a file again, for another message. */
async function stored(file: File): Promise<OutgoingFile> {
	const { id } = await upload(file, { onProgress: () => undefined, signal: new AbortController().signal });
	return { id, name: file.name, media_type: file.type };
}

/** Mounted while an answer is being written. */
function StopKey({ onStop }: { readonly onStop: () => void }) {
	useShortcut("Escape", texts.openConversation.stopTheAnswer, onStop);
	return null;
}

/** Marks the conversation as seen while it is visible. */
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

/** Parses `<session>:<seq>`. Anything else shows the end. */
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
