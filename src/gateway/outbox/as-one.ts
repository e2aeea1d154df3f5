// An answer as one message, for chats where each message is a disturbance: text, Keryx's notices and files together. Pure.
import { sizeOf } from "../../render/index.ts";
import type { DeliveryBody, NewDelivery } from "../../store/index.ts";
import type { Outlet } from "./outlet.ts";

/** The deliveries of one turn's end, in order. Unchanged if the chat allows several messages, or if one would be too long. */
export function asOne(deliveries: readonly NewDelivery[], outlet: Outlet): NewDelivery[] {
	const first = deliveries.find(({ kind }) => kind === "reply") ?? deliveries[0];
	if (!first || deliveries.length === 1 || !outlet.isOneMessage(first.destination)) return [...deliveries];
	if (deliveries.some(({ body }) => body.buttons || body.edits !== undefined)) return [...deliveries];
	const { messageLimit } = outlet.platforms.traits(first.destination.platform);
	const text = joined(deliveries, "text");
	const plain = joined(deliveries, "plain");
	const isLong = [text, plain].some((one) => sizeOf(one, messageLimit.unit) > messageLimit.max);
	if (isLong) return [...deliveries];
	const attachments = deliveries.flatMap(({ body }) => body.attachments ?? []);
	return [{ ...first, body: { ...first.body, text, plain, ...(attachments.length > 0 && { attachments }) } }];
}

function joined(
	deliveries: readonly NewDelivery[],
	which: keyof Pick<DeliveryBody, "text" | "plain">,
): string {
	return deliveries
		.map(({ body }) => body[which])
		.filter((words) => words.trim() !== "")
		.join("\n\n");
}
