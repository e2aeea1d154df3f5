// Identifies a set of settings, for setting up a channel: connects, logs in, and leaves.
import { randomBytes } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { findUploads, infoOf } from "./files.ts";
import { serverAddress, type XmppOptions } from "./options.ts";
import { parseJid } from "./stream/jid.ts";
import { NS } from "./stream/namespaces.ts";
import { Session } from "./stream/session.ts";

export interface XmppIdentity {
	readonly who: string;
	readonly remarks: readonly string[];
}

/** Throws channel.refused, which says what the server refused, or that it was unreachable. */
export async function identifyXmpp(
	options: Pick<XmppOptions, "jid" | "server" | "secrets">,
): Promise<XmppIdentity> {
	const own = parseJid(options.jid);
	if (!own || own.local === "")
		throw new KeryxError("channel.refused", `${options.jid} is not the address of an account`, {
			hint: "set xmpp.jid to an address such as keryx@example.org",
		});
	const { password } = await options.secrets();
	const address = await serverAddress(options, own.domain, 0);
	const { promise: bound, resolve } = Promise.withResolvers<Session>();
	const session = new Session({
		clock: systemClock,
		address,
		aliveMs: 20_000,
		id: "setup",
		previous: null,
		login: {
			domain: own.domain,
			user: own.local,
			password,
			// Next to a running Keryx.
			resource: `keryx-setup-${randomBytes(4).toString("hex")}`,
			requiresTls: options.server.tls === "starttls",
			nonce: randomBytes(18).toString("hex"),
		},
		bound: resolve,
		resumed: () => {},
		stanza: (_, done) => done(),
		acked: () => {},
		alive: () => {},
	});
	const found = await Promise.race([bound, session.ended]);
	if ("kind" in found) {
		const where = `${address.host}:${address.port}`;
		throw found.kind === "refused"
			? new KeryxError("channel.refused", found.reason, { hint: found.remedy })
			: new KeryxError("channel.refused", `could not connect to ${where}: ${found.reason}`, {
					hint: "check xmpp.jid, xmpp.server, xmpp.port and xmpp.tls, then try again",
				});
	}
	try {
		return { who: own.bare, remarks: await remarksOn(found, own) };
	} finally {
		await found.quit();
	}
}

async function remarksOn(
	session: Session,
	own: { readonly bare: string; readonly domain: string },
): Promise<string[]> {
	const account = await infoOf(session, own.bare);
	const uploads = await findUploads(session, own.domain);
	return [
		...(account?.features.has(NS.archive)
			? []
			: ["The server keeps no archive: messages sent while Keryx is away may be lost."]),
		...(uploads ? [] : ["The server stores no files: Keryx can send none."]),
		...(session.management?.id ? [] : ["The server continues no sessions after a cut connection."]),
		...(session.isSecure ? [] : ["Without TLS, others on the way can read everything."]),
	];
}
