// Addresses on XMPP: `local@domain/resource`. A person and a room are known without the resource; in a room it is a nick.

export interface Jid {
	/** Without the resource, in lower case. */
	readonly bare: string;
	readonly local: string;
	readonly domain: string;
	readonly resource: string;
	readonly full: string;
}

/** Null: not an address. */
export function parseJid(text: string | undefined): Jid | null {
	const [, rawLocal = "", rawDomain, resource = ""] =
		/^(?:([^@/]+)@)?([^@/]+)(?:\/(.+))?$/s.exec(text ?? "") ?? [];
	if (rawDomain === undefined || !FITS.test(rawLocal) || !DOMAIN.test(rawDomain)) return null;
	const [local, domain] = [folded(rawLocal), folded(rawDomain).replace(/\.$/, "")];
	const bare = local === "" ? domain : `${local}@${domain}`;
	if ([local, domain, resource].some((part) => Buffer.byteLength(part) > 1023)) return null;
	return { bare, local, domain, resource, full: resource === "" ? bare : `${bare}/${resource}` };
}

/** As the same person or room may be written in several ways. */
function folded(text: string): string {
	return text.normalize("NFKC").toLowerCase();
}

/** The same domain, or one below it. */
export function isWithin(domain: string, parent: string): boolean {
	return domain === parent || domain.endsWith(`.${parent}`);
}

const FITS = /^[^\s"&'/:<>@\p{Cc}]*$/u;
const DOMAIN = /^[^\s"&'/<>@\p{Cc}]+$/u;
