// XMPP keeps the promises of every channel, on a real Prosody and through a proxy that cuts the line.
import { afterAll, beforeAll, describe, test } from "vitest";
import { testChannel } from "../../src/testing/index.ts";
import { type Prosody, startProsody } from "../support/prosody.ts";
import { xmppPeer } from "./xmpp-scene.ts";

let server: Prosody;
beforeAll(async () => {
	server = await startProsody();
});
afterAll(() => server.remove());

testChannel("xmpp", () => xmppPeer(server), { describe, test });
