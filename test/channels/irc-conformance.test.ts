// IRC keeps the promises of every channel, on a real ngircd and through a proxy that cuts the line.
import { afterAll, beforeAll, describe, test } from "vitest";
import { testChannel } from "../../src/testing/index.ts";
import { type Ngircd, startNgircd } from "../support/ngircd.ts";
import { ircPeer } from "./irc-scene.ts";

let server: Ngircd;
beforeAll(async () => {
	server = await startNgircd({ password: "open sesame" });
});
afterAll(() => server.remove());

testChannel("irc", () => ircPeer({ port: server.port, password: "open sesame" }), { describe, test });
