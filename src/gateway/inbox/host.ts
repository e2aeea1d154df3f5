// What a channel may ask of the gateway. Everything that names a cursor is committed together with it (I3).
import type { Config } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Store } from "../../store/index.ts";
import type { Admission, Channel, ChannelHost, Inbound } from "../channel.ts";
import { COMMANDS } from "../commands/index.ts";
import { putBlobStream } from "./blobs.ts";

const MIB = 1024 * 1024;
const OPERATOR = { kind: "operator" } as const;

export interface HostOptions {
	readonly store: Store;
	/** Asked each time: it may change. */
	readonly config: () => Config;
	readonly accept: (inbound: Inbound) => Promise<Admission>;
	readonly pressed: ChannelHost["pressed"];
}

export function createHost(
	{ platform, account }: Pick<Channel, "platform" | "account">,
	{ store, config, accept, pressed }: HostOptions,
): ChannelHost {
	return {
		accept,
		cursor: () => store.channelCursor({ scope: OPERATOR, platform, account }),
		putBlob: async (pieces, { name, mediaType, size = 0 }) => {
			const megabytes = config().http.attachment_limit_mb;
			const bytes = megabytes * MIB;
			const error = () =>
				new KeryxError("attachment.too_large", `${name} is larger than ${megabytes} MB`, { field: "size" });
			if (size > bytes) throw error();
			return (await putBlobStream(store, pieces, { mediaType, limit: { bytes, error } })).id;
		},
		edited: unbuilt,
		deleted: unbuilt,
		reacted: unbuilt,
		pressed,
		gone: unbuilt,
		moved: unbuilt,
		passed: (value) => store.moveCursor({ platform, account, value }),
		commands: () => COMMANDS.map(({ name, about }) => ({ name, description: about })),
	};
}

function unbuilt(): Promise<never> {
	return Promise.reject(new KeryxError("internal", "this Keryx cannot do that yet"));
}
