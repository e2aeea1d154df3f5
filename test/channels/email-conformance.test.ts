// E-mail keeps the promises of every channel, on a real Dovecot and through a proxy that cuts the line.
import { afterAll, beforeAll, describe, test } from "vitest";
import { testChannel } from "../../src/testing/index.ts";
import { type Dovecot, startDovecot } from "../support/dovecot.ts";
import { openPostOffice, type PostOffice } from "../support/post-office.ts";
import { emailPeer } from "./email-scene.ts";

let dovecot: Dovecot;
let office: PostOffice;
beforeAll(async () => {
	dovecot = await startDovecot();
	office = await openPostOffice(dovecot, { keepsSent: true });
});
afterAll(async () => {
	await office.close();
	await dovecot.remove();
});

testChannel("email", () => emailPeer(office), { describe, test });
