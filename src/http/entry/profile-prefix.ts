// /p/<profile>/ before a path that accepts messages: they go to that profile. Otherwise the path is unchanged.
import type { Context } from "hono";
import { getPath } from "hono/utils/url";
import { KeryxError } from "../../errors.ts";
import type { ApiHost } from "../call.ts";

const PREFIXED = /^\/p\/([a-z0-9][a-z0-9_-]{0,63})(\/v1\/.+|\/api\/inbound)$/;

/** The routed path, which all guards check. */
export function routedPath(request: Request): string {
	const path = getPath(request);
	return PREFIXED.exec(path)?.[2] ?? path;
}

/** The profile before the path; null: none. */
export function prefixedProfile(c: Context, { profiles = [] }: ApiHost): string | null {
	const name = PREFIXED.exec(getPath(c.req.raw))?.[1];
	if (name === undefined) return null;
	if (!profiles.includes(name))
		throw new KeryxError("http.no_route", `there is no profile ${name}`, {
			hint: "GET /v1/models lists them",
		});
	return name;
}
