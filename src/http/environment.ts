// Context of a request in the app.
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Entrance, Visitor } from "./entry/auth.ts";

export interface AppEnvironment {
	Bindings: {
		readonly entrance: Entrance;
		/** The server's response object; absent within the process. */
		readonly outgoing?: { destroy(): void };
	};
	Variables: {
		/** Null for a stranger. */
		visitor: Visitor | null;
		/** Names of secrets are already hidden in the answer. */
		isNameless?: boolean;
	};
}

/** The address under which the caller reached this server, if known. */
export function originOf({ env, req }: Context<AppEnvironment>): string {
	const { entrance } = env;
	return (entrance.kind === "port" && entrance.publicOrigin) || new URL(req.url).origin;
}

export type App = OpenAPIHono<AppEnvironment>;
