// The start of a connection: TLS, the login, and either the session that was cut off or a new one. Pure: elements in, steps out.
import { NS } from "./namespaces.ts";
import { SCRAM_MECHANISMS, Scram } from "./scram.ts";
import { child, type Element, element, elements, textOf } from "./xml.ts";

export interface LoginOptions {
	readonly domain: string;
	readonly user: string;
	readonly password: string;
	readonly resource: string;
	/** No password leaves without TLS. */
	readonly requiresTls: boolean;
	/** Newly generated for every connection. */
	readonly nonce: string;
	/** The session to continue: its id, and how many stanzas of the server are committed. */
	readonly previous?: { readonly id: string; readonly committed: number };
}

export type Step =
	| { readonly kind: "go"; readonly elements: readonly Element[] }
	/** The connection continues with TLS. */
	| { readonly kind: "secure" }
	/** A new stream begins. */
	| { readonly kind: "restart" }
	/** The former session continues; the server has handled this many of our stanzas. */
	| { readonly kind: "resumed"; readonly handled: number }
	/** A new session. `management`: its id if it can be continued; undefined without stream management. */
	| {
			readonly kind: "bound";
			readonly jid: string;
			readonly management?: { readonly id: string | null };
			/** Of the former session, if the server still knew. */
			readonly formerlyHandled?: number;
	  }
	/** Only a human can help. */
	| { readonly kind: "refused"; readonly reason: string; readonly remedy: string }
	| { readonly kind: "lost"; readonly reason: string };

const GO: Step = { kind: "go", elements: [] };

export class Login {
	readonly #options: LoginOptions;
	#isSecure: boolean;
	#isLoggedIn = false;
	#scram: Scram | null = null;
	#isProven = false;
	#hasManagement = false;
	#jid = "";
	#formerlyHandled: number | undefined;

	constructor(options: LoginOptions, isSecure: boolean) {
		this.#options = options;
		this.#isSecure = isSecure;
	}

	heard(heard: Element): Step {
		if (heard.ns === NS.stream && heard.name === "features") return this.#features(heard);
		if (heard.ns === NS.tls) return this.#tls(heard);
		if (heard.ns === NS.sasl) return this.#sasl(heard);
		if (heard.ns === NS.management) return this.#management(heard);
		if (heard.name === "iq" && heard.attrs.id === BIND) return this.#bound(heard);
		return GO;
	}

	#features(features: Element): Step {
		const { requiresTls, previous } = this.#options;
		if (!this.#isSecure && requiresTls) {
			if (child(features, "starttls", NS.tls)) return go(element("starttls", NS.tls));
			return refused(
				"the server offers no TLS on this port",
				"set xmpp.tls to direct for a port with TLS, usually 5223",
			);
		}
		if (!this.#isLoggedIn) return this.#authenticate(features);
		this.#hasManagement = child(features, "sm", NS.management) !== undefined;
		if (previous && this.#hasManagement)
			return go(element("resume", NS.management, { previd: previous.id, h: String(previous.committed) }));
		return this.#bind();
	}

	#tls({ name }: Element): Step {
		if (name !== "proceed") return { kind: "lost", reason: "the server did not start TLS" };
		this.#isSecure = true;
		return { kind: "secure" };
	}

	#authenticate(features: Element): Step {
		const { user, password, nonce } = this.#options;
		const offered = elements(child(features, "mechanisms", NS.sasl) ?? features).map(textOf);
		const mechanism = SCRAM_MECHANISMS.find((name) => offered.includes(name));
		if (mechanism !== undefined) {
			this.#scram = new Scram(mechanism, user, password, nonce);
			return go(element("auth", NS.sasl, { mechanism }, base64(this.#scram.first())));
		}
		if (offered.includes("PLAIN") && this.#isSecure) {
			this.#isProven = true;
			return go(element("auth", NS.sasl, { mechanism: "PLAIN" }, base64(`\0${user}\0${password}`)));
		}
		return refused(
			`the server offers no login that Keryx knows (${offered.join(", ") || "none"})`,
			"Keryx logs in with SCRAM, or with PLAIN over TLS: check xmpp.tls and the server's settings",
		);
	}

	#sasl(heard: Element): Step {
		const said = Buffer.from(textOf(heard), "base64").toString();
		if (heard.name === "failure") return this.#failed(heard);
		if (heard.name === "challenge") {
			// Some servers give their proof here, and then wait.
			if (this.#scram?.isProvenBy(said)) {
				this.#isProven = true;
				return go(element("response", NS.sasl));
			}
			const answer = this.#scram?.answer(said) ?? null;
			return answer === null ? NOT_PROVEN : go(element("response", NS.sasl, {}, base64(answer)));
		}
		if (heard.name !== "success") return GO;
		if (!this.#isProven && !this.#scram?.isProvenBy(said)) return NOT_PROVEN;
		this.#isLoggedIn = true;
		return { kind: "restart" };
	}

	#failed(failure: Element): Step {
		const { user, domain } = this.#options;
		const condition = elements(failure).find(({ name }) => name !== "text")?.name ?? "";
		const said = textOf(child(failure, "text")) || condition;
		if (condition === "temporary-auth-failure")
			return { kind: "lost", reason: `the server cannot check the password now: ${said}` };
		return refused(
			`the server does not accept the password of ${user}@${domain}: ${said}`,
			"check xmpp.jid, and token_env or token_file",
		);
	}

	#management(heard: Element): Step {
		const handled = Number(heard.attrs.h);
		if (heard.name === "resumed") return { kind: "resumed", handled };
		if (heard.name === "failed" && this.#jid === "") {
			if (heard.attrs.h !== undefined) this.#formerlyHandled = handled;
			return this.#bind();
		}
		const { id, resume } = heard.attrs;
		if (heard.name !== "enabled" && heard.name !== "failed") return GO;
		const canResume = resume === "true" || resume === "1";
		return this.#done(
			heard.name === "enabled" ? { management: { id: (canResume ? id : undefined) ?? null } } : {},
		);
	}

	#bind(): Step {
		const { resource } = this.#options;
		const bind = element("bind", NS.bind, {}, element("resource", NS.bind, {}, resource));
		return go(element("iq", NS.client, { type: "set", id: BIND }, bind));
	}

	#bound(answer: Element): Step {
		const jid = textOf(child(child(answer, "bind", NS.bind) ?? answer, "jid", NS.bind));
		if (answer.attrs.type !== "result" || jid === "")
			return { kind: "lost", reason: "the server gives Keryx no session" };
		this.#jid = jid;
		return this.#hasManagement ? go(element("enable", NS.management, { resume: "true" })) : this.#done({});
	}

	#done(more: { readonly management?: { readonly id: string | null } }): Step {
		const formerlyHandled = this.#formerlyHandled;
		return {
			kind: "bound",
			jid: this.#jid,
			...more,
			...(formerlyHandled !== undefined && { formerlyHandled }),
		};
	}
}

const BIND = "keryx-bind";
const NOT_PROVEN: Step = refused(
	"the server did not prove that it knows the password",
	"check xmpp.server: this may be another server",
);

function base64(text: string): string {
	return Buffer.from(text).toString("base64");
}

function go(...elements: readonly Element[]): Step {
	return { kind: "go", elements };
}

function refused(reason: string, remedy: string): Step {
	return { kind: "refused", reason, remedy };
}
