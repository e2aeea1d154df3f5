// The libraries of e-mail. They are installed when a channel of this platform is added, so nothing here imports them.
import type { ImapFlow } from "imapflow";
import type { simpleParser } from "mailparser";
import type MailComposer from "nodemailer/lib/mail-composer";
import type SMTPConnection from "nodemailer/lib/smtp-connection";

export interface Libraries {
	readonly ImapFlow: typeof ImapFlow;
	readonly SMTPConnection: typeof SMTPConnection;
	readonly MailComposer: typeof MailComposer;
	readonly simpleParser: typeof simpleParser;
}
