// Who looks at the page: an owner, who may do everything, or a member or guest with a login of their own.
import { useApi } from "./query.ts";

export function useMe(): { readonly isPerson: boolean; readonly isGuest: boolean } {
	const role = useApi("me", {}).data?.role;
	return { isPerson: role === "member" || role === "guest", isGuest: role === "guest" };
}
