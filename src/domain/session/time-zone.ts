// The runtime's zone data: whether a name is a zone, and its offset at an instant. Formatters are memoised, because creating one is
// expensive.

const MAX_ZONES = 64;
const formatters = new Map<string, Intl.DateTimeFormat>();

/** True for an IANA name the runtime knows. A bare offset ("+05:30") is not one: it has no DST rules. */
export function isTimeZone(name: string): boolean {
	if (!/^[A-Za-z]/.test(name)) return false;
	try {
		formatterOf(name);
		return true;
	} catch {
		return false;
	}
}

/** Local time minus UTC at that instant, in ms; whole seconds, since old zones had offsets such as -00:44:30. */
export function offsetAt(instant: number, timezone: string): number {
	const written = formatterOf(timezone).format(instant);
	const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(written);
	if (!match) throw new RangeError(`the runtime writes the offset of ${timezone} as ${written}`);
	const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
	const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
	return sign === "-" ? -size : size;
}

function formatterOf(timezone: string): Intl.DateTimeFormat {
	const known = formatters.get(timezone);
	if (known) return known;
	const made = new Intl.DateTimeFormat("en-US", { timeZone: timezone, timeZoneName: "longOffset" });
	if (formatters.size >= MAX_ZONES) formatters.clear();
	formatters.set(timezone, made);
	return made;
}
