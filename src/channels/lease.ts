// A send that had to wait for its turn: meanwhile another gateway may have taken over the chat, and would send it too.
import type { ChannelHost, SendResult } from "../gateway/index.ts";

const LOST: SendResult = { kind: "retry", afterMs: 1000, reason: "this gateway has lost its lease" };

/** The answer instead of a send that may not leave any more; null: it may. */
export function leaseLost(host: ChannelHost | undefined): SendResult | null {
	return host?.maySend?.() === false ? LOST : null;
}
