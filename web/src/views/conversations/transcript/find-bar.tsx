// Finds words in one conversation, in all of its sessions, and moves from match to match.

import { useNavigate } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useDeferredValue, useEffect, useRef, useState } from "react";
import { useApi } from "../../../api/index.ts";
import { texts } from "../../../texts/conversations.ts";
import { ErrorLine, IconButton, Input } from "../../../ui/index.ts";

const MOST = 100;

export function FindBar({
	conversation,
	onClose,
}: {
	readonly conversation: string;
	readonly onClose: () => void;
}) {
	const [words, setWords] = useState("");
	const q = useDeferredValue(words.trim());
	const [at, setAt] = useState(0);
	const navigate = useNavigate();
	const input = useRef<HTMLInputElement>(null);
	const { data, error } = useApi(
		"search",
		{ q, conversation, limit: MOST },
		{ enabled: q !== "", keep: true },
	);
	// Newest first, because a chat is read from its end.
	const matches = (q === "" ? [] : (data?.hits ?? []))
		.flatMap(({ id, session, seq }) => (id === undefined || seq === undefined ? [] : [{ id, session, seq }]))
		.sort((a, b) => b.id - a.id);
	const spot = matches[Math.min(at, matches.length - 1)];
	const m = spot && `${spot.session}:${spot.seq}`;
	useEffect(() => input.current?.focus(), []);
	useEffect(() => {
		if (m !== undefined)
			void navigate({ to: "/c/$conversation", params: { conversation }, search: { m }, replace: true });
	}, [m, conversation, navigate]);
	const go = (by: number) => {
		if (matches.length > 0) setAt((Math.min(at, matches.length - 1) + by + matches.length) % matches.length);
	};
	return (
		<search
			aria-label={texts.findBar.findInThisConversation}
			className="flex shrink-0 items-center gap-1 border-b bg-panel px-3 py-1.5"
			onKeyDown={(event) => {
				if (event.key === "Escape") {
					event.stopPropagation();
					onClose();
				}
			}}
		>
			<form
				className="min-w-0 flex-1"
				onSubmit={(event) => {
					event.preventDefault();
					go(1);
				}}
			>
				<Input
					ref={input}
					type="search"
					aria-label={texts.findBar.wordsToFind}
					placeholder={texts.findBar.findInThisConversation}
					value={words}
					onChange={({ target }) => {
						setWords(target.value);
						setAt(0);
					}}
				/>
			</form>
			<span role="status" className="min-w-16 text-center text-sm text-ink-3 tabular-nums">
				{q !== "" &&
					data &&
					(matches.length === 0
						? texts.findBar.noMatches
						: `${Math.min(at, matches.length - 1) + 1} of ${matches.length}${data.next === null ? "" : "+"}`)}
			</span>
			<IconButton
				label={texts.findBar.olderMatch}
				size="sm"
				disabled={matches.length < 2}
				onClick={() => go(1)}
			>
				<ChevronUp size={16} />
			</IconButton>
			<IconButton
				label={texts.findBar.newerMatch}
				size="sm"
				disabled={matches.length < 2}
				onClick={() => go(-1)}
			>
				<ChevronDown size={16} />
			</IconButton>
			<IconButton label={texts.findBar.close} size="sm" onClick={onClose}>
				<X size={16} />
			</IconButton>
			{error && <ErrorLine error={error} />}
		</search>
	);
}
