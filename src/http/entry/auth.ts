// Identifies callers. The Unix socket's permission makes its user the operator; on a port a bearer token, the operator secret or the
// page's login identifies the caller. No header or body can change that. A login has two halves, because browsers send a cookie to every
// port of a host: the cookie, and a key known only to the origin of the login.
import { hash, randomBytes } from "node:crypto";
import { type Caller, may } from "../../confirmations/index.ts";
import { KeryxError } from "../../errors.ts";
import {
	COMPAT,
	type LiveLogin,
	OPERATOR,
	type Person,
	type Poster,
	type Store,
	type Token,
	type TokenRole,
} from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import { LoginCodes, type PersonCode, same } from "./login-codes.ts";
import { Stays } from "./stays.ts";

const DAY_MS = 86_400_000;
const COOKIE_DAYS = 30;
const MOST_CACHED = 1000;

/** How a request arrived. */
export type Entrance =
	| { readonly kind: "socket" }
	| {
			/** compat: accepts confirmation requests and reports their status, from anyone on this machine. */
			readonly kind: "port" | "compat";
			readonly host: string;
			readonly port: number;
			readonly remote: string;
			/** It arrived at the address in http.public_url. */
			readonly publicOrigin?: string;
	  };

export interface Visitor extends Caller {
	/** False if only the socket's permission identifies it. */
	readonly proven: boolean;
	/** Its token's channel. */
	readonly channel: string | null;
	/** The principal of its token or login. */
	readonly principal: string | null;
	/** The person who logged in with their own link. */
	readonly person?: Person;
	/** Aborted when its token or login is revoked, expires or changes its role: ends streaming answers. */
	readonly stay: AbortSignal;
}

export interface Credentials {
	readonly authorization: string | undefined;
	/** The cookie's value. */
	readonly cookie: string | undefined;
	/** The page's key for its origin. */
	readonly pageKey: string | undefined;
	/** X-Keryx-Via. */
	readonly via: string | undefined;
}

export interface AccessOptions {
	readonly store: Pick<
		Store,
		| "tokenByDigest"
		| "createToken"
		| "revokeToken"
		| "loginByDigest"
		| "offerLogin"
		| "makeLogin"
		| "revokeLogins"
		| "cluster"
	>;
	readonly operatorSecret: string;
	/** Signs login links and page keys; the same for all gateways on one store. Default: the operator secret. */
	readonly pageSecret?: string;
	readonly now: () => number;
	/** Default: the machine's. */
	readonly after?: Clock["after"];
}

export interface Login {
	readonly secret: string;
	readonly key: string;
	/** Seconds. */
	readonly maxAge: number;
}

/** The prefix of people's login secrets. */
const LOGIN = "kl_";
/** The operator's logins are tokens with names that begin so. */
export const OPERATORS_LOGIN = "page-";
/** On the socket without a token. Not the operator's name, so that the operator may decide its requests. */
const AT_SOCKET = "socket";

/** Unbound, never revoked. */
const NOBODYS = {
	sessionKey: null,
	principal: null,
	channel: null,
	stay: new AbortController().signal,
} as const;

export class Access {
	readonly #options: AccessOptions;
	readonly #operatorDigest: string;
	/** By digest. Cleared at each token change, so that a revoked one ends at once. */
	readonly #known = new Map<string, Token>();
	readonly #knownLogins = new Map<string, LiveLogin>();
	#changes = 0;
	readonly #stays: Stays;
	readonly #codes: LoginCodes;
	/** Other gateways revoke, too: then every request asks for the row. */
	readonly #caches: boolean;

