// The channels of a Keryx: the one list that everything else is made from.
import { createLocalChannel } from "../channels/local/index.ts";
import { type Config, ownPlatforms } from "../config/index.ts";
import type { Channel } from "../gateway/index.ts";

/** Keryx's own ways in, then those that the program brings. */
export function channelsOf(
	values: Pick<Config, "webhooks">,
	given: readonly Channel[],
	now: () => number,
): readonly Channel[] {
	return [...ownPlatforms(values).map((platform) => createLocalChannel(platform, now)), ...given];
}
