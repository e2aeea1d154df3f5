// One message, from its first streamed words on. Its row later replaces them.

import { useNavigate } from "@tanstack/react-router";
import {
	Check,
	CheckCheck,
	ChevronRight,
	CircleAlert,
	Clock,
	Copy,
	Ellipsis,
	GitBranch,
	Link2,
	Pencil,
	RotateCw,
	Route,
	Undo2,
} from "lucide-react";
import { lazy, memo, type ReactNode, Suspense, useMemo, useState } from "react";
import { api } from "../../../api/index.ts";
import type { Conversation, Message } from "../../../api/types.ts";
import { classes } from "../../../lib/classes.ts";
import { clockTime, fullTime } from "../../../lib/time.ts";
import { texts } from "../../../texts/conversations.ts";
import {
	Button,
	CopyButton,
	copyText,
	ErrorLine,
	IconButton,
	Menu,
	MenuItem,
	Skeleton,
} from "../../../ui/index.ts";
import { discard, type Outgoing, type OutgoingState, sendAgain } from "../compose/outgoing.ts";
import { Prose } from "../prose/prose.tsx";
import { useMessageActions, VersionSwitch } from "./actions.tsx";
import { Attachments, OutgoingFiles } from "./attachments.tsx";
import type { Attached } from "./content.ts";
import type { Call } from "./items.ts";
import type { Asked } from "./notices.ts";
import { type AskedQuestion, questionsIn } from "./questions.ts";
import { ToolCall } from "./tool-call.tsx";
import type { Fork } from "./versions.ts";
import { endWords } from "./words.ts";

export interface MessageItemProps {
	readonly conversation: Conversation;
	/** Null while the message is being written. */
	readonly message: Message | null;
	readonly text: string;
	readonly calls: readonly Call[];
	readonly files: readonly Attached[];
	readonly sent: Outgoing | null;
	readonly follows: boolean;
	readonly fork: Fork | null;
	readonly isMarked?: boolean;
}

export const MessageItem = memo(function MessageItem(props: MessageItemProps) {
	const { conversation, message, text, calls, files, sent, follows, fork, isMarked = false } = props;
	const isUser = message?.role === "user";
	const isAsking = message?.finish_reason === "confirmation";
	const { rest, questions } = useMemo(
		() => (isAsking ? questionsIn(text) : { rest: text, questions: [] }),
		[isAsking, text],
	);
	return (
		<article
			aria-label={isUser ? texts.messageItem.message : texts.messageItem.answer}
			className={classes(
				"group/message relative rounded-md px-3",
				follows ? "pt-1 pb-1.5 pointer-coarse:pr-10" : "pt-3 pb-1.5",
				isMarked && "bg-accent-soft",
			)}
		>
			{!follows && (
				<Heading name={isUser ? personIn(conversation, message, sent) : texts.messageItem.agent}>
					{message && <Time at={message.created_at} />}
				</Heading>
			)}
			<div className={classes(isUser && "border-l-2 border-accent/70 pl-3")}>
				{message?.reasoning && <Reasoning text={message.reasoning} />}
				{rest !== "" && <Prose text={rest} isOpen={message === null} />}
				{calls.length > 0 && (
					<div className={classes("flex flex-col gap-1", text !== "" && "mt-2")}>
						{calls.map((call) => (
							<ToolCall key={call.id} call={call} />
						))}
					</div>
				)}
				<Attachments conversation={conversation.id} files={files} />
				<Questions questions={questions} />
				{message && message.finish_reason !== null && message.finish_reason in UNFINISHED && (
					<p className="mt-1 flex items-center gap-1 text-xs text-ink-3">
						<CircleAlert size={12} aria-hidden />
						{UNFINISHED[message.finish_reason]}
					</p>
				)}
				{message?.sent_from && (
					<p className="text-xs text-ink-3">{texts.messageItem.sentFrom(message.sent_from)}</p>
				)}
				{message?.observed && (
					<p className="text-xs text-ink-3">{texts.messageItem.notAddressedToTheAgent}</p>
				)}
			</div>
			{sent && <SentState sent={sent} />}
			{fork && <VersionSwitch conversation={conversation.id} fork={fork} />}
			{message && <Actions conversation={conversation} message={message} text={text} sent={sent} />}
		</article>
	);
});

/** Why an answer is incomplete. */
const UNFINISHED: Readonly<Record<string, string>> = {
	stopped: texts.messageItem.stoppedHere,
	error: texts.messageItem.brokeOffHere,
	length: texts.messageItem.reachedItsLongest,
};

