// The channels of a Keryx: the one list that everything else uses.
import { createLocalChannel } from "../channels/local/index.ts";
import { type Config, ownPlatforms } from "../config/index.ts";
import { SCHEDULE_PLATFORM } from "../domain/index.ts";
import type { Channel } from "../gateway/index.ts";

/** Keryx's own channels, then the program's. */
export function channelsOf(
	values: Pick<Config, "webhooks">,
	given: readonly Channel[],
	now: () => number,
): readonly Channel[] {
	const own = [...ownPlatforms(values), SCHEDULE_PLATFORM] as const;
	return [...own.map((platform) => createLocalChannel(platform, now)), ...given];
}
