// Whether the server still knows this browser. If not, nothing is requested until the person logs in again.
import { createValue } from "../lib/value.ts";

const known = createValue(true);

export const useLoggedIn = known.use;
export const isLoggedIn = known.get;

export function loggedOut(): void {
	known.set(false);
}
