// A channel that can show everything, over the scripted platform: it keeps what it was given, bytes included, and lets a test press
// buttons as a platform's user does.
import type { Channel, ChannelHost, ChannelTraits, Inbound, Outgoing } from "../../src/gateway/index.ts";

export const SHOWS_ALL: ChannelTraits["shows"] = {
	attachments: true,
	buttons: true,
	edit: true,
	typing: true,
	threads: true,
	idempotentSend: false,
	lookup: false,
	drafts: false,
};

export const TRAITS: ChannelTraits = {
	name: "telegram",
	label: "Telegram",
	messageLimit: { max: 4096, unit: "utf16" },
	piiSafe: true,
	notifyBoundaries: true,
	markup: "telegram_html",
	shows: SHOWS_ALL,
};

export interface Given {
	readonly as: "send" | "edit";
	readonly outgoing: Outgoing;
	/** Its files, by name. */
	readonly files: ReadonlyMap<string, Buffer>;
}

export interface Presser {
	readonly user?: string;
	/** Left out: theirs alone. */
	readonly chat?: string;
	/** The message that shows the button. */
	readonly message?: string;
	readonly cursor?: string;
	readonly transport?: Inbound["transport"];
	readonly onCommitted?: () => void;
}

export class FullChannel {
	readonly given: Given[] = [];
	#host!: ChannelHost;
	readonly #traits: ChannelTraits;

	constructor(traits: Partial<ChannelTraits> = {}) {
		this.#traits = { ...TRAITS, ...traits };
	}

	/** For `SceneOptions.wrap`. */
	readonly wrap = (channel: Channel): Channel => ({
		...channel,
		traits: this.#traits,
		start: (host) => {
			this.#host = host;
			return channel.start(host);
		},
		send: async (outgoing) => {
			await this.#keep("send", outgoing);
			return channel.send(outgoing);
		},
		...(channel.edit && {
			edit: async (receipt: string, outgoing: Outgoing) => {
				await this.#keep("edit", outgoing);
				return (channel.edit as NonNullable<Channel["edit"]>)(receipt, outgoing);
			},
		}),
	});

	/** The id of the last button of that label. */
	button(label: string): string {
		const found = this.given
			.flatMap(({ outgoing }) => outgoing.body.buttons ?? [])
			.flat()
			.findLast((one) => one.label === label);
		if (!found) throw new Error(`no button ${label} was shown`);
		return found.id;
	}

	async press(button: string, by: Presser = {}): Promise<string> {
		const { user = "ada", chat = user, message = "r1", cursor, transport, onCommitted } = by;
		const chatType = chat === user ? "dm" : "group";
		const { text } = await this.#host.pressed({
			source: { platform: "telegram", chat_id: chat, chat_type: chatType, user_id: user },
			button,
			platformMessage: message,
			...(cursor !== undefined && { cursor }),
			...(transport && { transport }),
			...(onCommitted && { onCommitted }),
		});
		return text;
	}

	async #keep(as: Given["as"], outgoing: Outgoing): Promise<void> {
		const files = new Map<string, Buffer>();
		for (const { blob, name } of outgoing.body.attachments ?? []) {
			const pieces: Uint8Array[] = [];
			for await (const piece of outgoing.openBlob(blob)) pieces.push(piece);
			files.set(name, Buffer.concat(pieces));
		}
		this.given.push({ as, outgoing, files });
	}
}
