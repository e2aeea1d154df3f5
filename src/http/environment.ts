// What travels with a request through the app.
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Entrance, Visitor } from "./entry/auth.ts";

export interface AppEnvironment {
	Bindings: { readonly entrance: Entrance };
	/** Null for a stranger. */
	Variables: { visitor: Visitor | null };
}

export type App = OpenAPIHono<AppEnvironment>;
