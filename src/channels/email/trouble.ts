// What went wrong with a server: something that passes, or something that only a human can fix, with the remedy.
import type { Trouble } from "../vitals.ts";
import type { MailServer } from "./options.ts";

export type Service = "imap" | "smtp";

const NAMES: Readonly<Record<Service, string>> = { imap: "IMAP", smtp: "SMTP" };

/** An error of a service, so that one handler can tell both apart. */
export class ServiceError extends Error {
	readonly service: Service;

	constructor(service: Service, cause: unknown) {
		super(reasonOf(cause), { cause });
		this.service = service;
	}
}

export function troubleOf(
	error: unknown,
	servers: Readonly<Record<Service, Pick<MailServer, "host" | "port">>>,
): Trouble {
	if (!(error instanceof ServiceError))
		return { state: "needs_attention", detail: `${reasonOf(error)}; check the settings of this channel` };
	const { service, cause } = error;
	const where = `the ${NAMES[service]} server ${servers[service].host}`;
	if (isLoginRefused(cause))
		return {
			state: "needs_attention",
			detail: `${where} refused the login (${reasonOf(cause)}); check the password and email.login. Many providers want a password made for this program (an app password)`,
		};
	if (isUntrusted(cause))
		return {
			state: "needs_attention",
			detail: `the certificate of ${where} is not trusted: ${reasonOf(cause)}; check email.${service}_server, or name the server's own authority in email.ca_file`,
		};
	return { state: "degraded", detail: `${where}, port ${servers[service].port}: ${reasonOf(cause)}` };
}

export function isLoginRefused(error: unknown): boolean {
	const { authenticationFailed, serverResponseCode, code, responseCode } = error as {
		authenticationFailed?: boolean;
		serverResponseCode?: string;
		code?: string;
		responseCode?: number;
	};
	// A server that is busy says so, and lets Keryx in later.
	if (authenticationFailed) return serverResponseCode !== "UNAVAILABLE" && serverResponseCode !== "INUSE";
	return code === "EAUTH" && (responseCode === undefined || responseCode >= 500);
}

function isUntrusted(error: unknown): boolean {
	const { code = "", message = "" } = error as { code?: string; message?: string };
	return /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code) || /self.signed|certificate|altnames/i.test(message);
}

export function reasonOf(error: unknown): string {
	const { responseText, response, message } = error as {
		responseText?: string;
		response?: string;
		message?: string;
	};
	return (responseText || (typeof response === "string" ? response : "") || message || String(error)).slice(
		0,
		300,
	);
}
