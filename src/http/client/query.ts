// The part of an address behind the question mark.

/** With the question mark; "" if nothing is given. */
export function queryOf(values: Readonly<Record<string, unknown>>): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
	return query.size === 0 ? "" : `?${query.toString()}`;
}
