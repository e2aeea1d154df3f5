// The calls of the client-server API, one function each.
import { Refusal } from "./errors.ts";
import type { Keys } from "./keys.ts";
import { type MatrixRoom, type Session, shown, type World } from "./world.ts";

export type Json = Readonly<Record<string, unknown>>;

export interface Asked {
	readonly session: Session;
	readonly body: Json;
	readonly query: URLSearchParams;
	readonly world: World;
	readonly keys: Keys;
	/** Events by transaction. */
	readonly transactions: Map<string, string>;
}

type Route = (asked: Asked, ...params: readonly string[]) => Json | readonly Json[];

export const ROUTES: readonly (readonly [string, RegExp, Route])[] = [
	[
		"GET",
		/^account\/whoami$/,
		({ session: { user, device } }) => ({ user_id: user.id, device_id: device, is_guest: false }),
	],
	[
		"POST",
		/^logout$/,
		({ session, world }) => {
			world.sessions.delete(session.token);
			return {};
		},
	],
	["POST", /^createRoom$/, createRoom],
	["PUT", /^rooms\/([^/]+)\/send\/([^/]+)\/([^/]+)$/, send],
	[
		"PUT",
		/^rooms\/([^/]+)\/redact\/([^/]+)\/([^/]+)$/,
		(asked, id = "", event = "", transaction = "") =>
			once(asked, transaction, (by) =>
				asked.world.add(joined(asked, id), asked.session.user.id, {
					type: "m.room.redaction",
					content: { ...asked.body, redacts: event },
					redacts: event,
					by,
				}),
			),
	],
	[
		"PUT",
		/^rooms\/([^/]+)\/state\/([^/]+)\/?([^/]*)$/,
		(asked, id = "", type = "", stateKey = "") => ({
			event_id: asked.world.add(joined(asked, id), asked.session.user.id, {
				type,
				stateKey,
				content: asked.body,
			}).id,
		}),
	],
	[
		"GET",
		/^rooms\/([^/]+)\/state$/,
		(asked, id = "") =>
			[...joined(asked, id).state.values()].map((event) => shown(event, asked.session.token)),
	],
	[
		"GET",
		/^rooms\/([^/]+)\/event\/([^/]+)$/,
		(asked, id = "", event = "") => {
			const found = joined(asked, id).events.find((one) => one.id === event);
			if (!found) throw new Refusal(404, "M_NOT_FOUND", "Event not found.");
			return shown(found, asked.session.token);
		},
	],
	["GET", /^rooms\/([^/]+)\/messages$/, messages],
	[
		"POST",
		/^rooms\/([^/]+)\/invite$/,
		(asked, id = "") => {
			asked.world.member(joined(asked, id), asked.session.user.id, String(asked.body.user_id), "invite");
			return {};
		},
	],
	["POST", /^(?:rooms\/([^/]+)\/join|join\/([^/]+))$/, join],
	[
		"POST",
		/^rooms\/([^/]+)\/leave$/,
		(asked, id = "") => {
			asked.world.member(joined(asked, id), asked.session.user.id, asked.session.user.id, "leave");
			return {};
		},
	],
	[
		"POST",
		/^rooms\/([^/]+)\/kick$/,
		(asked, id = "") => {
			const { user_id: user, reason } = asked.body;
			asked.world.member(joined(asked, id), asked.session.user.id, String(user), "leave", { reason });
			return {};
		},
	],
	[
		"POST",
		/^rooms\/([^/]+)\/receipt\/([^/]+)\/([^/]+)$/,
		(asked, id = "") => {
			joined(asked, id);
			return {};
		},
	],
	[
		"PUT",
		/^rooms\/([^/]+)\/typing\/([^/]+)$/,
		(asked, id = "") => {
			joined(asked, id);
			return {};
		},
	],
	["POST", /^keys\/upload$/, ({ keys, session, body }) => keys.upload(session, body)],
	["POST", /^keys\/query$/, ({ keys, body }) => keys.query(body)],
	["POST", /^keys\/claim$/, ({ keys, body }) => keys.claim(body)],
	["POST", /^keys\/signatures\/upload$/, ({ keys, body }) => keys.sign(body)],
	["POST", /^keys\/device_signing\/upload$/, ({ keys, session, body }) => keys.identity(session, body)],
	[
		"PUT",
		/^sendToDevice\/([^/]+)\/([^/]+)$/,
		(asked, type = "", transaction = "") => {
			const { keys, session, body, transactions } = asked;
			const name = `${session.token} to-device ${transaction}`;
			if (!transactions.has(name)) keys.send(session, type, body);
			transactions.set(name, "");
			return {};
		},
	],
];

