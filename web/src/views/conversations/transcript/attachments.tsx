// A message's attachments: pictures with a viewer, other files as a card that saves them.

import { Download, FileText, ImageOff, Music, Paperclip, X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { attachmentUrl } from "../../../api/index.ts";
import { classes } from "../../../lib/classes.ts";
import { texts } from "../../../texts/conversations.ts";
import { Dialog, ErrorLine, IconButton, Skeleton } from "../../../ui/index.ts";
import type { OutgoingFile } from "../compose/outgoing.ts";
import { removeUpload, type Upload } from "../compose/uploads.ts";
import type { Attached } from "./content.ts";

/** Types that a browser may show. The server sends no others as pictures. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/;

export function Attachments({
	conversation,
	files,
}: {
	readonly conversation: string;
	readonly files: readonly Attached[];
}) {
	if (files.length === 0) return null;
	return (
		<ul aria-label={texts.attachments.attachments} className="mt-2 flex flex-wrap gap-2">
			{files.map((file, n) => (
				<li key={`${file.blob}${String(n)}`} className="min-w-0">
					{PICTURE.test(file.media_type) ? (
						<Picture conversation={conversation} file={file} />
					) : (
						<FileCard conversation={conversation} file={file} />
					)}
				</li>
			))}
		</ul>
	);
}

interface OneFile {
	readonly conversation: string;
	readonly file: Attached;
}

function Picture({ conversation, file }: OneFile) {
	const [isOpen, setOpen] = useState(false);
	const { url, error } = useFile(conversation, file);
	const name = file.name ?? texts.attachments.picture;
	if (error !== null) return <Missing name={name} />;
	if (url === null) return <Skeleton className="h-40 w-56" />;
	return (
		<>
			<button
				type="button"
				aria-label={texts.attachments.open(name)}
				className="block cursor-zoom-in overflow-hidden rounded-md border bg-panel"
				onClick={() => setOpen(true)}
			>
				<img src={url} alt={name} className="block h-40 max-w-full object-contain" />
			</button>
			{isOpen && (
				<Dialog open wide onOpenChange={setOpen} title={name}>
					<div className="flex flex-col items-center gap-3">
						<img src={url} alt={name} className="max-h-[62vh] max-w-full object-contain" />
						<a
							href={url}
							download={name}
							className="inline-flex items-center gap-1.5 text-accent underline underline-offset-2"
						>
							<Download size={14} aria-hidden /> {texts.attachments.save}
						</a>
					</div>
				</Dialog>
			)}
		</>
	);
}

function FileCard({ conversation, file }: OneFile) {
	const [error, setError] = useState<unknown>(null);
	const name = file.name ?? texts.attachments.file;
	const save = (): void => {
		setError(null);
		attachmentUrl(conversation, file.blob, file.media_type).then((url) => saveAs(url, name), setError);
	};
	return (
		<div>
			<button
				type="button"
				className="flex h-12 max-w-72 items-center gap-2.5 rounded-md border bg-raised px-3 text-left hover:bg-hover"
				onClick={save}
			>
				<Kind mediaType={file.media_type} />
				<span className="sr-only">{texts.attachments.save}</span>
				<Names name={name} about={file.media_type} />
				<Download size={14} aria-hidden className="shrink-0 text-ink-3" />
			</button>
			{error !== null && <ErrorLine error={error} />}
		</div>
	);
}

function Missing({ name }: { readonly name: string }) {
	return (
		<p className="flex h-12 items-center gap-2 rounded-md border px-3 text-sm text-ink-2">
			<ImageOff size={16} aria-hidden /> {texts.attachments.couldNotBeLoaded(name)}
		</p>
	);
}

function Kind({ mediaType }: { readonly mediaType: string }) {
	const Icon = mediaType.startsWith("audio/") ? Music : mediaType.startsWith("text/") ? FileText : Paperclip;
	return <Icon size={18} aria-hidden className="shrink-0 text-accent" />;
}

function Names({ name, about }: { readonly name: string; readonly about: ReactNode }) {
	return (
		<span className="min-w-0 flex-1">
			<span className="block truncate text-sm font-medium">{name}</span>
			<span className="block truncate text-xs text-ink-3">{about}</span>
		</span>
	);
}

function useFile(conversation: string, { blob, media_type }: Attached) {
	const [state, setState] = useState<{ readonly url: string | null; readonly error: unknown }>({
		url: null,
		error: null,
	});
	useEffect(() => {
		let isWanted = true;
		attachmentUrl(conversation, blob, media_type).then(
			(url) => isWanted && setState({ url, error: null }),
			(error: unknown) => isWanted && setState({ url: null, error }),
		);
		return () => {
			isWanted = false;
		};
	}, [conversation, blob, media_type]);
	return state;
}

function saveAs(url: string, name: string): void {
	const link = document.createElement("a");
	link.href = url;
	link.download = name;
	link.click();
}

/** Files of a message that has no row yet. */
export function OutgoingFiles({ files }: { readonly files: readonly OutgoingFile[] }) {
	if (files.length === 0) return null;
	return (
		<ul aria-label={texts.attachments.attachments} className="mt-1 flex flex-wrap gap-2">
			{files.map(({ id, name, media_type }) => (
				<li key={id} className="flex h-12 max-w-72 items-center gap-2.5 rounded-md border bg-raised px-3">
					<Kind mediaType={media_type} />
					<Names name={name} about={media_type} />
				</li>
			))}
		</ul>
	);
}

/** Files above the message box, until they are sent. */
export function Uploads({
	draftKey,
	uploads,
}: {
	readonly draftKey: string;
	readonly uploads: readonly Upload[];
}) {
	if (uploads.length === 0) return null;
	return (
		<ul aria-label={texts.attachments.filesToSend} className="flex flex-wrap gap-2 px-1 pt-1 pb-2">
			{uploads.map((one) => (
				<li
					key={one.key}
					className={classes(
						"relative flex h-13 w-56 max-w-full items-center gap-2.5 overflow-hidden rounded-md border bg-panel pr-1 pl-2.5",
						one.state.kind === "failed" && "border-danger/60",
					)}
				>
					{one.preview === null ? (
						<Kind mediaType={one.mediaType} />
					) : (
						<img
							src={one.preview}
							alt={texts.attachments.text}
							className="size-9 shrink-0 rounded-xs object-cover"
						/>
					)}
					<Names name={one.name} about={<UploadWords upload={one} />} />
					<IconButton
						label={texts.attachments.remove(one.name)}
						size="sm"
						onClick={() => removeUpload(draftKey, one.key)}
					>
						<X size={14} />
					</IconButton>
					{one.state.kind === "sending" && (
						<progress
							aria-label={texts.attachments.sending(one.name)}
							value={one.state.done}
							max={1}
							className="absolute inset-x-0 bottom-0 h-0.5 w-full appearance-none bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
						/>
					)}
				</li>
			))}
		</ul>
	);
}

function UploadWords({ upload: { state, size } }: { readonly upload: Upload }) {
	if (state.kind === "failed")
		return (
			<span role="alert" className="text-danger">
				{state.error instanceof Error ? state.error.message : texts.attachments.couldNotBeSent}
			</span>
		);
	return state.kind === "sending" ? `${Math.round(state.done * 100)} %` : inBytes(size);
}

function inBytes(size: number): string {
	if (size < 1000) return texts.attachments.bytes(size);
	return size < 1_000_000
		? texts.attachments.kB((size / 1000).toFixed(0))
		: texts.attachments.mB((size / 1_000_000).toFixed(1));
}
