// A host that accepts a channel's input as a gateway would. Tests decide when it commits, and when it fails.
import { KeryxError } from "../errors.ts";
import type { ChannelHost, Inbound } from "../gateway/index.ts";

type Edit = Parameters<ChannelHost["edited"]>[0];
type Deletion = Parameters<ChannelHost["deleted"]>[0];
type Press = Parameters<ChannelHost["pressed"]>[0];
type Reaction = Parameters<ChannelHost["reacted"]>[0];
type Gone = Parameters<ChannelHost["gone"]>[0];
type Move = Parameters<ChannelHost["moved"]>[0];

export class TakingHost implements ChannelHost {
	readonly taken: Inbound[] = [];
	readonly edits: Edit[] = [];
	readonly deletions: Deletion[] = [];
	readonly presses: Press[] = [];
	readonly reactions: Reaction[] = [];
	readonly goings: Gone[] = [];
	readonly moves: Move[] = [];
	readonly blobs = new Map<string, Buffer>();
	/** The largest accepted file. */
	blobLimit = Number.POSITIVE_INFINITY;
	asked = 0;
	/** This many of the next messages are not committed. */
	refusals = 0;
	refused = 0;
	#cursor: string | null = null;
	#held: Promise<void> = Promise.resolve();
	#release: () => void = () => {};

	/** Commits nothing until it is released. */
	hold(): void {
		this.#held = new Promise((resolve) => {
			this.#release = resolve;
		});
	}

	release(): void {
		this.#release();
	}

	ids(): string[] {
		return this.taken.map(({ platformMessage }) => platformMessage);
	}

	async accept(inbound: Inbound): ReturnType<ChannelHost["accept"]> {
		this.asked++;
		await this.#held;
		if (this.refusals > 0) {
			this.refusals--;
			this.refused++;
			throw new Error("nothing was committed");
		}
		this.taken.push(inbound);
		await this.#happened(inbound);
		return { id: this.taken.length, conversation: null, duplicate: false, refused: null };
	}

	cursor(): Promise<string | null> {
		return Promise.resolve(this.#cursor);
	}

	known(chatId: string, platformMessages: readonly string[]): Promise<readonly string[]> {
		const taken = this.taken.filter(({ source }) => source.chat_id === chatId);
		return Promise.resolve(
			platformMessages.filter((id) => taken.some(({ platformMessage }) => platformMessage === id)),
		);
	}

	async putBlob(bytes: AsyncIterable<Uint8Array>, { name }: { readonly name: string }): Promise<string> {
		const pieces: Uint8Array[] = [];
		let size = 0;
		for await (const piece of bytes) {
			pieces.push(piece);
			size += piece.length;
			if (size > this.blobLimit) throw new KeryxError("attachment.too_large", `${name} is too large`);
		}
		const id = `blob-${this.blobs.size + 1}`;
		this.blobs.set(id, Buffer.concat(pieces));
		return id;
	}

	/** Everyone except these. */
	readonly strangers = new Set<string>();

	welcomes({ source }: Parameters<ChannelHost["welcomes"]>[0]): Promise<boolean> {
		return Promise.resolve(!this.strangers.has(String(source.user_id)));
	}

	async edited(edit: Edit): Promise<void> {
		this.edits.push(edit);
		await this.#happened(edit);
	}

	async deleted(deletion: Deletion): Promise<void> {
		this.deletions.push(deletion);
		await this.#happened(deletion);
	}

	async reacted(reaction: Reaction): Promise<void> {
		this.reactions.push(reaction);
		await this.#happened(reaction);
	}

	async pressed(press: Press): Promise<{ readonly text: string }> {
		this.presses.push(press);
		await this.#happened(press);
		return { text: `pressed ${press.button}` };
	}

	async gone(gone: Gone): Promise<void> {
		this.goings.push(gone);
		await this.#happened(gone);
	}

	async moved(move: Move): Promise<void> {
		this.moves.push(move);
		await this.#happened(move);
	}

	passed(cursor: string): Promise<void> {
		return this.#happened({ cursor });
	}

	commands(): readonly { readonly name: string; readonly description: string }[] {
		return [
			{ name: "help", description: "lists the commands" },
			{ name: "status", description: "says what is going on" },
		];
	}

	#happened({ cursor }: { readonly cursor?: string }): Promise<void> {
		this.#cursor = cursor ?? this.#cursor;
		return Promise.resolve();
	}
}
