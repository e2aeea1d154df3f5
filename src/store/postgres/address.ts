// The address of a PostgreSQL server, as given and as it may be shown. Nothing here connects.
import { KeryxError } from "../../errors.ts";

export interface ServerSettings {
	/** postgres://user:password@host:port/database, with libpq's parameters and `schema`. */
	readonly url: string;
	/** The schema of the store's tables. */
	readonly schema: string;
}

/** `schema` is Keryx's; the rest is for the driver. */
export function serverSettings(url: string): ServerSettings {
	let parsed: URL;
	try {
		parsed = new URL(url);
	} catch {
		// Without the cause, which contains the whole URL and its password.
		throw new KeryxError("store.url", "store.url is not a URL", { field: "store.url" });
	}
	const schema = parsed.searchParams.get("schema") ?? "keryx";
	if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
		throw new KeryxError("store.url", "schema can have at most 63 of a-z, 0-9 and _", { field: "store.url" });
	parsed.searchParams.delete("schema");
	return { url: parsed.href, schema };
}

/** Where it is, without the password. */
export function shownUrl(url: string): string {
	try {
		const parsed = new URL(url);
		if (parsed.password !== "") parsed.password = "***";
		for (const name of [...parsed.searchParams.keys()])
			if (/pass/i.test(name)) parsed.searchParams.set(name, "***");
		return parsed.href;
	} catch {
		return "the URL in store.url";
	}
}
