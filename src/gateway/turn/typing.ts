// The sign that somebody is writing, for as long as a turn works.
import type { Destination } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Channel } from "../channel.ts";

/** Platforms take it away after a few seconds. */
const AGAIN_MS = 4000;

/** Shown until the function that is answered is called. */
export function keepTyping(channel: Channel | undefined, destination: Destination, clock: Clock): () => void {
	if (!channel?.typing) return () => {};
	let cancel = () => {};
	const again = () => {
		// An indicator that did not arrive costs nobody anything; the next one follows.
		channel.typing?.(destination).catch(() => undefined);
		cancel = clock.after(AGAIN_MS, again);
	};
	again();
	return () => cancel();
}
