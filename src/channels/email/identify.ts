// Identifies a set of settings, for setting up a channel: logs in to both servers, looks at the mailbox, and leaves.
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { foldedAddress } from "./address.ts";
import { closeImap, openImap } from "./imap.ts";
import type { EmailOptions, MailServer } from "./options.ts";
import { trySmtp } from "./smtp.ts";
import { troubleOf } from "./trouble.ts";

export interface EmailIdentity {
	readonly who: string;
	readonly remarks: readonly string[];
}

type Asked = Pick<
	EmailOptions,
	"imap" | "smtp" | "address" | "login" | "password" | "load" | "authservId" | "trust"
>;

/** Throws channel.refused, which says what a server refused, or that it was unreachable. */
export async function identifyEmail(options: Asked): Promise<EmailIdentity> {
	const { imap, smtp, authservId, trust = false } = options;
	const address = foldedAddress(options.address);
	const { login: user = address } = options;
	const libraries = await options.load();
	const password = await options.password();
	try {
		const client = await openImap(libraries, { server: imap, user, password });
		const { exists } = await client.mailboxOpen("INBOX", { readOnly: true });
		const hasIdle = client.capabilities.has("IDLE");
		const seen = authservId === undefined && exists > 0 ? await newestChecker(client) : null;
		await closeImap(client, (ms, callback) => systemClock.after(ms, callback));
		await trySmtp(libraries, { server: smtp, user, password }, systemClock);
		const remarks = [
			...(hasIdle ? [] : ["The server has no IDLE: Keryx asks for new mails every few seconds."]),
			...(authservId !== undefined || trust
				? []
				: [
						`email.authserv_id is not set, so no sender is proven and nobody is heard.${seen === null ? " It is the first word of the Authentication-Results header in a mail that you have received." : ` The newest mail names ${seen}: if that is your provider's server, set it.`}`,
					]),
			...(trust ? ["email.trust is on: anybody can write under anybody's address."] : []),
			...[imap, smtp]
				.filter(isOpen)
				.map(({ host }) => `Without TLS, others on the way to ${host} can read everything, passwords too.`),
		];
		return { who: `${address} (${exists} mails in its inbox)`, remarks };
	} catch (error) {
		const { detail } = troubleOf(error, { imap, smtp });
		const [reason = detail, ...remedy] = detail.split("; ");
		throw new KeryxError("channel.refused", reason, {
			hint: remedy.join("; ") || "check the servers and ports, then try again",
		});
	}
}

function isOpen({ encryption, host }: MailServer): boolean {
	return encryption === "none" && host !== "localhost" && !host.startsWith("127.");
}

/** The name in the topmost Authentication-Results header of the newest mail. */
async function newestChecker(client: Awaited<ReturnType<typeof openImap>>): Promise<string | null> {
	const newest = await client.fetchOne("*", { headers: ["authentication-results"] });
	const text = newest ? (newest.headers?.toString("latin1") ?? "") : "";
	return /^authentication-results:\s*([A-Za-z0-9.-]{1,253})\s*[;\d]/im.exec(text)?.[1] ?? null;
}
