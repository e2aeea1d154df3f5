// The message box. Enter sends, Shift+Enter adds a line; drafts are kept; a slash completes commands; files are chosen, pasted or
// dropped. While an answer is being written, Stop replaces Send.

import { ArrowUp, Paperclip, Square, Undo2 } from "lucide-react";
import {
	type KeyboardEvent,
	type Ref,
	useEffect,
	useImperativeHandle,
	useLayoutEffect,
	useRef,
	useState,
} from "react";
import { useApi } from "../../../api/index.ts";
import { useShortcut } from "../../../app/shortcuts.ts";
import { classes } from "../../../lib/classes.ts";
import { texts } from "../../../texts/conversations.ts";
import { ErrorLine, IconButton } from "../../../ui/index.ts";
import { Uploads } from "../transcript/attachments.tsx";
import { readDraft, writeDraft } from "./drafts.ts";
import type { OutgoingFile } from "./outgoing.ts";
import { addFiles, MOST_FILES, takeReady, useUploads } from "./uploads.ts";

export interface ComposeHandle {
	/** Restored text, put before the box's content. */
	readonly putBack: (text: string) => void;
}

const LONGEST = 1_000_000;
const TALLEST_PX = 240;

export function Compose({
	draftKey,
	history,
	placeholder,
	onSend,
	onStop,
	onUndo,
	handle,
	takesFocus = true,
}: {
	readonly draftKey: string;
	/** Messages sent before, oldest first. */
	readonly history: () => readonly string[];
	readonly placeholder: string;
	readonly onSend: (text: string, files: readonly OutgoingFile[]) => void;
	/** Set while an answer is being written. */
	readonly onStop?: (() => void) | undefined;
	/** Absent if there is nothing to undo. */
	readonly onUndo?: (() => void) | undefined;
	readonly handle: Ref<ComposeHandle>;
	/** False if the keys of the surrounding view come first. */
	readonly takesFocus?: boolean;
}) {
	const [text, setText] = useState(() => readDraft(draftKey));
	const [recalled, setRecalled] = useState<number | null>(null);
	const box = useRef<HTMLTextAreaElement>(null);
	const chooser = useRef<HTMLInputElement>(null);
	const uploads = useUploads(draftKey);
	const [tooMany, setTooMany] = useState(0);
	const attach = (files: readonly File[]): void => setTooMany(addFiles(draftKey, files));
	const isDragged = useDropped(attach);
	const isSending = uploads.some(({ state }) => state.kind === "sending");
	const isReady = uploads.some(({ state }) => state.kind === "ready");
	const completion = useCompletion(text, (next) => change(next));
	const change = (next: string): void => {
		setText(next);
		writeDraft(draftKey, next);
	};
	useImperativeHandle(handle, () => ({
		putBack: (given) => {
			change(text.trim() === "" ? given : `${given}\n${text}`);
			box.current?.focus();
		},
	}));
	useGrowing(box, text);
	useEffect(() => {
		// On a phone the keyboard would cover the new view.
		if (takesFocus && matchMedia("(pointer: fine)").matches) box.current?.focus({ preventScroll: true });
	}, [takesFocus]);
	useShortcut("i", texts.compose.writeAMessage, () => box.current?.focus());
	// Running uploads belong to the message: sending waits for them.
	const canSend = (text.trim() !== "" || isReady) && !isSending;
	const submit = (): void => {
		const said = text.trim();
		if (!canSend) return;
		const files = takeReady(draftKey).flatMap(({ name, mediaType, state }) =>
			state.kind === "ready" ? [{ id: state.id, name, media_type: mediaType }] : [],
		);
		change("");
		setRecalled(null);
		setTooMany(0);
		onSend(said, files);
	};
	/** Goes through sent messages, as in a shell. Starts only from an empty box, and continues from a recalled text. */
	const recall = (by: number): boolean => {
		if (text !== "" && recalled === null) return false;
		const said = history();
		const position = (recalled ?? said.length) + by;
		if (position < 0 || position > said.length) return position < 0;
		setRecalled(position === said.length ? null : position);
		change(said[position] ?? "");
		return true;
	};
	const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
		if (event.nativeEvent.isComposing) return;
		if (completion.press(event.key)) event.preventDefault();
		else if (event.key === "Enter" && !event.shiftKey) {
			event.preventDefault();
			submit();
		} else if (event.key === "ArrowUp" && recall(-1)) event.preventDefault();
		else if (event.key === "ArrowDown" && recalled !== null && recall(1)) event.preventDefault();
		else if (event.key === "Escape" && onStop) {
			event.preventDefault();
			onStop();
		} else if (event.key === "Escape") box.current?.blur();
	};
	return (
		<div className="relative mx-auto w-full max-w-3xl px-3 pb-3">
			{completion.list}
			{tooMany > 0 && <ErrorLine error={new Error(texts.compose.aMessageCanHaveAt(MOST_FILES, tooMany))} />}
			<div
				className={classes(
					"rounded-md border border-line-strong/60 bg-raised p-1.5 transition-colors focus-within:border-accent",
					isDragged && "border-dashed border-accent bg-accent-soft",
				)}
			>
				<Uploads draftKey={draftKey} uploads={uploads} />
				<div className="flex items-end gap-1">
					<IconButton label={texts.compose.attachFiles} onClick={() => chooser.current?.click()}>
						<Paperclip size={17} strokeWidth={1.75} />
					</IconButton>
					<input
						ref={chooser}
						type="file"
						multiple
						tabIndex={-1}
						aria-label={texts.compose.filesToAttach}
						className="sr-only"
						onChange={({ target }) => {
							attach([...(target.files ?? [])]);
							target.value = "";
							box.current?.focus();
						}}
					/>
					{onUndo && (
						<IconButton label={texts.compose.undoTheLastExchangeAnd} onClick={onUndo}>
							<Undo2 size={17} strokeWidth={1.75} />
						</IconButton>
					)}
					<textarea
						ref={box}
						rows={1}
						maxLength={LONGEST}
						aria-label={texts.compose.message}
						placeholder={isDragged ? texts.compose.dropTheFilesHere : placeholder}
						value={text}
						className="max-h-60 min-h-8 flex-1 resize-none bg-transparent px-2 py-1.5 text-base outline-none placeholder:text-ink-3"
						{...completion.attributes}
						onChange={({ target }) => {
							setRecalled(null);
							change(target.value);
						}}
						onKeyDown={press}
						onPaste={(event) => {
							const files = [...event.clipboardData.files];
							if (files.length === 0) return;
							event.preventDefault();
							attach(files);
						}}
					/>
					{onStop && (
						<IconButton label={texts.compose.stopTheAnswer} keys="Esc" look="danger" onClick={onStop}>
							<Square size={13} fill="currentColor" />
						</IconButton>
					)}
					{(!onStop || canSend) && (
						<IconButton
							label={texts.compose.send}
							keys="Enter"
							look="primary"
							disabled={!canSend}
							onClick={submit}
						>
							<ArrowUp size={17} />
						</IconButton>
					)}
				</div>
			</div>
		</div>
	);
}

