// A host that accepts everything and remembers only its cursor: the base for hosts of tests of a single part.
import type { ChannelHost } from "../../src/gateway/index.ts";

/** The answer for a message without files. */
export function noBlobs(blob: string): never {
	throw new Error(`there is no blob ${blob}`);
}

export function quietHost(own: Partial<ChannelHost> = {}): ChannelHost {
	let cursor: string | null = null;
	let blobs = 0;
	let accepted = 0;
	const passed = (next: string | undefined) => {
		cursor = next ?? cursor;
		return Promise.resolve();
	};
	const happened = (what: { readonly cursor?: string }) => passed(what.cursor);
	return {
		accept: async (inbound) => {
			await happened(inbound);
			return { id: ++accepted, conversation: null, duplicate: false, refused: null };
		},
		cursor: () => Promise.resolve(cursor),
		known: () => Promise.resolve([]),
		putBlob: async (bytes) => {
			for await (const piece of bytes) void piece;
			return `blob-${++blobs}`;
		},
		welcomes: () => Promise.resolve(true),
		edited: happened,
		deleted: happened,
		reacted: happened,
		pressed: async (press) => {
			await happened(press);
			return { text: "done" };
		},
		gone: happened,
		moved: happened,
		passed,
		commands: () => [],
		...own,
	};
}
