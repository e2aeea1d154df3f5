// Sends a workspace file with the agent's answer. It is read here, outside any wall, so it must be what its path says: a regular file
// below the workspace, reached through no link, whatever a running command does to the folders meanwhile.
import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { basename, extname, isAbsolute, join, relative, sep } from "node:path";
import { z } from "zod";
import { bytesInWords } from "../domain/index.ts";
import { turnOf } from "./call-wall.ts";
import { defineTool, type Tool } from "./types.ts";

export interface AttachOptions {
	/** Throws workspace.unusable. */
	workspaceOf(owner: ReturnType<typeof turnOf>): string;
	/** The largest file, in bytes. */
	limit(): number;
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const LONGEST_NAME = 255;

const input = z.object({
	path: z.string().min(1).describe("a file in your workspace, such as report.pdf or out/chart.png"),
	caption: z.string().max(1000).optional().describe("one line to show with it"),
});

export function createAttachTool({ workspaceOf, limit }: AttachOptions): Tool {
	return defineTool({
		name: "attach",
		description:
			"Send a file from your workspace to the people in this chat, together with your answer. Use it for things they asked you to make: documents, pictures, archives.",
		input,
		// Nothing is sent before the turn ends: a repeated call replaces nothing and sends nothing twice.
		repeatable: true,
		async run({ path, caption }, context) {
			const folder = workspaceOf(turnOf(context));
			const read = await readInside(folder, path, limit());
			if ("problem" in read) return { content: read.problem, isError: true };
			const { data } = read;
			const name = basename(path).slice(0, LONGEST_NAME);
			const mediaType = mediaTypeOf(name);
			const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
			const text = `${name} (${bytesInWords(data.byteLength)}) will be sent with your answer.`;
			return {
				content: [
					{ type: "text", text },
					{
						type: type ?? "file",
						data,
						mediaType,
						name,
						sent: { size: data.byteLength, ...(caption !== undefined && { caption }) },
					},
				],
			};
		},
	});
}

type Read = { readonly data: Uint8Array } | { readonly problem: string };

/** A workspace file with all its bytes. */
export async function readInside(folder: string, path: string, limit: number): Promise<Read> {
	const root = await realpath(folder);
	const way = isAbsolute(path) ? relative(root, path) : relative(root, join(root, path));
	if (way === "" || way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way))
		return { problem: `${path} is not in your workspace. Copy it there first.` };
	const link = await linkOn(root, way);
	if (link !== null) return { problem: link };
	const file = await open(join(root, way), FLAGS).catch((error: NodeJS.ErrnoException) => error);
	if (file instanceof Error) return { problem: `${path} cannot be read: ${file.code ?? file.message}` };
	try {
		const facts = await file.stat();
		if (!facts.isFile()) return { problem: `${path} is not a file.` };
		if (facts.size > limit)
			return { problem: `${path} is larger than ${bytesInWords(limit)}, the largest file that can be sent.` };
		// The folders may have changed since the check: ask the open file where it is.
		if (!(await isAt(file, join(root, way)))) return { problem: `${path} changed while it was being read.` };
		const data = await readAll(file, limit);
		return data
			? { data }
			: { problem: `${path} grew beyond the largest size that can be sent while it was being read.` };
	} finally {
		await file.close();
	}
}

/** Why a file's path may not be used; null: it may. */
async function linkOn(root: string, way: string): Promise<string | null> {
	let at = root;
	for (const step of way.split(sep)) {
		at = join(at, step);
		const facts = await lstat(at).catch(() => null);
		if (!facts) return `There is no ${way} in your workspace.`;
		if (facts.isSymbolicLink())
			return `${relative(root, at)} is a link, and links are not followed. Copy the file.`;
	}
	return null;
}

async function isAt(file: FileHandle, path: string): Promise<boolean> {
	const [own, there] = [await file.stat(), await lstat(path).catch(() => null)];
	if (there?.ino !== own.ino || there.dev !== own.dev) return false;
	return (await realpath(path).catch(() => null)) === path;
}

/** Null: it exceeds the limit. */
async function readAll(file: FileHandle, limit: number): Promise<Uint8Array | null> {
	const pieces: Buffer[] = [];
	let size = 0;
	for await (const piece of file.createReadStream({ autoClose: false, end: limit })) {
		pieces.push(piece as Buffer);
		size += (piece as Buffer).byteLength;
	}
	return size > limit ? null : Buffer.concat(pieces);
}

export function mediaTypeOf(name: string): string {
	return MEDIA_TYPES[extname(name).toLowerCase()] ?? "application/octet-stream";
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
	".png": "image/png",
	".jpg": "image/jpeg",
	".jpeg": "image/jpeg",
	".gif": "image/gif",
	".webp": "image/webp",
	".svg": "image/svg+xml",
	".pdf": "application/pdf",
	".txt": "text/plain",
	".log": "text/plain",
	".md": "text/markdown",
	".csv": "text/csv",
	".html": "text/html",
	".json": "application/json",
	".zip": "application/zip",
	".gz": "application/gzip",
	".mp3": "audio/mpeg",
	".ogg": "audio/ogg",
	".wav": "audio/wav",
	".mp4": "video/mp4",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};
