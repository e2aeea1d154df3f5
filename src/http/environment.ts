// What travels with a request through the app.
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Scope } from "../store/index.ts";
import type { Entrance, Visitor } from "./entry/auth.ts";

export interface AppEnvironment {
	Bindings: { readonly entrance: Entrance };
	/** Null for a stranger. */
	Variables: { visitor: Visitor | null };
}

export type App = OpenAPIHono<AppEnvironment>;

/** Whoever may read at all reads everything. */
export const OPERATOR: Scope = { kind: "operator" };
