// The half of a login that is no cookie. Cookies know no ports: any server on this machine is sent ours. This value stays with the
// origin that the login link was opened at, and goes along with every request as a header.
import { readLocal, writeLocal } from "../lib/storage.ts";

const NAME = "login";
/** For a browser that keeps nothing: until the tab is closed. */
let kept = "";

takeKey();

export function pageKey(): string {
	return readLocal(NAME) ?? kept;
}

export function pageHeaders(): Readonly<Record<string, string>> {
	const key = pageKey();
	return key === "" ? {} : { "x-keryx-page": key };
}

/** A WebSocket has no other header that a page may set. The first is the one that the server answers with. */
export function pageProtocols(): string[] {
	const key = pageKey();
	return key === "" ? ["keryx"] : ["keryx", `page.${key}`];
}

/** Behind a login link it stands in the address, which no server sees and nobody needs to read again. */
function takeKey(): void {
	const [, key] = /^#login=([\w-]{43})$/.exec(location.hash) ?? [];
	if (key === undefined) return;
	kept = key;
	writeLocal(NAME, key);
	history.replaceState(history.state, "", location.pathname + location.search);
}
