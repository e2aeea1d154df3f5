// What a caller sees, and what they are in a chat. Clients load the files that use this, so it stays light.
import { OPERATOR, type PersonRole, type Scope } from "../../store/index.ts";
import type { Visitor } from "./auth.ts";

/** A member and a guest see their own conversations, everybody else who is let through sees everything. */
export function scopeOf({ role, principal }: Pick<Visitor, "role" | "principal">): Scope {
	if (role !== "member" && role !== "guest") return OPERATOR;
	return { kind: "principal", principal: principal ?? "", profile: null };
}

/** What somebody is in a chat, for what they do there over the API. */
export function standingOf({ role }: Pick<Visitor, "role">): PersonRole {
	return role === "member" || role === "guest" ? role : "owner";
}
