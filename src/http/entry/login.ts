// Logging in to the page: links for the operator and for people with a role, the list of logins, and logging out.
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import type { Token } from "../../store/index.ts";
import { type Call, type HandlersOf, operator } from "../call.ts";
import { endpoint } from "../endpoint.ts";
import { time } from "../schemas.ts";
import { OPERATORS_LOGIN } from "./auth.ts";

/** Logins that are listed. */
const MOST = 500;

const person = z
	.string()
	.regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, "must be 1 to 40 of small letters, digits, _ and -");
const role = z.enum(["owner", "member", "guest"]);
const link = z.object({
	path: z.string(),
	url: z
		.string()
		.nullable()
		.openapi({ description: "the whole link; null if this Keryx listens on no port" }),
});

const login = z
	.object({
		id: z.string(),
		person: z.string().nullable().openapi({ description: "null: whoever opened a link of the operator" }),
		role,
		state: z.enum(["valid", "expired", "revoked"]),
		created_at: time,
		expires_at: time.nullable(),
	})
	.openapi("Login");

export const loginEndpoints = {
	loginLink: endpoint("post", "/api/login-link", {
		about: "a link that logs one browser in as the operator, once, within ten minutes",
		answer: link,
	}),
	me: endpoint("get", "/api/me", {
		about: "who the caller is here",
		answer: z.object({
			who: z.string(),
			person: z.string().nullable(),
			role: z.enum(["operator", "approver", "agent", "reader", "channel", "member", "guest"]),
		}),
	}),
	logins: endpoint("get", "/api/logins", {
		about: "browsers that were logged in, the newest first",
		answer: z.object({ logins: z.array(login) }),
	}),
	offerLogin: endpoint("post", "/api/logins", {
		about:
			"a link that logs one browser in as this person, once, within ten minutes; the role holds for all logins they have",
		body: { person, role },
		answer: link.extend({ person: z.string(), role }),
	}),
	revokeLogins: endpoint("post", "/api/logins/revoke", {
		about: "end one login, or all of a person's and every link made for them; open streams end at once",
		body: { id: z.string().min(1).max(80).optional(), person: person.optional() },
		answer: z.object({ person: z.string().nullable(), ended: z.int() }),
	}),
} as const;

export const loginHandlers: HandlersOf<typeof loginEndpoints> = {
	loginLink: (_input, call) => linkOf(call.access.loginPath(), call),
	me: (_input, { visitor: { who, role, person } }) => ({ who, role, person: person?.name ?? null }),
	logins: async (_input, { host, scope: anybody }) => {
		const scope = operator(anybody);
		const [people, tokens] = await Promise.all([
			host.store.logins({ scope, limit: MOST }),
			host.store.tokens({ scope }),
		]);
		const all = [
			...people.map(({ person: { name, role }, ...one }) => ({ ...one, person: name, role })),
			...tokens.filter(isLogin).map(({ name: id, ...one }) => ({
				...one,
				id,
				person: null,
				role: "owner" as const,
			})),
		];
		return {
			logins: all
				.toSorted((a, b) => b.createdAt - a.createdAt)
				.slice(0, MOST)
				.map(({ id, person, role, createdAt, expiresAt, revokedAt }) => ({
					id,
					person,
					role,
					state: stateOf({ expiresAt, revokedAt }, host.now()),
					created_at: new Date(createdAt).toISOString(),
					expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
				})),
		};
	},
	offerLogin: async ({ person: name, role }, call) => {
		const path = await call.access.offerLogin({ name, role }, call.visitor);
		return { ...linkOf(path, call), person: name, role };
	},
	revokeLogins: async ({ id, person: name }, { access, visitor }) => {
		if ((id === undefined) === (name === undefined))
			throw new KeryxError("argument.invalid", "use id or person", { field: "id" });
		if (id?.startsWith(OPERATORS_LOGIN))
			return { person: null, ended: (await access.revokeToken(id, visitor)) ? 1 : 0 };
		const revoked = await access.revokeLogins(id === undefined ? { person: name ?? "" } : { id }, visitor);
		return { person: revoked.person, ended: revoked.ended.length };
	},
};

function linkOf(path: string, { host }: Pick<Call, "host">): { path: string; url: string | null } {
	const at = host.url?.() ?? null;
	return { path, url: at === null ? null : `${at}${path}` };
}

function isLogin({ name, role }: Token): boolean {
	return role === "operator" && name.startsWith(OPERATORS_LOGIN);
}

function stateOf(
	{ expiresAt, revokedAt }: { readonly expiresAt: number | null; readonly revokedAt: number | null },
	now: number,
): "valid" | "expired" | "revoked" {
	if (revokedAt !== null) return "revoked";
	return expiresAt !== null && expiresAt <= now ? "expired" : "valid";
}
