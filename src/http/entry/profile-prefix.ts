// /p/<profile>/ before a path that takes messages in: they go to that profile. Everything else about the path stays what it is.
import type { Context } from "hono";
import { getPath } from "hono/utils/url";
import { KeryxError } from "../../errors.ts";
import type { ApiHost } from "../call.ts";

const PREFIXED = /^\/p\/([a-z0-9][a-z0-9_-]{0,63})(\/v1\/.+|\/api\/inbound)$/;

/** What a request is routed by, and looked at by every guard. */
export function routedPath(request: Request): string {
	const path = getPath(request);
	return PREFIXED.exec(path)?.[2] ?? path;
}

/** The profile that stands before the path; null: none does. */
export function prefixedProfile(c: Context, { profiles = [] }: ApiHost): string | null {
	const name = PREFIXED.exec(getPath(c.req.raw))?.[1];
	if (name === undefined) return null;
	if (!profiles.includes(name))
		throw new KeryxError("http.no_route", `there is no profile ${name}`, {
			hint: "GET /v1/models names them",
		});
	return name;
}
