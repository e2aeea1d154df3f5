// Sends an unprompted text to a resolved and checked target. The deliveries and the row in the target's transcript are one commit; the
// same id again sends nothing (I7).
import { type Content, contentText, type Part, type Source } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { type NewDelivery, OPERATOR, type Store } from "../../store/index.ts";
import { asOne } from "../outbox/as-one.ts";
import { fileDeliveries } from "../outbox/files.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { policyOf, type SessionSettings } from "../session-settings.ts";
import { storeAttachments } from "../turn/attachments/attachments.ts";
import type { OutputFiles } from "./output.ts";
import type { Endpoint, Targets } from "./targets.ts";
import type { NewSend, Sending, Sent } from "./types.ts";

export interface SendingOptions {
	readonly store: Store;
	readonly targets: Targets;
	readonly outlet: Outlet;
	readonly sessionSettings: SessionSettings;
	readonly output: OutputFiles | null;
}

export function createSending({ store, targets, outlet, sessionSettings, output }: SendingOptions): Sending {
	const toChat = async (given: NewSend, endpoint: Endpoint): Promise<Sent> => {
		const { id, target, by, turn, whileRunning, from, files = [], uploads = NO_UPLOADS } = given;
		const { destination, conversation } = endpoint;
		const attached = [...files, ...uploads.parts];
		if (attached.length > 0 && !conversation)
			throw new KeryxError("send.refused", "files can only be sent to a chat that Keryx has heard from", {
				field: "attachments",
			});
		// Hidden before it is split: a secret could span two parts.
		const text = store.secrets.hideIn(given.text);
		const { content, blobs } = await storeAttachments(
			store,
			attached.length === 0 ? text : [...(text === "" ? [] : [{ type: "text" as const, text }]), ...attached],
		);
		const sent = await store.send({
			id,
			target,
			by,
			...(turn !== undefined && { turn }),
			...(whileRunning !== undefined && { whileRunning }),
			to: {
				kind: "chat",
				destination,
				conversation: conversation && {
					id: conversation.id,
					opening: {
						policy: policyOf(sessionSettings, conversation),
						...sessionSettings.openingOf(conversation),
					},
				},
				content,
				blobs: [...blobs, ...uploads.blobs],
				from,
				deliveries: deliveriesOf(id, content, endpoint),
			},
		});
		return { ...sent, path: null };
	};
	const deliveriesOf = (id: string, content: Content, { destination }: Endpoint): NewDelivery[] => {
		const posting = { id, kind: "reply", destination } as const;
		const text = contentText(content);
		const files = typeof content === "string" ? [] : content.filter(isFile);
		const parts = asOne(
			[
				...(text === "" ? [] : toDeliveries(text, posting, outlet)),
				...fileDeliveries(files, () => posting, outlet),
			],
			outlet,
		);
		return parts.map((part, index) => ({ ...part, id: `send:${id}:${index + 1}` }));
	};
	return {
		resolve: (text, sender) => targets.resolve(text, sender),
		check: (target, sender) => targets.check(target, sender),
		show: (target) => targets.show(target),
		isSameChat: (one, other) => targets.isSameChat(one, other),
		whereOf: async (id) => {
			const { source } = await store.conversation({ scope: OPERATOR, ref: { id } });
			return { where: whereFrom(source, outlet), conversation: id };
		},
		send: async (given) => {
			if (given.target.kind === "local") {
				if (!output) throw new KeryxError("send.refused", "there is no folder for output files here");
				if (given.files?.length || given.uploads?.parts.length)
					throw new KeryxError("send.refused", "local takes a text, but no files", { field: "attachments" });
				return output.write(given);
			}
			const endpoint = await targets.endpointOf(given.target);
			if (!endpoint)
				throw new KeryxError("send.refused", "the conversation no longer exists", { field: "target" });
			return toChat(given, endpoint);
		},
	};
}

/** No ids, which a prompt may have to hide, and no titles, which reveal the topic. */
function whereFrom({ platform, chatType, userName, chatName }: Source, outlet: Outlet): string {
	if (platform === "local") return "the terminal";
	if (platform === "web") return "a chat on the page";
	if (platform === "api_server") return "the API";
	const { label } = outlet.platforms.traits(platform);
	if (chatType === "dm") return `a private chat${userName ? ` with ${userName}` : ""} on ${label}`;
	return `${chatName ?? "a group"} on ${label}`;
}

const NO_UPLOADS = { parts: [], blobs: [] } as const;

function isFile(part: Part): part is Exclude<Part, { type: "text" }> {
	return part.type !== "text";
}
