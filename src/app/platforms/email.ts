// Converts the settings of an e-mail channel for its client: the servers, and the libraries, which are installed on demand.
import type { EmailOptions, Libraries, MailServer } from "../../channels/email/index.ts";
import type { ChannelSettings } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { loadPackage } from "../packages.ts";
import { readAuthorities } from "../setup/authorities.ts";
import { readToken } from "../setup/channel-token.ts";
import type { PlatformWays } from "./types.ts";

export const email: PlatformWays = {
	make: async (options, context) => {
		const { createEmailChannel } = await import("../../channels/email/index.ts");
		const { settings, token } = options;
		return createEmailChannel({
			...options,
			...emailConnection(settings, context.home),
			password: token,
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	identify: async (name, settings, context) => {
		const { identifyEmail } = await import("../../channels/email/index.ts");
		const password = () => readToken(name, settings, context);
		return identifyEmail({ ...emailConnection(settings, context.home), password });
	},
};

/** Throws config.invalid if a certificate file cannot be read. */
function emailConnection(
	{ email, decides }: Pick<ChannelSettings, "email" | "decides">,
	home: string,
): Omit<EmailOptions, "name" | "password" | "clock" | "log"> {
	if (!email)
		throw new KeryxError("config.invalid", "an e-mail channel needs email.address and its servers", {
			field: "email",
		});
	const { address, name, aliases, login, authserv_id, trust, answer_automatic, hop_limit, sent } = email;
	const ca = email.ca_file === undefined ? undefined : readAuthorities("email.ca_file", email.ca_file, home);
	const server = (host: string, port: number, tlsPort: number): MailServer => ({
		host,
		port,
		encryption: !email.tls ? "none" : port === tlsPort ? "tls" : "starttls",
		...(ca !== undefined && { ca }),
	});
	return {
		imap: server(email.imap_server, email.imap_port ?? (email.tls ? 993 : 143), 993),
		smtp: server(email.smtp_server, email.smtp_port ?? (email.tls ? 465 : 25), 465),
		address,
		aliases,
		trust,
		decides,
		answerAutomatic: answer_automatic,
		hopLimit: hop_limit,
		sent,
		...(name !== undefined && { displayName: name }),
		...(login !== undefined && { login }),
		...(authserv_id !== undefined && { authservId: authserv_id }),
		...(email.sent_folder !== undefined && { sentFolder: email.sent_folder }),
		load: () => loadLibraries(home),
	};
}

/** Throws channel.packages if they are not installed. */
async function loadLibraries(home: string): Promise<Libraries> {
	const load = (name: string) => loadPackage("email", name, home);
	const { ImapFlow } = (await load("imapflow")) as Pick<Libraries, "ImapFlow">;
	const { simpleParser } = (await load("mailparser")) as Pick<Libraries, "simpleParser">;
	const composer = (await load("nodemailer/lib/mail-composer")) as { default: Libraries["MailComposer"] };
	const smtp = (await load("nodemailer/lib/smtp-connection")) as { default: Libraries["SMTPConnection"] };
	return { ImapFlow, simpleParser, MailComposer: composer.default, SMTPConnection: smtp.default };
}
