// Whether a link's text looks like a different address from its target. If so, the target is written after the text, because most clients
// show only the text.

/** A name of a host, or what looks like one; full-width and ideographic dots are read as dots. */
const ADDRESS = /:\/\/|@|[\p{L}\p{N}-][.。][\p{L}\p{N}-]*\p{L}{2}/u;

export function passesForAnother(label: string, url: string): boolean {
	// Characters that change the text direction show an address backwards.
	if (/\p{Bidi_Control}/u.test(label)) return true;
	if (!ADDRESS.test(label.normalize("NFKC"))) return false;
	return !saysWhere(label, url);
}

/** An address shows its own target only if it starts with the host: anything before the host could pass for another one. */
function saysWhere(label: string, url: string): boolean {
	if (/[^\x21-\x7e]/.test(label) || !URL.canParse(url)) return false;
	const { host, pathname } = new URL(url);
	const target = host === "" ? pathname : host;
	const rest = label.replace(/^https?:\/\//i, "").toLowerCase();
	return rest.startsWith(target) && /^(?:$|[/?#])/.test(rest.slice(target.length));
}
