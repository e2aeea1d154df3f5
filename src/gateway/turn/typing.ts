// The typing indicator, as long as a turn works.
import type { Destination } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Channel } from "../channel.ts";

/** Platforms remove it after a few seconds. */
const AGAIN_MS = 4000;

/** Shown until the returned function is called. */
export function keepTyping(channel: Channel | undefined, destination: Destination, clock: Clock): () => void {
	if (!channel?.typing) return () => {};
	let cancel = () => {};
	const again = () => {
		// A lost indicator does not matter; the next one follows.
		channel.typing?.(destination).catch(() => undefined);
		cancel = clock.after(AGAIN_MS, again);
	};
	again();
	return () => cancel();
}