	constructor(options: AccessOptions) {
		this.#options = options;
		this.#operatorDigest = digestOf(options.operatorSecret);
		this.#stays = new Stays(options);
		this.#codes = new LoginCodes(options.pageSecret ?? options.operatorSecret);
		const { cluster } = options.store;
		this.#caches = !cluster;
		cluster?.onCommitElsewhere(() => this.#stays.recheckSoon());
		// Without the store, revocations by other gateways are unknown.
		cluster?.onLease((holds) => {
			if (!holds) this.#stays.endAll("");
		});
	}

	/** Null for a stranger, and for invalid credentials. */
	async visitor(
		{ authorization, cookie, pageKey, via }: Credentials,
		entrance: Entrance,
	): Promise<Visitor | null> {
		if (entrance.kind === "compat")
			return { ...NOBODYS, who: COMPAT, role: "agent", via: "api", proven: true };
		const from = entrance.kind === "socket" && via === "cli" ? "cli" : "api";
		if (authorization !== undefined) {
			const [, bearer] = /^Bearer +([\w~+/.-]{1,256}=*)$/i.exec(authorization) ?? [];
			return bearer === undefined ? null : this.#bearer(bearer, from);
		}
		if (entrance.kind === "socket")
			return {
				...NOBODYS,
				who: AT_SOCKET,
				role: "operator",
				via: from,
				proven: false,
			};
		if (cookie === undefined || !same(pageKey ?? "", this.#codes.pageKey(cookie, originOf(entrance))))
			return null;
		return cookie.startsWith(LOGIN) ? this.#person(cookie) : this.#bearer(cookie, "page");
	}

	async createToken(
		args: {
			readonly name: string;
			readonly role: TokenRole;
			readonly sessionKey?: string;
			readonly principal?: string;
			readonly channel?: string;
			readonly days?: number;
		},
		{ who: by, via }: Pick<Caller, "who" | "via">,
	): Promise<{ readonly secret: string; readonly token: Token }> {
		const { days, ...rest } = args;
		const secret = `kx_${randomBytes(32).toString("base64url")}`;
		const token = await this.#options.store.createToken({
			...rest,
			digest: digestOf(secret),
			...(days !== undefined && { expiresAt: this.#options.now() + days * DAY_MS }),
			by,
			via,
		});
		this.#forget();
		return { secret, token };
	}

	async revokeToken(name: string, { who: by, via }: Pick<Caller, "who" | "via">): Promise<boolean> {
		try {
			return await this.#options.store.revokeToken({ name, by, via });
		} finally {
			this.#forget();
			this.#stays.end(`token:${name}`);
		}
	}

	/** Sets a person's role, and returns the path of a link that logs in one browser. */
	async offerLogin({ name, role }: Person, { who: by, via }: Pick<Caller, "who" | "via">): Promise<string> {
		try {
			const { round } = await this.#options.store.offerLogin({ name, role, by, via });
			return `/login?code=${this.#codes.forPerson(name, round, this.#options.now())}`;
		} finally {
			// Open streams were opened with the previous role.
			this.#endStays(`person:${name}/`);
		}
	}

	/** Revokes one login, or all of a person's; their open streams are closed before this resolves. */
	async revokeLogins(
		which: { readonly id: string } | { readonly person: string },
		{ who: by, via }: Pick<Caller, "who" | "via">,
	): Promise<{ readonly person: string; readonly ended: readonly string[] }> {
		const revoked = await this.#options.store.revokeLogins({ ...which, by, via }).catch((error: unknown) => {
			// It may have been committed: the rows decide.
			this.#forget();
			this.#stays.recheckSoon();
			throw error;
		});
		for (const id of revoked.ended) this.#endStays(`person:${revoked.person}/${id}`);
		return revoked;
	}

	#endStays(prefix: string): void {
		this.#forget();
		this.#stays.endAll(prefix);
	}

	/** A link that makes the first browser that opens it the operator. */
	loginPath(): string {
		return `/login?code=${this.#codes.forOperator(this.#options.now())}`;
	}

	/** The page's cookie and key. A code's nonce becomes a token name, and names are unique: so a code works once. */
	async login(code: string, entrance: PortEntrance): Promise<Login> {
		const read = this.#codes.read(code, this.#options.now());
		return read.kind === "person"
			? this.#loginPerson(read, entrance)
			: this.#loginOperator(read.nonce, entrance);
	}