/** Takes files dropped anywhere on the page. True while files are dragged over it. */
function useDropped(take: (files: readonly File[]) => void): boolean {
	const [isOver, setOver] = useState(false);
	const latest = useRef(take);
	useEffect(() => {
		latest.current = take;
	});
	useEffect(() => {
		const over = (event: DragEvent): void => {
			if (!event.dataTransfer?.types.includes("Files")) return;
			event.preventDefault();
			setOver(true);
		};
		const leave = (event: DragEvent): void => {
			if (event.relatedTarget === null) setOver(false);
		};
		const drop = (event: DragEvent): void => {
			if (!event.dataTransfer?.types.includes("Files")) return;
			event.preventDefault();
			setOver(false);
			latest.current([...event.dataTransfer.files]);
		};
		document.addEventListener("dragover", over);
		document.addEventListener("dragleave", leave);
		document.addEventListener("drop", drop);
		return () => {
			document.removeEventListener("dragover", over);
			document.removeEventListener("dragleave", leave);
			document.removeEventListener("drop", drop);
		};
	}, []);
	return isOver;
}

/** Makes the box as tall as its text, up to a limit. */
function useGrowing(box: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
	// biome-ignore lint/correctness/useExhaustiveDependencies: its height follows the text.
	useLayoutEffect(() => {
		if (!box.current) return;
		box.current.style.height = "auto";
		box.current.style.height = `${Math.min(TALLEST_PX, box.current.scrollHeight)}px`;
	}, [box, text]);
}

const LIST_ID = "commands";

/** The commands that start with the text, while the text is only a command's name. */
function useCompletion(text: string, complete: (text: string) => void) {
	const isBegun = /^\/[a-z]*$/i.test(text);
	const { data } = useApi("commands", {}, { enabled: text.startsWith("/") });
	const [chosen, setChosen] = useState(0);
	const [dismissed, setDismissed] = useState("");
	const found =
		isBegun && dismissed !== text
			? (data?.commands ?? []).filter(({ name }) => `/${name}`.startsWith(text.toLowerCase()))
			: [];
	const isOpen = found.length > 0 && !(found.length === 1 && `/${found[0]?.name}` === text);
	const active = Math.min(chosen, found.length - 1);
	const take = (index: number): void => {
		const command = found[index];
		if (command) complete(command.usage.includes(" ") ? `/${command.name} ` : `/${command.name}`);
		setChosen(0);
	};
	const press = (key: string): boolean => {
		if (!isOpen) return false;
		if (key === "ArrowDown") setChosen((active + 1) % found.length);
		else if (key === "ArrowUp") setChosen((active + found.length - 1) % found.length);
		else if (key === "Tab") take(active);
		// A complete name is sent; an incomplete one is completed first.
		else if (key === "Enter" && !found.some(({ name }) => `/${name}` === text)) take(active);
		else if (key === "Escape") setDismissed(text);
		else return false;
		return true;
	};
	const list = isOpen && (
		<div
			id={LIST_ID}
			role="listbox"
			aria-label={texts.compose.commands}
			className="rise absolute inset-x-3 bottom-full z-10 mb-1 max-h-64 overflow-y-auto rounded-md border border-line-strong/60 bg-raised p-1"
		>
			{found.map((command, index) => (
				<div
					key={command.name}
					id={`${LIST_ID}-${command.name}`}
					role="option"
					tabIndex={-1}
					aria-selected={index === active}
					ref={(element) => {
						if (index === active) element?.scrollIntoView({ block: "nearest" });
					}}
					className={classes(
						"flex h-8 cursor-default items-center gap-3 rounded-sm px-2",
						index === active && "bg-hover",
					)}
					onPointerMove={() => setChosen(index)}
					onMouseDown={(event) => {
						event.preventDefault();
						take(index);
					}}
				>
					<span className="font-medium">{command.usage}</span>
					<span className="min-w-0 truncate text-sm text-ink-3">{command.about}</span>
				</div>
			))}
		</div>
	);
	const attributes = {
		"aria-autocomplete": "list",
		...(isOpen && { "aria-controls": LIST_ID }),
		...(isOpen && { "aria-activedescendant": `${LIST_ID}-${found[active]?.name ?? ""}` }),
	} as const;
	return { press, list, attributes };
}
