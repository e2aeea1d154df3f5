// A session's readable id. It becomes a file name in exports and archives (I10), so its form is fixed and plain.
import { KeryxError } from "../../errors.ts";
import { sessionId } from "../ids.ts";
import type { SessionId } from "../types.ts";

const FORM = /^\d{8}_\d{6}_[0-9a-f]{8}$/;

/** `YYYYMMDD_HHMMSS_<8 hex>`, in UTC. Two of one second can meet: the store then takes the one that follows. */
export function newSessionId(now: number, random: (bytes: number) => Uint8Array): SessionId {
	if (!(now >= 0 && now < Date.UTC(10_000, 0, 1))) {
		throw new KeryxError("argument.invalid", `now must be a time from 1970 to 9999 in ms, not ${now}`, {
			field: "now",
		});
	}
	let hex = "";
	for (const byte of random(4)) hex += HEX[byte];
	return sessionId(`${secondOf(now)}_${hex}`);
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Drawn with every turn, and hardly ever used: so the last second is remembered. */
function secondOf(now: number): string {
	const second = Math.floor(now / 1000);
	if (second !== lastSecond) {
		lastSecond = second;
		lastText = new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "_");
	}
	return lastText;
}
let lastSecond = -1;
let lastText = "";

/** The one that follows in the same second. */
export function sessionIdAfter(id: SessionId): SessionId {
	const next = (Number.parseInt(id.slice(-DIGITS), 16) + 1) % 16 ** DIGITS;
	return sessionId(id.slice(0, -DIGITS) + next.toString(16).padStart(DIGITS, "0"));
}
const DIGITS = 8;

export function isSessionId(value: unknown): value is SessionId {
	return typeof value === "string" && FORM.test(value);
}
