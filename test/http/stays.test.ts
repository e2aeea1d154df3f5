// What stays open ends with the token or the login it was opened with: streams, and calls that wait for something.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBridgeChannel } from "../../src/channels/bridge/index.ts";
import { KeryxError } from "../../src/errors.ts";
import type { ChannelHost, ChannelTraits } from "../../src/gateway/index.ts";
import { Access } from "../../src/http/entry/auth.ts";
import { type ApiHost, createApi } from "../../src/http/index.ts";
import type { Cluster } from "../../src/store/index.ts";
import { createVirtualClock } from "../../src/testing/index.ts";
import { until } from "../support/until.ts";
import { onPort, type Ported } from "./port.ts";
import { SECRET } from "./support.ts";

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 2, 10);
const PORT = { kind: "port", host: "127.0.0.1", port: 7717, remote: "127.0.0.1" } as const;
let keryx: Ported;

/** Only what the tests arm runs on it: days pass in no time. */
const handClock = () => createVirtualClock(START);

beforeEach(async () => {
	keryx = await onPort();
});
afterEach(() => keryx.close());

function apiWith(more: Partial<ApiHost>) {
	const { store, confirmations } = keryx;
	const api = createApi({
		store,
		gateway: null,
		confirmations,
		operatorSecret: SECRET,
		version: "0.0.0",
		agent: "none",
		startedAt: START,
		now: keryx.clock.now,
		...more,
	});
	return (method: string, path: string, bearer: string, body?: object) =>
		api.fetch(
			new Request(`http://keryx${path}`, {
				method,
				headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
				...(body && { body: JSON.stringify(body) }),
			}),
		);
}

test("a stream ends when its token expires", async () => {
	const clock = handClock();
	const ask = apiWith({ now: clock.now, after: clock.after });
	const made = await ask("POST", "/api/tokens", SECRET, { name: "for-a-day", role: "reader", days: 1 });
	const { token } = (await made.json()) as { token: string };
	const response = await ask("GET", "/events", token);
	const reader = response.body?.getReader();
	expect((await reader?.read())?.done).toBe(false);
	clock.pass(DAY_MS);
	for (let frame = await reader?.read(); frame && !frame.done; frame = await reader?.read());
	expect((await ask("GET", "/events", token)).status).toBe(401);
});

test("a page's stay ends with its login, and not before", async () => {
	const clock = handClock();
	const access = new Access({ store: keryx.store, operatorSecret: SECRET, ...clock });
	const path = await access.offerLogin({ name: "ana", role: "member" }, { who: "operator", via: "api" });
	const { secret, key } = await access.login(path.slice("/login?code=".length), PORT);
	const shown = { authorization: undefined, cookie: secret, pageKey: key, via: undefined };
	const stay = (await access.visitor(shown, PORT))?.stay;
	clock.pass(30 * DAY_MS - 1);
	expect(stay?.aborted).toBe(false);
	clock.pass(1);
	expect(stay?.aborted).toBe(true);
	expect(await access.visitor(shown, PORT)).toBe(null);
});

test("at a gateway that is cut off from the store nobody stays: what others revoke would not be heard", async () => {
	const listeners: ((holds: boolean) => void)[] = [];
	const cluster = {
		...keryx.store.cluster,
		onCommitElsewhere: () => () => {},
		onLease: (listener: (holds: boolean) => void) => {
			listeners.push(listener);
			return () => {};
		},
	} as unknown as Cluster;
	const access = new Access({ store: { ...keryx.store, cluster }, operatorSecret: SECRET, ...handClock() });
	const made = await access.createToken({ name: "cut", role: "reader" }, { who: "operator", via: "api" });
	const shown = {
		authorization: `Bearer ${made.secret}`,
		cookie: undefined,
		pageKey: undefined,
		via: undefined,
	};
	const stay = (await access.visitor(shown, PORT))?.stay;
	for (const listener of listeners) listener(true);
	expect(stay?.aborted).toBe(false);
	for (const listener of listeners) listener(false);
	expect(stay?.aborted).toBe(true);
	expect((await access.visitor(shown, PORT))?.stay.aborted).toBe(false);
});

test("a login that was revoked ends, also where the store failed to say so", async () => {
	const clock = handClock();
	const { store } = keryx;
	const failing = {
		...store,
		revokeLogins: async (args: Parameters<typeof store.revokeLogins>[0]) => {
			await store.revokeLogins(args);
			throw new KeryxError("store.io", "no answer came");
		},
	};
	const access = new Access({ store: failing, operatorSecret: SECRET, ...clock });
	const by = { who: "operator", via: "api" } as const;
	const path = await access.offerLogin({ name: "ana", role: "member" }, by);
	const { secret, key } = await access.login(path.slice("/login?code=".length), PORT);
	const shown = { authorization: undefined, cookie: secret, pageKey: key, via: undefined };
	const stay = (await access.visitor(shown, PORT))?.stay;
	await expect(access.revokeLogins({ person: "ana" }, by)).rejects.toThrow("no answer came");
	expect(await access.visitor(shown, PORT)).toBe(null);
	clock.pass(1000);
	await expect.poll(() => stay?.aborted).toBe(true);
});

test("a bridge that waits for work is sent away when its token is revoked, and takes nothing along", async () => {
	const channel = createBridgeChannel({
		name: "carrier",
		platform: "carrier",
		account: "",
		traits: { shows: {} } as ChannelTraits,
		decides: false,
		clock: keryx.clock,
	});
	await channel.start({} as ChannelHost);
	const ask = apiWith({ bridge: () => channel.bridge ?? null });
	const made = await ask("POST", "/api/tokens", SECRET, { name: "b", role: "channel", channel: "carrier" });
	const { token } = (await made.json()) as { token: string };
	const waits = ask("GET", "/api/bridges/carrier/work?wait=60", token);
	await until(() => channel.health().state === "connected");
	await ask("POST", "/api/tokens/b/revoke", SECRET, {});
	expect(await (await waits).json()).toEqual({ work: [] });
	expect((await ask("GET", "/api/bridges/carrier/work?wait=0", token)).status).toBe(401);
	await channel.stop();
});

test("a token that is revoked while it is looked up is no token", async () => {
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	let found = () => {};
	const wasFound = new Promise<void>((resolve) => {
		found = resolve;
	});
	let isHeld = true;
	const { store, clock } = keryx;
	const access = new Access({
		store: {
			...store,
			tokenByDigest: async (args) => {
				const token = await store.tokenByDigest(args);
				found();
				if (isHeld) await held;
				return token;
			},
		},
		operatorSecret: SECRET,
		now: clock.now,
		after: clock.after,
	});
	const by = { who: "operator", via: "api" } as const;
	const { secret } = await access.createToken({ name: "brief", role: "reader" }, by);
	const credentials = {
		authorization: `Bearer ${secret}`,
		cookie: undefined,
		pageKey: undefined,
		via: undefined,
	};
	const visitor = access.visitor(credentials, { kind: "socket" });
	await wasFound;
	await access.revokeToken("brief", by);
	isHeld = false;
	release();
	expect(await visitor).toBe(null);
});
