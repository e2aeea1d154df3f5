// File uploads and downloads. An upload reports its progress, which fetch cannot.
import { texts } from "../texts/app.ts";
import { ApiError, errorIn, unreachable } from "./error.ts";
import { pageHeaders } from "./page-key.ts";
import { readBlob } from "./request.ts";

interface Stored {
	readonly id: string;
	readonly digest: string;
}

export function upload(
	file: File,
	{ onProgress, signal }: { readonly onProgress: (done: number) => void; readonly signal: AbortSignal },
): Promise<Stored> {
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		request.open("POST", "/api/attachments");
		for (const [name, value] of Object.entries(pageHeaders())) request.setRequestHeader(name, value);
		request.setRequestHeader("content-type", file.type || "application/octet-stream");
		request.responseType = "json";
		request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
		request.onload = () =>
			request.status === 200
				? resolve(request.response as Stored)
				: reject(errorIn(request.response, request.status));
		request.onerror = () => reject(unreachable(new Error(texts.upload.theConnectionWasLost)));
		request.onabort = () =>
			reject(new ApiError({ code: "page.aborted", message: texts.upload.theFileWasRemoved }, 0));
		signal.addEventListener("abort", () => request.abort());
		request.send(file);
	});
}

/** Object URLs of fetched files, latest last. Elements cannot fetch files themselves, because the page's key is sent as a header. */
const fetched = new Map<string, Promise<string>>();
const MOST_KEPT = 60;

export function attachmentBlob(conversation: string, digest: string, mediaType: string): Promise<Blob> {
	return readBlob(pathOf(conversation, digest, mediaType));
}

function pathOf(conversation: string, digest: string, mediaType: string): string {
	return `/api/conversations/${encodeURIComponent(conversation)}/attachments/${digest}?media_type=${encodeURIComponent(mediaType)}`;
}

/** Returns an object URL for a conversation's file. */
export function attachmentUrl(conversation: string, digest: string, mediaType: string): Promise<string> {
	const path = pathOf(conversation, digest, mediaType);
	const known = fetched.get(path);
	const url = known ?? readBlob(path).then((blob) => URL.createObjectURL(blob));
	fetched.delete(path);
	fetched.set(path, url);
	// Failures are not cached, so that they are retried.
	if (!known) url.catch(() => fetched.delete(path));
	const [oldest] = fetched;
	if (fetched.size > MOST_KEPT && oldest) {
		fetched.delete(oldest[0]);
		oldest[1].then(URL.revokeObjectURL, () => undefined);
	}
	return url;
}