/** Folded, because the answer matters more. */
function Reasoning({ text }: { readonly text: string }) {
	return (
		<details className="group/thought mb-1.5 text-sm text-ink-2">
			<summary className="flex h-7 w-fit list-none items-center gap-1 rounded-sm text-ink-3 hover:text-ink [&::-webkit-details-marker]:hidden">
				<ChevronRight size={14} aria-hidden className="transition-transform group-open/thought:rotate-90" />
				{texts.messageItem.reasoning}
			</summary>
			<div className="border-l-2 pl-3">
				<Prose text={text} />
			</div>
		</details>
	);
}

const QuestionInChat = lazy(() =>
	import("../../confirmations/in-chat.tsx").then((m) => ({ default: m.QuestionInChat })),
);

/** Shows the current state of questions, which may have changed since they were asked. */
export function Questions({ questions }: { readonly questions: readonly AskedQuestion[] }) {
	if (questions.length === 0) return null;
	return (
		<Suspense fallback={<Skeleton className="mt-2 h-36 w-full" />}>
			{questions.map(({ id, text }) => (
				<QuestionInChat key={id} id={id}>
					<Prose text={text} />
				</QuestionInChat>
			))}
		</Suspense>
	);
}

/** A sent message that has no row yet. */
export function OutgoingItem({ outgoing }: { readonly outgoing: Outgoing }) {
	const { at, text, state, files } = outgoing;
	return (
		<Said name={texts.messageItem.you} at={at} text={text} files={files} isFailed={state.kind === "failed"}>
			<SentState sent={outgoing} />
		</Said>
	);
}

/** A command. Commands never have a row. */
export function AskedItem({ asked: { platform, name, at, text } }: { readonly asked: Asked }) {
	return (
		<Said name={platform === "web" ? texts.messageItem.you : (name ?? SOMEBODY)} at={at} text={text}>
			<StateLine state={{ kind: "ended", as: "command", reason: undefined }} />
		</Said>
	);
}

function Said({
	name,
	at,
	text,
	files = NO_FILES,
	isFailed = false,
	children,
}: {
	readonly name: string;
	readonly at: string;
	readonly text: string;
	readonly files?: Outgoing["files"];
	readonly isFailed?: boolean;
	readonly children: ReactNode;
}) {
	return (
		<article aria-label={texts.messageItem.message} className="px-3 pt-3 pb-1.5">
			<Heading name={name}>
				<Time at={at} />
			</Heading>
			<div className={classes("border-l-2 pl-3", isFailed ? "border-danger" : "border-accent/40")}>
				{text !== "" && <Prose text={text} />}
				<OutgoingFiles files={files} />
			</div>
			{children}
		</article>
	);
}

const NO_FILES: Outgoing["files"] = [];

function Heading({ name, children }: { readonly name: string; readonly children: ReactNode }) {
	return (
		<header className="mb-1 flex items-baseline gap-2 text-sm">
			<span className="min-w-0 truncate font-semibold">{name}</span>
			{children}
		</header>
	);
}

/** In the page's own chats, the person is whoever uses the page. */
function personIn({ platform, source }: Conversation, { author }: Message, sent: Outgoing | null): string {
	if (platform === "web" || sent) return texts.messageItem.you;
	return author?.name ?? source.user_name ?? SOMEBODY;
}

const SOMEBODY = texts.messageItem.someone;

function Time({ at }: { readonly at: string }) {
	const time = Date.parse(at);
	return (
		<time dateTime={at} title={fullTime(time)} className="text-xs text-ink-3 tabular-nums">
			{clockTime(time)}
		</time>
	);
}

/** Shows only what is known about the message. */
function SentState({ sent }: { readonly sent: Outgoing }) {
	const { state } = sent;
	if (state.kind === "failed")
		return (
			<div className="mt-1 flex flex-wrap items-center gap-2 pl-3">
				<ErrorLine error={state.error} />
				<Button size="sm" icon={<RotateCw size={13} />} onClick={() => void sendAgain(sent)}>
					{texts.messageItem.sendAgain}
				</Button>
				<Button size="sm" look="quiet" onClick={() => discard(sent)}>
					{texts.messageItem.discard}
				</Button>
			</div>
		);
	return <StateLine state={state} />;
}

