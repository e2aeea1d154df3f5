// Keeps Keryx in its rooms: joins them, rejoins after a refusal or when a room was gone, and checks that it is still in.
import type { Room, RoomEvent, Rooms } from "./rooms.ts";
import { NS } from "./stream/namespaces.ts";
import { type Session, StanzaError } from "./stream/session.ts";
import { element } from "./stream/xml.ts";

/** How often to retry a room that refused us, to retry one that went away, and to check that we are still in one. */
const REJOIN_MS = 10 * 60_000;
const BACK_MS = 5000;
const STILL_IN_MS = 5 * 60_000;

export interface AttendanceOptions {
	/** Of the current session. */
	readonly rooms: () => Rooms;
	readonly rejoinMs: number | undefined;
	readonly joined: (room: Room, session: Session) => void;
	/** Thrown out, or not let in. */
	readonly removed: (room: Room, reason: string) => void;
}

export class Attendance {
	readonly #options: AttendanceOptions;

	constructor(options: AttendanceOptions) {
		this.#options = options;
	}

	join(room: Room, session: Session): void {
		session.write(this.#options.rooms().joining(room));
	}

	/** A room can lose us without a word (XEP-0410). */
	stay(session: Session): void {
		session.after(STILL_IN_MS, () => {
			for (const room of this.#options.rooms().all())
				if (room.state.kind === "in")
					void session
						.request("get", `${room.jid}/${room.nick}`, element("ping", NS.ping))
						.catch((error: unknown) => {
							if (error instanceof StanzaError && error.condition === "not-acceptable")
								this.join(room, session);
						});
			this.stay(session);
		});
	}

	heard(event: RoomEvent, session: Session): void {
		if (!event) return;
		const { joined, removed, rejoinMs = REJOIN_MS } = this.#options;
		const { room } = event;
		switch (event.kind) {
			case "joined":
				joined(room, session);
				return;
			case "again":
				this.join(room, session);
				return;
			case "left":
				this.#joinLater(room, session, BACK_MS);
				return;
			case "thrown_out":
				removed(room, event.reason);
				this.#joinLater(room, session, rejoinMs);
		}
	}

	#joinLater(room: Room, session: Session, ms: number): void {
		session.after(ms, () => {
			if (room.state.kind !== "in" && this.#options.rooms().get(room.jid) === room) this.join(room, session);
		});
	}
}
