// The half of a login that is not a cookie. Cookies ignore ports: any server on this machine gets ours. This value stays with the origin
// of the login link, and is sent with every request as a header.
import { readLocal, writeLocal } from "../lib/storage.ts";

const NAME = "login";
/** For a browser without storage: until the tab is closed. */
let kept = "";

takeKey();

export function pageKey(): string {
	return readLocal(NAME) ?? kept;
}

export function pageHeaders(): Readonly<Record<string, string>> {
	const key = pageKey();
	return key === "" ? {} : { "x-keryx-page": key };
}

/** A page can set no other header of a WebSocket. The server answers with the first. */
export function pageProtocols(): string[] {
	const key = pageKey();
	return key === "" ? ["keryx"] : ["keryx", `page.${key}`];
}

/** A login link has it in the fragment, which no server sees and which is removed. */
function takeKey(): void {
	const [, key] = /^#login=([\w-]{43})$/.exec(location.hash) ?? [];
	if (key === undefined) return;
	kept = key;
	writeLocal(NAME, key);
	history.replaceState(history.state, "", location.pathname + location.search);
}