function StateLine({ state }: { readonly state: Exclude<OutgoingState, { kind: "failed" }> }) {
	const [icon, words] =
		state.kind === "sending"
			? [<Clock key="icon" size={12} />, texts.messageItem.sending]
			: state.kind === "accepted"
				? [<Check key="icon" size={12} />, texts.messageItem.accepted]
				: state.as === "answered" || state.as === "merged" || state.as === "command"
					? [<CheckCheck key="icon" size={12} />, endWords(state.as, state.reason)]
					: [<CircleAlert key="icon" size={12} />, endWords(state.as, state.reason)];
	return (
		<p aria-live="polite" className="mt-0.5 flex items-center gap-1 pl-3.5 text-xs text-ink-3">
			<span aria-hidden>{icon}</span>
			{words}
		</p>
	);
}

/** A row starts with a plain button; its menu is created on the first click, to keep scrolling fast. */
function Actions(props: MessageMenuProps) {
	const [isWanted, setWanted] = useState(false);
	return (
		<div className="absolute top-1.5 right-1 flex gap-0.5 opacity-0 focus-within:opacity-100 group-hover/message:opacity-100 has-data-[state=open]:opacity-100 pointer-coarse:opacity-100">
			{props.text !== "" && (
				<CopyButton
					text={props.text}
					label={texts.messageItem.copyMessage}
					className="bg-ground pointer-coarse:hidden"
				/>
			)}
			{isWanted ? (
				<MessageMenu {...props} />
			) : (
				<button
					type="button"
					aria-label={MENU_LABEL}
					aria-haspopup="menu"
					className="flex size-7 items-center justify-center rounded-sm bg-ground text-ink-2 hover:bg-hover"
					onClick={() => setWanted(true)}
				>
					<Ellipsis size={16} />
				</button>
			)}
		</div>
	);
}

const MENU_LABEL = texts.messageItem.moreActionsForThisMessage;

interface MessageMenuProps {
	readonly conversation: Conversation;
	readonly message: Message;
	readonly text: string;
	readonly sent: Outgoing | null;
}

function MessageMenu({ conversation, message, text, sent }: MessageMenuProps) {
	const navigate = useNavigate();
	const actions = useMessageActions();
	const isUser = message.role === "user";
	const isOwn = isUser && (conversation.platform === "web" || sent !== null);
	const again = isUser ? null : (actions?.regenerate(message) ?? null);
	const why = async (): Promise<void> => {
		const inbound = sent?.inbound ?? (await inboundOf(message));
		if (inbound !== null) await navigate({ to: "/why/$inbound", params: { inbound: String(inbound) } });
	};
	const link = () =>
		`${location.origin}/c/${encodeURIComponent(conversation.id)}?m=${message.session}:${String(message.seq)}`;
	return (
		<Menu
			label={texts.messageItem.message}
			defaultOpen
			trigger={
				<IconButton label={MENU_LABEL} size="sm" className="bg-ground">
					<Ellipsis size={16} />
				</IconButton>
			}
		>
			{actions && isOwn && (
				<MenuItem icon={<Pencil size={15} />} onSelect={() => actions.edit(message)}>
					{texts.messageItem.editAndSendAgain}
				</MenuItem>
			)}
			{again && (
				<MenuItem icon={<RotateCw size={15} />} onSelect={again}>
					{texts.messageItem.answerAgain}
				</MenuItem>
			)}
			{actions && (
				<MenuItem icon={<GitBranch size={15} />} onSelect={() => actions.branch(message)}>
					{texts.messageItem.branchFromHere}
				</MenuItem>
			)}
			{actions && isUser && (
				<MenuItem icon={<Undo2 size={15} />} onSelect={() => actions.undo(message)}>
					{texts.messageItem.undoFromHere}
				</MenuItem>
			)}
			<MenuItem icon={<Copy size={15} />} onSelect={() => void copyText(text)}>
				{texts.messageItem.copyText}
			</MenuItem>
			<MenuItem icon={<Link2 size={15} />} onSelect={() => void copyText(link())}>
				{texts.messageItem.copyLink}
			</MenuItem>
			<MenuItem icon={<Route size={15} />} disabled={message.turn === null} onSelect={() => void why()}>
				{texts.messageItem.whatHappenedToIt}
			</MenuItem>
		</Menu>
	);
}

/** The inbound message that a row is, or answers. */
async function inboundOf({ id, turn }: Message): Promise<number | null> {
	if (turn === null) return null;
	try {
		const { inbound } = await api.turn({ turn });
		return (inbound.find(({ message }) => message === id) ?? inbound[0])?.id ?? null;
	} catch {
		return null;
	}
}
