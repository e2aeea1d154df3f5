// The viewer: an owner, who may do everything, or a member or guest with their own login.
import { useApi } from "./query.ts";

export function useMe(): { readonly isPerson: boolean; readonly isGuest: boolean } {
	const role = useApi("me", {}).data?.role;
	return { isPerson: role === "member" || role === "guest", isGuest: role === "guest" };
}
