// What a caller sees, and their role in a chat. Clients load files that use this, so it stays light.
import { OPERATOR, type PersonRole, type Scope } from "../../store/index.ts";
import type { Visitor } from "./auth.ts";

/** Members and guests see their own conversations, all other admitted callers see everything. */
export function scopeOf({ role, principal }: Pick<Visitor, "role" | "principal">): Scope {
	if (role !== "member" && role !== "guest") return OPERATOR;
	return { kind: "principal", principal: principal ?? "", profile: null };
}

/** A caller's role in a chat, for API calls there. */
export function standingOf({ role }: Pick<Visitor, "role">): PersonRole {
	return role === "member" || role === "guest" ? role : "owner";
}
