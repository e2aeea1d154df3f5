// Logging in at a server over HTTP. The official client speaks OAuth; this stores its client registration, tokens, and a login in
// progress, in one file that only Keryx's owner may read. A running Keryx uses and renews tokens but opens no browser: a person logs in
// with `keryx mcp login`.
import type {
	OAuthClientProvider,
	OAuthDiscoveryState,
	StoredOAuthClientInformation,
	StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { KERYX } from "../../called.ts";
import type { ServerParts } from "./types.ts";

interface Kept {
	readonly client?: StoredOAuthClientInformation | undefined;
	readonly tokens?: StoredOAuthTokens | undefined;
	readonly verifier?: string | undefined;
	/** The authorization server of the login: its answer must come from there. */
	readonly discovery?: OAuthDiscoveryState | undefined;
}

const kept = z.looseObject({
	client: z.looseObject({}).optional(),
	tokens: z.looseObject({}).optional(),
	verifier: z.string().optional(),
	discovery: z.looseObject({}).optional(),
});

/** Where the browser returns to, and how it is opened. */
export interface Browser {
	readonly redirectUrl: string;
	open(url: URL): void | Promise<void>;
}

/** A person has to log in. */
export class LoginNeeded extends Error {
	constructor(server: string) {
		super(`it wants a login: run \`${KERYX} mcp login ${server}\``);
	}
}

export function loginOf(
	server: string,
	parts: Pick<ServerParts, "readLogin" | "writeLogin" | "secrets">,
	browser?: Browser,
): OAuthClientProvider {
	const read = (): Kept => {
		const text = parts.readLogin(server);
		const found = text === null ? {} : (kept.safeParse(JSON.parse(text)).data ?? {});
		hide(server, found.tokens, parts);
		return found as Kept;
	};
	const write = (changes: Kept) => parts.writeLogin(server, JSON.stringify({ ...read(), ...changes }));
	return {
		redirectUrl: browser?.redirectUrl ?? "http://127.0.0.1/callback",
		clientMetadata: {
			client_name: "Keryx",
			redirect_uris: browser ? [browser.redirectUrl] : [],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		},
		clientInformation: () => {
			const { client } = read();
			// Registration needs a browser, so only a login does it.
			if (!client && !browser) throw new LoginNeeded(server);
			return client;
		},
		saveClientInformation: (client) => write({ client }),
		tokens: () => read().tokens,
		saveTokens: (tokens) => {
			hide(server, tokens, parts);
			write({ tokens });
		},
		saveCodeVerifier: (verifier) => write({ verifier }),
		codeVerifier: () => read().verifier ?? "",
		saveDiscoveryState: (discovery) => write({ discovery }),
		discoveryState: () => read().discovery,
		redirectToAuthorization: (url) => {
			if (!browser) throw new LoginNeeded(server);
			return browser.open(url);
		},
		invalidateCredentials: (scope) => {
			if (scope === "verifier") write({ verifier: undefined });
			else if (scope === "tokens") write({ tokens: undefined });
			else if (scope === "discovery") write({ discovery: undefined });
			else parts.writeLogin(server, "{}");
		},
	};
}

/** From the moment they are known (I12). */
function hide(server: string, tokens: unknown, { secrets }: Pick<ServerParts, "secrets">): void {
	const { access_token: access, refresh_token: refresh } = (tokens ?? {}) as Record<string, unknown>;
	const name = `MCP_${server.toUpperCase().replaceAll("-", "_")}`;
	const values = new Map<string, string>();
	if (typeof access === "string") values.set(`${name}_ACCESS`, access);
	if (typeof refresh === "string") values.set(`${name}_REFRESH`, refresh);
	secrets.learn(values);
}
