// The half of a login that is not a cookie. Cookies ignore ports: any server on this machine gets ours. This value stays with the origin
// of the login link, and is sent with every request as a header.
import { readLocal, writeLocal } from "../lib/storage.ts";

const NAME = "login";
/** Fallback for a browser without storage: lasts until the tab is closed. */
let kept = "";

takeKey();

export function pageKey(): string {
	return readLocal(NAME) ?? kept;
}

export function pageHeaders(): Readonly<Record<string, string>> {
	const key = pageKey();
	return key === "" ? {} : { "x-keryx-page": key };
}

/** Subprotocols are the only header that a page can set on a WebSocket. The server answers with the first. */
export function pageProtocols(): string[] {
	const key = pageKey();
	return key === "" ? ["keryx"] : ["keryx", `page.${key}`];
}

/** Takes the key from a login link's fragment, which no server sees, and removes it from the address. */
function takeKey(): void {
	const [, key] = /^#login=([\w-]{43})$/.exec(location.hash) ?? [];
	if (key === undefined) return;
	kept = key;
	writeLocal(NAME, key);
	history.replaceState(history.state, "", location.pathname + location.search);
}
