// One sync: what happened after a place, for one device.
import type { Keys } from "./keys.ts";
import { type MatrixRoom, type RoomEvent, type Session, shown, type World } from "./world.ts";

interface Filter {
	readonly room?: {
		readonly timeline?: { readonly limit?: number; readonly not_types?: readonly string[] };
		readonly state?: { readonly not_types?: readonly string[] };
	};
}

export interface Synced {
	readonly answer: Record<string, unknown>;
	/** There is something in it. */
	readonly isNews: boolean;
}

export function syncFor(
	session: Session,
	since: number | null,
	filter: Filter,
	world: World,
	keys: Keys,
): Synced {
	const { user, device, token } = session;
	const limit = filter.room?.timeline?.limit ?? 10;
	const hasTimeline = !filter.room?.timeline?.not_types?.includes("*");
	const hasState = !filter.room?.state?.not_types?.includes("*");
	const from = since ?? 0;
	const join: Record<string, unknown> = {};
	const invite: Record<string, unknown> = {};
	const leave: Record<string, unknown> = {};
	const companions = new Set<string>();
	for (const room of world.rooms.values()) {
		const membership = room.membership(user.id);
		const changedAt = room.memberSince(user.id);
		if (membership === "join") {
			for (const other of room.people("join")) companions.add(other);
			const isNew = joinedAt(room, user.id) > from;
			const events = room.events.filter(({ at }) => isNew || at > from);
			if (events.length === 0 && since !== null) continue;
			const kept = hasTimeline ? events.slice(-limit) : [];
			const first = kept[0];
			const state =
				hasState && (isNew || since === null)
					? [...room.state.values()].filter(({ at }) => !first || at < first.at)
					: [];
			join[room.id] = {
				state: { events: state.map((event) => shown(event, token)) },
				timeline: {
					events: kept.map((event) => shown(event, token)),
					limited: kept.length < events.length,
					prev_batch: `s${(first?.at ?? world.at + 1) - 1}`,
				},
			};
		} else if (membership === "invite" && changedAt > from) {
			invite[room.id] = { invite_state: { events: strippedState(room, user.id) } };
		} else if (since !== null && (membership === "leave" || membership === "ban") && changedAt > from) {
			const events = room.events.filter(({ at }) => at > from && at <= changedAt).slice(-limit);
			leave[room.id] = { timeline: { events: events.map((event) => shown(event, token)) } };
		}
	}
	const toDevice = keys.inbox(user.id, device, from);
	const changed = since === null ? [] : keys.changedSince([...companions], from);
	const isNews =
		[join, invite, leave].some((rooms) => Object.keys(rooms).length > 0) ||
		toDevice.length + changed.length > 0;
	return {
		isNews: isNews || since === null,
		answer: {
			next_batch: `s${world.at}`,
			rooms: { join, invite, leave },
			to_device: { events: toDevice },
			device_lists: { changed, left: [] },
			device_one_time_keys_count: keys.counts(user.id, device),
			device_unused_fallback_key_types: keys.unusedFallback(user.id, device),
		},
	};
}

/** When they last came in; later changes of their own state do not count. */
function joinedAt(room: MatrixRoom, user: string): number {
	const own = room.events.filter(({ type, stateKey }) => type === "m.room.member" && stateKey === user);
	return (
		own.findLast(({ content, before }) => content.membership === "join" && before?.membership !== "join")
			?.at ?? 0
	);
}

function strippedState(room: MatrixRoom, user: string): object[] {
	const wanted = [
		"m.room.create",
		"m.room.name",
		"m.room.encryption",
		"m.room.join_rules",
		"m.room.canonical_alias",
	];
	const events: RoomEvent[] = [...room.state.values()].filter(
		({ type, stateKey }) => wanted.includes(type) || (type === "m.room.member" && stateKey === user),
	);
	return events.map(({ type, sender, content, stateKey }) => ({
		type,
		sender,
		content,
		state_key: stateKey,
	}));
}
