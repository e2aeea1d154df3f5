// Who speaks on XMPP, on a real Prosody: by address, in a room that shows addresses, and in one that hides them.
import { startProsody } from "../support/prosody.ts";
import { XmppPerson } from "../support/xmpp-person.ts";
import { authOf, everybody, type PlatformSources, Ways } from "./platform-sources.ts";
import { xmppChannelOn } from "./xmpp-scene.ts";

interface Chat {
	readonly reader: XmppPerson;
	/** Whose messages they read there. */
	readonly from: string;
}

export async function xmppSources(): Promise<PlatformSources> {
	const server = await startProsody();
	const bot = server.account("keryx");
	const [open, hidden] = [`open@${server.rooms}`, `hidden@${server.rooms}`];
	const people = everybody((name) => ({ id: `${name.toLowerCase()}@${server.domain}` }));
	const connected = new Map<string, XmppPerson>();
	for (const [role, { id }] of Object.entries(people)) {
		const name = id.split("@", 1)[0] as string;
		const person = await XmppPerson.connect(server, name);
		// The first one makes the room.
		await person.join(open, name, connected.size === 0 ? { "muc#roomconfig_whois": "anyone" } : {});
		await person.join(hidden, role === "stranger" ? "olaf" : name);
		connected.set(role, person);
	}
	const [owner, stranger] = [connected.get("owner"), connected.get("stranger")] as [XmppPerson, XmppPerson];
	const all = new Ways<Chat>();
	for (const [role, person] of connected) {
		all.add(`${role}, private chat`, { reader: person, from: bot }, (text) => person.say(bot, text));
		all.add(`${role}, room that shows addresses`, { reader: person, from: `${open}/keryx` }, (text) =>
			person.sayIn(open, `keryx: ${text}`),
		);
	}
	all.add("owner, room that hides addresses", { reader: owner, from: `${hidden}/keryx` }, (text) =>
		owner.sayIn(hidden, `keryx: ${text}`),
	);
	all.add("owner, in an action", { reader: owner, from: bot }, (text) => owner.say(bot, `/me ${text}`));
	all.add(
		"anybody with a nick listed as an owner, room that hides addresses",
		{ reader: stranger, from: `${hidden}/keryx` },
		(text) => stranger.sayIn(hidden, `keryx: ${text}`),
	);
	const sees = (room: string) =>
		owner.heard.some(({ name, attrs }) => name === "presence" && attrs.from === `${room}/keryx`);
	return {
		channel: xmppChannelOn(server.port, { jid: bot, join: [open, hidden] }),
		auth: authOf(people as Parameters<typeof authOf>[0], { id: `${hidden}/olaf` }),
		before: 0,
		passes: false,
		isReady: () => sees(open) && sees(hidden),
		ways: all.ways,
		shown: (words) => {
			const { reader, from } = all.chat(words);
			return reader.shown(from).map(({ text }) => text);
		},
		close: async () => {
			for (const person of connected.values()) await person.leave();
			await server.remove();
		},
	};
}
