// A session's readable id. It becomes a file name in exports and archives (I10), so its form is fixed and plain.
import { KeryxError } from "../errors.ts";
import type { SessionId } from "./types.ts";

const FORM = /^\d{8}_\d{6}_[0-9a-f]{8}$/;

/** `YYYYMMDD_HHMMSS_<8 hex>`, in UTC. Two of one second can meet: the store draws again then. */
export function newSessionId(now: number, random: (bytes: number) => Uint8Array): SessionId {
	if (!(now >= 0 && now < Date.UTC(10_000, 0, 1))) {
		throw new KeryxError("argument.invalid", `now must be a time from 1970 to 9999 in ms, not ${now}`, {
			field: "now",
		});
	}
	const [date = "", time = ""] = new Date(now).toISOString().split("T");
	const hex = Array.from(random(4), (byte) => byte.toString(16).padStart(2, "0")).join("");
	return `${date.replaceAll("-", "")}_${time.slice(0, 8).replaceAll(":", "")}_${hex}` as SessionId;
}

export function isSessionId(value: unknown): value is SessionId {
	return typeof value === "string" && FORM.test(value);
}
