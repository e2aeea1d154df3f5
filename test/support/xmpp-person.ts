// A person on XMPP, with a program that shows every stanza.
import { parseJid } from "../../src/channels/xmpp/stream/jid.ts";
import { NS } from "../../src/channels/xmpp/stream/namespaces.ts";
import { Session } from "../../src/channels/xmpp/stream/session.ts";
import { child, type Element, element, elements, textOf } from "../../src/channels/xmpp/stream/xml.ts";
import { systemClock } from "../../src/time/index.ts";
import { PASSWORD, type Prosody } from "./prosody.ts";
import { until } from "./until.ts";

let connections = 0;

export class XmppPerson {
	readonly jid: string;
	readonly heard: Element[] = [];
	/** Called with each stanza after it is in `heard`. */
	onStanza: (stanza: Element) => void = () => {};
	readonly session: Session;
	#ids = 0;

	private constructor(session: Session, jid: string) {
		this.session = session;
		this.jid = jid;
	}

	/** Logs in with the usual password; creates the account if missing. */
	static async connect(
		server: Prosody,
		name: string,
		{ resource = `home${++connections}`, priority = "0" } = {},
	): Promise<XmppPerson> {
		const jid = server.account(name);
		const early: Element[] = [];
		let person: XmppPerson | undefined;
		const session = await new Promise<Session>((resolve, reject) => {
			const made = new Session({
				clock: systemClock,
				address: { host: "127.0.0.1", port: server.port, direct: false, domain: server.domain },
				aliveMs: 600_000,
				id: `p${++connections}`,
				previous: null,
				login: {
					domain: server.domain,
					user: name,
					password: PASSWORD,
					resource,
					requiresTls: false,
					nonce: `nonce${++connections}`,
				},
				bound: resolve,
				resumed: () => {},
				stanza: (stanza, done) => {
					(person?.heard ?? early).push(stanza);
					person?.onStanza(stanza);
					done();
				},
				acked: () => {},
				alive: () => {},
			});
			void made.ended.then((ended) => reject(new Error(JSON.stringify(ended))));
		});
		person = new XmppPerson(session, jid);
		person.heard.push(...early);
		// People who have not asked are not notified of subscriptions.
		await session.request("get", undefined, element("query", "jabber:iq:roster"));
		session.write(element("presence", NS.client, {}, element("priority", NS.client, {}, priority)));
		await person.until(() =>
			person.heard.some(({ name: kind, attrs }) => kind === "presence" && attrs.from === session.jid),
		);
		return person;
	}

	/** Returns the message's id. */
	say(to: string, text: string, ...more: readonly Element[]): string {
		return this.message(to, "chat", text, ...more);
	}

	sayIn(room: string, text: string, ...more: readonly Element[]): string {
		return this.message(room, "groupchat", text, ...more);
	}

	message(to: string, type: string, text: string, ...more: readonly Element[]): string {
		const id = `${parseJid(this.jid)?.local}-message-${++this.#ids}`;
		this.session.write(
			element("message", NS.client, { to, type, id }, element("body", NS.client, {}, text), ...more),
		);
		return id;
	}

	correct(to: string, type: string, replaces: string, text: string): string {
		return this.message(to, type, text, element("replace", NS.correct, { id: replaces }));
	}

	async join(room: string, nick: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
		this.session.write(element("presence", NS.client, { to: `${room}/${nick}` }, element("x", NS.muc)));
		await this.until(() =>
			this.heard.some(({ name, attrs }) => name === "presence" && attrs.from === `${room}/${nick}`),
		);
		if (Object.keys(settings).length > 0) await this.configure(room, settings);
	}

	/** As the owner of a room. */
	async configure(room: string, settings: Readonly<Record<string, string>>): Promise<void> {
		const owner = "http://jabber.org/protocol/muc#owner";
		const fields = Object.entries({
			FORM_TYPE: "http://jabber.org/protocol/muc#roomconfig",
			...settings,
		}).map(([name, value]) => element("field", NS.form, { var: name }, element("value", NS.form, {}, value)));
		const form = element("x", NS.form, { type: "submit" }, ...fields);
		await this.session.request("set", room, element("query", owner, {}, form));
	}

	/** As an administrator: `{ nick, role }` or `{ jid, affiliation }`. */
	async change(room: string, item: Readonly<Record<string, string>>, reason = ""): Promise<void> {
		const admin = "http://jabber.org/protocol/muc#admin";
		const why = reason === "" ? [] : [element("reason", admin, {}, reason)];
		await this.session.request(
			"set",
			room,
			element("query", admin, {}, element("item", admin, item, ...why)),
		);
	}

	/** Waits until everything the server had for them has arrived. */
	sync(): Promise<void> {
		return this.session.ping();
	}

	async until(condition: () => boolean): Promise<void> {
		await until(() => {
			if (condition()) return true;
			if (!this.session.isOpen) throw new Error(`${this.jid} was disconnected`);
			return false;
		});
	}

	/** Messages with text from a person, or from a nick in a room. */
	messages(from: string): Element[] {
		return this.heard.filter(
			(one) =>
				one.name === "message" &&
				one.attrs.type !== "error" &&
				(one.attrs.from === from || parseJid(one.attrs.from)?.bare === from) &&
				child(one, "body") !== undefined,
		);
	}

	/** As a program shows them: a correction replaces the corrected message. */
	shown(from: string): { readonly id: string; readonly text: string; readonly files: readonly string[] }[] {
		const all: { id: string; text: string; files: readonly string[] }[] = [];
		for (const message of this.messages(from)) {
			const files = elements(message)
				.filter(({ ns }) => ns === NS.outOfBand)
				.map((one) => textOf(child(one, "url")));
			const text = textOf(child(message, "body"));
			const replaced = child(message, "replace", NS.correct)?.attrs.id;
			const former = all.find(({ id }) => id === replaced);
			if (former) former.text = text;
			else all.push({ id: message.attrs.id ?? "", text, files });
		}
		return all;
	}

	async leave(): Promise<void> {
		await this.session.quit();
	}
}