const LARGEST_EVENT = 65_536;

function send(asked: Asked, id = "", type = "", transaction = ""): Json {
	const { session, world, body } = asked;
	const room = joined(asked, id);
	if (Buffer.byteLength(JSON.stringify(body)) > LARGEST_EVENT - 1000)
		throw new Refusal(413, "M_TOO_LARGE", "event too large");
	return once(asked, transaction, (by) => world.add(room, session.user.id, { type, content: body, by }));
}

/** A repeated request answers with the event of the first. */
function once(
	{ session, transactions }: Asked,
	transaction: string,
	add: (by: { readonly token: string; readonly transaction: string }) => { readonly id: string },
): Json {
	const name = `${session.token} ${transaction}`;
	const event = transactions.get(name) ?? add({ token: session.token, transaction }).id;
	transactions.set(name, event);
	return { event_id: event };
}

function createRoom({ session, world, body }: Asked): Json {
	const room = world.room();
	const own = session.user.id;
	world.add(room, own, { type: "m.room.create", stateKey: "", content: { room_version: "10" } });
	world.member(room, own, own, "join");
	if (typeof body.name === "string")
		world.add(room, own, { type: "m.room.name", stateKey: "", content: { name: body.name } });
	if (typeof body.topic === "string")
		world.add(room, own, { type: "m.room.topic", stateKey: "", content: { topic: body.topic } });
	for (const event of (body.initial_state ?? []) as readonly {
		type: string;
		state_key?: string;
		content: Json;
	}[])
		world.add(room, own, { type: event.type, stateKey: event.state_key ?? "", content: event.content });
	for (const user of (body.invite ?? []) as readonly string[])
		world.member(room, own, user, "invite", body.is_direct === true ? { is_direct: true } : {});
	return { room_id: room.id };
}

function join(asked: Asked, first = "", second = ""): Json {
	const { session, world } = asked;
	const room = world.rooms.get(first || second);
	if (!room) throw new Refusal(404, "M_NOT_FOUND", "No such room");
	const membership = room.membership(session.user.id);
	if (membership !== "invite" && membership !== "join")
		throw new Refusal(403, "M_FORBIDDEN", "You are not invited to this room.");
	if (membership === "invite") world.member(room, session.user.id, session.user.id, "join");
	return { room_id: room.id };
}

function messages(asked: Asked, id = ""): Json {
	const { query, world, session } = asked;
	const room = joined(asked, id);
	const from = Number((query.get("from") ?? `s${world.at}`).slice(1));
	const to = Number((query.get("to") ?? "s0").slice(1));
	const limit = Number(query.get("limit") ?? 10);
	const found = room.events
		.filter(({ at }) => at <= from && at > to)
		.toReversed()
		.slice(0, limit);
	const last = found.at(-1);
	const isMore = last !== undefined && room.events.some(({ at }) => at < last.at && at > to);
	return {
		chunk: found.map((event) => shown(event, session.token)),
		start: `s${from}`,
		...(isMore && { end: `s${last.at - 1}` }),
	};
}

function joined({ session, world }: Asked, id: string): MatrixRoom {
	const room = world.rooms.get(id);
	if (room?.membership(session.user.id) !== "join")
		throw new Refusal(403, "M_FORBIDDEN", `User ${session.user.id} not in room ${id}`);
	return room;
}