	async #loginOperator(nonce: string, entrance: PortEntrance): Promise<Login> {
		try {
			const name = `${OPERATORS_LOGIN}${nonce}`;
			const { secret } = await this.createToken(
				{ name, role: "operator", days: COOKIE_DAYS },
				{ who: "operator", via: "page" },
			);
			return this.#loginOf(secret, entrance);
		} catch (error) {
			if (error instanceof KeryxError && error.code === "token.taken")
				throw new KeryxError("http.login", "this login link was already used");
			throw error;
		}
	}

	async #loginPerson({ nonce, name, round }: PersonCode, entrance: PortEntrance): Promise<Login> {
		const secret = `${LOGIN}${randomBytes(32).toString("base64url")}`;
		await this.#options.store.makeLogin({
			id: nonce,
			digest: digestOf(secret),
			person: name,
			round,
			expiresAt: this.#options.now() + COOKIE_DAYS * DAY_MS,
		});
		return this.#loginOf(secret, entrance);
	}

	#loginOf(secret: string, entrance: PortEntrance): Login {
		const key = this.#codes.pageKey(secret, originOf(entrance));
		return { secret, key, maxAge: (COOKIE_DAYS * DAY_MS) / 1000 };
	}

	/** A login is valid only as a cookie, not as a token. */
	async #person(cookie: string): Promise<Visitor | null> {
		const digest = digestOf(cookie);
		const login = await this.#login(digest);
		if (!login) return null;
		const { id, person, principal, expiresAt } = login;
		const role = person.role === "owner" ? "operator" : person.role;
		const who = `person:${person.name}`;
		const stay = this.#stays.take(`${who}/${id}`, expiresAt, async () => {
			const now = await this.#login(digest);
			return now?.person.role === person.role;
		});
		const visitor = { ...NOBODYS, who, role, via: "page", principal, proven: true, person, stay } as const;
		if (role === "operator") return visitor;
		return { ...visitor, speaker: { principal, role, platform: "web" } };
	}

	async #login(digest: string): Promise<LiveLogin | null> {
		const now = this.#options.now();
		const known = this.#knownLogins.get(digest);
		if (known) return known.expiresAt <= now ? null : known;
		const before = this.#changes;
		const found = await this.#options.store.loginByDigest({ scope: OPERATOR, digest, now });
		// It may have been revoked during the lookup.
		if (found && before !== this.#changes) return this.#login(digest);
		if (found && this.#caches) {
			if (this.#knownLogins.size >= MOST_CACHED) this.#knownLogins.clear();
			this.#knownLogins.set(digest, found);
		}
		return found;
	}

	async #bearer(bearer: string, via: Caller["via"]): Promise<Visitor | null> {
		const digest = digestOf(bearer);
		if (same(digest, this.#operatorDigest))
			return { ...NOBODYS, who: "operator", role: "operator", via, proven: true };
		const token = await this.#token(digest);
		// The cookie alone does not prove the page's key.
		if (!token || (via !== "page" && token.name.startsWith(OPERATORS_LOGIN))) return null;
		const { name, role, sessionKey, principal, channel, expiresAt } = token;
		const who = `token:${name}`;
		const stay = this.#stays.take(who, expiresAt, async () => (await this.#token(digest)) !== null);
		const visitor = { who, role, via, sessionKey, principal, channel, proven: true, stay } as const;
		if (role !== "approver") return visitor;
		// A plain yes is an approver's own; words that they add have a member's rights.
		return { ...visitor, speaker: { principal, role: "member", platform: "api_server" } };
	}

	async #token(digest: string): Promise<Token | null> {
		const now = this.#options.now();
		const known = this.#known.get(digest);
		if (known) return known.expiresAt !== null && known.expiresAt <= now ? null : known;
		const before = this.#changes;
		const found = await this.#options.store.tokenByDigest({ scope: OPERATOR, digest, now });
		// It may have been revoked during the lookup.
		if (found && before !== this.#changes) return this.#token(digest);
		if (found && this.#caches) {
			if (this.#known.size >= MOST_CACHED) this.#known.clear();
			this.#known.set(digest, found);
		}
		return found;
	}

	#forget(): void {
		this.#changes++;
		this.#known.clear();
		this.#knownLogins.clear();
	}
}

/** The caller as the poster of a message. */
export function posterOf(visitor: Visitor): Poster {
	const { who, via, proven } = visitor;
	return { who, via, decides: proven && may(visitor, "resolve") };
}

export type PortEntrance = Exclude<Entrance, { kind: "socket" }>;

function originOf({ publicOrigin, port }: PortEntrance): string {
	return publicOrigin ?? String(port);
}

/** Over TLS a browser returns it only over TLS, and accepts it only from this host. */
export function isSecure({ publicOrigin }: PortEntrance): boolean {
	return publicOrigin?.startsWith("https:") ?? false;
}

/** Cookies ignore ports: two Keryx on one machine must not share one. Gateways behind one public address do. */
export function cookieName(entrance: PortEntrance): string {
	const { publicOrigin, port } = entrance;
	const secure = isSecure(entrance);
	const shown = publicOrigin === undefined ? port : new URL(publicOrigin).port || (secure ? 443 : 80);
	return `${secure ? "__Host-" : ""}keryx_${shown}`;
}

/** A page sends it as a header; for a WebSocket, which cannot set headers, as an offered protocol. */
export function pageKeyOf(header: string | undefined, protocols: string | undefined): string | undefined {
	if (header !== undefined) return header;
	const [, key] = /(?:^|,)\s*page\.([\w-]{43})\s*(?:,|$)/.exec(protocols ?? "") ?? [];
	return key;
}

function digestOf(secret: string): string {
	return hash("sha256", secret, "hex");
}
