// The names of XMPP's parts, as its documents give them.

export const NS = {
	client: "jabber:client",
	stream: "http://etherx.jabber.org/streams",
	streams: "urn:ietf:params:xml:ns:xmpp-streams",
	stanzas: "urn:ietf:params:xml:ns:xmpp-stanzas",
	tls: "urn:ietf:params:xml:ns:xmpp-tls",
	sasl: "urn:ietf:params:xml:ns:xmpp-sasl",
	bind: "urn:ietf:params:xml:ns:xmpp-bind",
	management: "urn:xmpp:sm:3",
	ping: "urn:xmpp:ping",
	info: "http://jabber.org/protocol/disco#info",
	items: "http://jabber.org/protocol/disco#items",
	muc: "http://jabber.org/protocol/muc",
	mucUser: "http://jabber.org/protocol/muc#user",
	conference: "jabber:x:conference",
	archive: "urn:xmpp:mam:2",
	form: "jabber:x:data",
	pages: "http://jabber.org/protocol/rsm",
	forward: "urn:xmpp:forward:0",
	delay: "urn:xmpp:delay",
	ids: "urn:xmpp:sid:0",
	carbons: "urn:xmpp:carbons:2",
	correct: "urn:xmpp:message-correct:0",
	retract: "urn:xmpp:message-retract:1",
	reply: "urn:xmpp:reply:0",
	fallback: "urn:xmpp:fallback:0",
	reactions: "urn:xmpp:reactions:0",
	states: "http://jabber.org/protocol/chatstates",
	outOfBand: "jabber:x:oob",
	upload: "urn:xmpp:http:upload:0",
	hints: "urn:xmpp:hints",
	styling: "urn:xmpp:styling:0",
} as const;

/** Encrypted for devices that have exchanged keys; Keryx has none. */
export const ENCRYPTED: ReadonlySet<string> = new Set([
	"eu.siacs.conversations.axolotl",
	"urn:xmpp:omemo:1",
	"urn:xmpp:omemo:2",
	"jabber:x:encrypted",
	"urn:xmpp:openpgp:0",
]);
