// A server that slows down who sends too much: Keryx keeps below that. 8 lines in `npm test`, 500 in `npm run test:crash`.
import { expect, test } from "vitest";
import { Pace } from "../../src/channels/pace.ts";
import { systemClock } from "../../src/time/index.ts";
import { IrcPerson } from "../support/irc-person.ts";
import { startNgircd } from "../support/ngircd.ts";
import { until } from "../support/until.ts";
import { connected, ircChannelOn, outgoing } from "./irc-scene.ts";

const LINES = process.env.KERYX_STORM_MESSAGES === undefined ? 8 : 500;
/** ngircd reads three commands a second. */
const FLOOD = { burst: 3, everyMs: 400 };
/** A PING follows each line: its answer says that the server has read the line. */
const PER_LINE = 2;

test(
	`${LINES} lines arrive whole and in order, and the server answers each at once`,
	async () => {
		const server = await startNgircd({ isFast: false });
		const ada = await IrcPerson.connect({ port: server.port, nick: "ada" });
		await ada.join("#room");
		const channel = ircChannelOn(server.port, { join: ["#room"], flood: FLOOD });
		await connected(channel);
		await ada.until(() => ada.heard.some(({ command, nick }) => command === "JOIN" && nick === "keryx"));
		const wanted = Array.from({ length: LINES }, (_, n) => `line ${n}`);
		const went: number[] = [];
		for (const text of wanted) {
			// As the outbox asks: what has no room stays in the store.
			for (let room = channel.room?.(); room && room.free < 1; room = channel.room?.())
				await new Promise<void>((resolve) => systemClock.after(room?.afterMs ?? 1, resolve));
			went.push(systemClock.monotonic());
			expect((await channel.send(outgoing("#room", text))).kind).toBe("sent");
		}
		await until(() => ada.lines("keryx", "#room").length === LINES);
		expect(ada.lines("keryx", "#room")).toEqual(wanted);
		// The server had no reason to keep a line waiting: never were more commands sent than it reads meanwhile.
		for (const [last, at] of went.entries())
			for (const [first, since] of went.slice(0, last).entries())
				expect((last - first) * PER_LINE).toBeLessThanOrEqual(FLOOD.burst + (at - since) / FLOOD.everyMs);
		await channel.stop();
		ada.leave();
		await server.remove();
	},
	120_000 + LINES * 2000,
);

test("a bucket is emptied at once, and fills one by one; what may not wait makes the others wait longer", () => {
	let now = 0;
	const pace = new Pace({ monotonic: () => now }, { burst: 4, everyMs: 100 });
	expect(pace.room(2)).toEqual({ free: 4, afterMs: 0 });
	pace.count(4);
	expect(pace.room(2)).toEqual({ free: 0, afterMs: 200 });
	now = 150;
	expect(pace.room(2)).toEqual({ free: 1, afterMs: 50 });
	pace.count(3);
	expect(pace.room(1)).toEqual({ free: 0, afterMs: 250 });
	now = 10_000;
	expect(pace.room(9)).toEqual({ free: 4, afterMs: 0 });
});
