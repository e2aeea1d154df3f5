// A channel's state: an event for each change, and one notice when it goes down and one when it is back, across observers and restarts.
import { type Context, get, type Op, run, sql } from "../query.ts";
import type { NewDelivery } from "../types.ts";
import { addDeliveries } from "./deliveries/deliveries.ts";
import { noticeLane } from "./deliveries/destination.ts";
import { emit } from "./events.ts";

const known = sql<{ value: string }>("SELECT value FROM settings WHERE name = ?");
const remember = sql(
	"INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);

export type ChannelState = "connected" | "degraded" | "down" | "needs_attention";

interface Known {
	readonly state: ChannelState;
	/** Reported as down, but not yet as back. */
	readonly told: boolean;
}

export interface NoteChannelArgs {
	readonly name: string;
	readonly platform: string;
	readonly account: string;
	readonly state: ChannelState;
	readonly provenBy?: string;
	/** Sent only if it is news. */
	readonly ifDown: readonly NewDelivery[];
	readonly ifBack: readonly NewDelivery[];
}

/** Writes nothing if the state is unchanged. */
export function* noteChannel(context: Context, args: NoteChannelArgs): Op<void> {
	const { name, platform, account, state, provenBy } = args;
	const row = yield* get(known, settingOf(name));
	const before: Known = row ? (JSON.parse(row.value) as Known) : { state: "connected", told: false };
	if (before.state === state) return;
	const isDown = state === "down" || state === "needs_attention";
	const isReported = isDown || (before.told && state !== "connected");
	yield* run(remember, settingOf(name), JSON.stringify({ state, told: isReported } satisfies Known));
	yield* emit(
		context,
		"channel.changed",
		{ subject: name },
		{
			platform,
			account,
			state,
			before: before.state,
			...(provenBy !== undefined && { proven_by: provenBy }),
		},
	);
	const news = isReported === before.told ? [] : isReported ? args.ifDown : args.ifBack;
	for (const delivery of news)
		yield* addDeliveries(context, noticeLane(delivery.destination), null, [delivery]);
}

function settingOf(name: string): string {
	return `channel:${name}`;
}
