// Adding a Matrix channel: a password becomes a token, a token is tried, and nothing is written that the homeserver does not accept.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addChannel, testChannel } from "../../src/app/setup/channel-setup.ts";
import { createMatrixPeer, type MatrixPeer } from "../peers/matrix/index.ts";

let home: string;
let peer: MatrixPeer;
beforeEach(async () => {
	home = mkdtempSync(join(tmpdir(), "keryx-matrix-"));
	peer = await createMatrixPeer();
});
afterEach(async () => {
	await peer.close();
	rmSync(home, { recursive: true });
});

const place = () => ({ home, env: {}, secrets: { learn: () => {} } });
const config = () => readFileSync(join(home, "config.yaml"), "utf8");

test("a user and a password: it logs in once, keeps the token in a key file and the password nowhere", async () => {
	const network = { homeserver: peer.url, user: "keryx" };
	const added = await addChannel({ platform: "matrix", token: { value: "pw-Keryx" }, network }, place());
	expect(added).toEqual({ name: "matrix", who: peer.bot.id, remarks: [] });
	const token = readFileSync(join(home, "keys/matrix.token"), "utf8").trim();
	expect(peer.world.sessions.get(token)?.user).toBe(peer.bot);
	expect(config()).toContain("token_file: keys/matrix.token");
	expect(config() + token).not.toContain("pw-Keryx");
	expect(await testChannel("matrix", place())).toMatchObject({ who: peer.bot.id });
});

test("an access token alone is tried as it is", async () => {
	const { token } = peer.session();
	await addChannel(
		{ platform: "matrix", token: { value: token }, network: { homeserver: peer.url } },
		place(),
	);
	expect(readFileSync(join(home, "keys/matrix.token"), "utf8").trim()).toBe(token);
});

test.each([
	["a wrong password", { user: "keryx" }, "does not accept the user and the password"],
	["an unknown token", {}, "does not accept the access token"],
])("%s is refused, and nothing is written", async (_, more, reason) => {
	const network = { homeserver: peer.url, ...more };
	const adding = addChannel({ platform: "matrix", token: { value: "wrong" }, network }, place());
	await expect(adding).rejects.toMatchObject({
		code: "channel.refused",
		message: expect.stringContaining(reason),
	});
	expect(existsSync(join(home, "config.yaml"))).toBe(false);
	expect(existsSync(join(home, "keys/matrix.token"))).toBe(false);
});

test("without a homeserver, or with one that is no address, it says what is missing", async () => {
	const token = { value: "t" };
	await expect(addChannel({ platform: "matrix", token, network: {} }, place())).rejects.toMatchObject({
		message: "Matrix needs homeserver",
	});
	await expect(
		addChannel({ platform: "matrix", token, network: { homeserver: "example.org" } }, place()),
	).rejects.toMatchObject({ code: "config.invalid" });
});
