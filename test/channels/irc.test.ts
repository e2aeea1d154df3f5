// The IRC channel on a real ngircd: what comes in, what goes out, and what becomes of nicks, channels and the server.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createIrcChannel } from "../../src/channels/irc/index.ts";
import type { Outgoing } from "../../src/gateway/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { IrcPerson } from "../support/irc-person.ts";
import { type Ngircd, startNgircd } from "../support/ngircd.ts";

let server: Ngircd;
beforeAll(async () => {
	server = await startNgircd();
});
afterAll(() => server.remove());

test("a private message comes in and is answered", async () => {
	const channel = createIrcChannel({
		name: "irc",
		server: { host: "127.0.0.1", port: server.port, tls: false },
		nick: "keryx",
		secrets: async () => ({ keys: new Map() }),
		join: [],
		clock: systemClock,
		log: () => {},
	});
	const host = new TakingHost();
	await channel.start(host);
	while (channel.health().state !== "connected") await turnOfTheLoop();
	const ada = await IrcPerson.connect({ port: server.port, nick: "ada" });
	ada.say("keryx", "hello");
	await ada.until(() => host.taken.length === 1);
	expect(host.taken[0]).toMatchObject({
		content: "hello",
		source: { platform: "irc", chat_type: "dm", chat_id: "ada!~ada@127.0.0.1", user_name: "ada" },
	});
	const outgoing = {
		id: "d1",
		destination: { platform: "irc", account: "", chatId: "ada!~ada@127.0.0.1" },
		body: { text: "hi", plain: "hi" },
		plain: false,
	} as unknown as Outgoing;
	expect(await channel.send(outgoing)).toMatchObject({ kind: "sent" });
	await ada.sync();
	expect(ada.lines("keryx")).toEqual(["hi"]);
	await channel.stop();
	ada.leave();
});
