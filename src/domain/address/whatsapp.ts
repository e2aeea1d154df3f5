// WhatsApp ids. One person is written in several ways (phone, phone with device, LID); each kind is folded into one
// form. Phone and LID stay two kinds, so that equal digits are not taken for one person.

const NOT_PEOPLE: ReadonlySet<string> = new Set(["g.us", "newsletter", "broadcast"]);
const LID_SERVERS: ReadonlySet<string> = new Set(["lid", "hosted.lid"]);
const LID = "@lid";

/** One way to write a person's id. */
export interface Spelling {
	/** The ids, as stored in addresses, that it represents; the first is used. */
	readonly forms: readonly [string, ...string[]];
	readonly bare: string;
}

/** The form in an address: the bare id for a phone, `<bare>@lid` for a LID. Applying it again changes nothing. */
export function whatsappId(id: string): string {
	const { text, bare, server } = read(id);
	if (!isStable(bare)) return text;
	return LID_SERVERS.has(server) ? bare + LID : bare;
}

/** The form in a readable key: no device, no server. */
export function whatsappBare(id: string): string {
	return read(id).bare;
}

/** A bare alias represents both the phone number and the LID with these digits. */
export function whatsappSpelling(id: string): Spelling {
	const { text, bare, server } = read(id);
	const form = whatsappId(id);
	const isBare = server === "" && !text.startsWith("+");
	return { forms: isBare && form === bare ? [bare, bare + LID] : [form], bare };
}

function read(id: string): { text: string; bare: string; server: string } {
	const text = id.trim();
	const at = text.indexOf("@");
	const server = at < 0 ? "" : until(text.slice(at + 1), ":").toLowerCase();
	if (NOT_PEOPLE.has(server)) return { text, bare: text, server };
	const bare = until(until(text.startsWith("+") ? text.slice(1) : text, ":"), "@");
	// Nothing left: not a WhatsApp id, so it represents itself.
	return bare === "" ? { text: id, bare: id, server: "" } : { text, bare, server };
}

/** Whether parsing the bare id again leaves it unchanged. One that would shrink further keeps its whole text. */
function isStable(bare: string): boolean {
	return !bare.startsWith("+") && bare.trim() === bare;
}

function until(text: string, mark: string): string {
	const index = text.indexOf(mark);
	return index < 0 ? text : text.slice(0, index);
}
