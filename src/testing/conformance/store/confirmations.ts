// Confirmations, grants, tokens and the audit, on every engine (I14).
import { expect } from "vitest";
import type { ConfirmationRequest, Store } from "../../../store/index.ts";
import { OPERATOR, refusal, type Scene, type Tell } from "./scene.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 3_600_000;
let drawn = 0;

function request(changes: Partial<ConfirmationRequest> = {}): ConfirmationRequest {
	return {
		id: `c${String(drawn++).padStart(11, "0")}`,
		action: "deploy",
		description: "ship it",
		details: { version: 2 },
		digest: "d".repeat(64),
		requester: "agent",
		sessionKey: "",
		timeoutSeconds: 300,
		askedBy: "token:robot",
		via: "api",
		limits: { perAction: 10, inAll: 1000, windowMs: HOUR },
		once: false,
		grantable: true,
		useWithinMs: 900_000,
		notices: { deliveries: [], webhooks: [] },
		...changes,
	};
}

async function asked(store: Store, changes: Partial<ConfirmationRequest> = {}): Promise<string> {
	const answer = await store.requestConfirmation(request(changes));
	if (!("confirmation" in answer)) throw new Error(`it was ${answer.kind}`);
	return answer.confirmation.id;
}

const resolve = (store: Store, id: string, decision: "approved" | "denied" = "approved", by = "operator") =>
	store.resolveConfirmation({ id, decision, by, via: "cli", useWithinMs: 900_000 });

const statusOf = async ({ store, clock }: Scene, id: string) =>
	(await store.confirmation({ scope: OPERATOR, id, now: clock.now() })).status;

const kinds = async (store: Store) =>
	(await store.auditLog({ scope: OPERATOR, limit: 100 })).map(({ kind }) => kind);

export function confirmationConformance(tell: Tell): void {
	tell("of two decisions one wins, the other learns which, and the audit has one", async (scene) => {
		const { store } = scene;
		const id = await asked(store);
		const [first, second] = await Promise.all([
			resolve(store, id),
			resolve(store, id, "denied", "token:eve"),
		]);
		expect(first.kind).toBe("resolved");
		expect(second).toEqual({ kind: "settled", status: "approved", woken: null });
		expect(await kinds(store)).toEqual(["requested", "approved"]);
	});

	tell("who asked cannot resolve, and nobody else can use or cancel", async ({ store }) => {
		const id = await asked(store);
		expect(await refusal(resolve(store, id, "approved", "token:robot"))).toBe("confirmation.refused");
		const other = { by: "token:other", via: "api" } as const;
		expect(await refusal(store.cancelConfirmation({ id, ...other }))).toBe("store.not_found");
		await resolve(store, id);
		expect(await refusal(store.consumeConfirmation({ id, digest: "d".repeat(64), ...other }))).toBe(
			"store.not_found",
		);
	});

	tell("an approval is used once, with the digest that was approved, before it is too old", async (scene) => {
		const { store, clock } = scene;
		const own = { by: "token:robot", via: "api" } as const;
		const id = await asked(store);
		expect(await store.consumeConfirmation({ id, digest: "d".repeat(64), ...own })).toEqual({
			kind: "settled",
			status: "pending",
		});
		await resolve(store, id);
		expect(await store.consumeConfirmation({ id, digest: "e".repeat(64), ...own })).toMatchObject({
			kind: "other_digest",
		});
		expect(await store.consumeConfirmation({ id, digest: "d".repeat(64), ...own })).toMatchObject({
			kind: "consumed",
		});
		expect(await store.consumeConfirmation({ id, digest: "d".repeat(64), ...own })).toEqual({
			kind: "settled",
			status: "consumed",
		});
		const late = await asked(store);
		await resolve(store, late);
		clock.advance(900_000);
		expect(await statusOf(scene, late)).toBe("expired");
		expect(await store.consumeConfirmation({ id: late, digest: "d".repeat(64), ...own })).toEqual({
			kind: "settled",
			status: "expired",
		});
	});

	tell("the deadline decides at the resolution, whether or not anybody has looked before", async (scene) => {
		const { store, clock } = scene;
		const id = await asked(store, { timeoutSeconds: 30 });
		clock.advance(30 * SECOND - 1);
		expect(await statusOf(scene, id)).toBe("pending");
		clock.advance(1);
		expect(await statusOf(scene, id)).toBe("expired");
		expect(await resolve(store, id)).toMatchObject({ kind: "settled", status: "expired" });
		expect(await store.expireConfirmations({ limit: 10 })).toEqual({ expired: 0, woken: [] });
		expect(await kinds(store)).toEqual(["requested", "expired"]);
	});

	tell("pages by status, newest first, and shows an asker only its own", async ({ store, clock }) => {
		const ids = [await asked(store), await asked(store, { askedBy: "token:other" }), await asked(store)];
		const list = async (scope: Parameters<Store["confirmations"]>[0]["scope"], rest: object = {}) =>
			(await store.confirmations({ scope, now: clock.now(), limit: 10, ...rest })).map(({ id }) => id);
		expect(await list(OPERATOR)).toEqual(ids.toReversed());
		expect(await list({ kind: "asker", askedBy: "token:other" })).toEqual([ids[1]]);
		expect(await list(OPERATOR, { before: ids[2], limit: 1 })).toEqual([ids[1]]);
		const other = { kind: "asker", askedBy: "token:other" } as const;
		const unknown = { kind: "principal", principal: "nobody", profile: "" } as const;
		for (const before of [ids[0], ids[2], "unknown"]) {
			expect(await list(other, { before })).toEqual([ids[1]]);
			expect(await list(unknown, { before })).toEqual([]);
		}
		await resolve(store, ids[0] as string);
		expect(await list(OPERATOR, { status: "pending" })).toEqual([ids[2], ids[1]]);
		expect(await list(OPERATOR, { status: "approved" })).toEqual([ids[0]]);
		clock.advance(HOUR);
		expect(await list(OPERATOR, { status: "expired" })).toEqual(ids.toReversed());
		expect(
			await refusal(
				store.confirmation({ scope: { kind: "asker", askedBy: "x" }, id: ids[0] as string, now: 0 }),
			),
		).toBe("store.not_found");
	});

	tell(
		"the same idempotency key is answered with the first; with other arguments it is refused",
		async ({ store }) => {
			const first = await asked(store, { idempotencyKey: "k" });
			expect(await asked(store, { idempotencyKey: "k" })).toBe(first);
			expect(
				await store.requestConfirmation(request({ idempotencyKey: "k", digest: "f".repeat(64) })),
			).toMatchObject({ kind: "conflict" });
			expect(await asked(store, { idempotencyKey: "k", askedBy: "token:other" })).not.toBe(first);
		},
	);

	tell(
		"the limit slides, is counted by caller and action, and says when there is room again",
		async ({ store, clock }) => {
			const limits = { perAction: 2, inAll: 4, windowMs: HOUR };
			await asked(store, { limits });
			clock.advance(10 * SECOND);
			await asked(store, { limits });
			expect(await store.requestConfirmation(request({ limits }))).toEqual({
				kind: "limited",
				remaining: 0,
				windowMs: HOUR,
				retryAfterMs: HOUR - 10 * SECOND,
			});
			await asked(store, { limits, action: "other" });
			await asked(store, { limits, askedBy: "token:other" });
			expect((await store.requestConfirmation(request({ limits, askedBy: "token:third" }))).kind).toBe(
				"limited",
			);
			clock.advance(HOUR - 10 * SECOND);
			await asked(store, { limits });
		},
	);

	tell(
		"the limit for all counts requests of before a clock was set back, once the clock reaches them",
		async ({ store, clock }) => {
			const limits = { perAction: 10, inAll: 3, windowMs: HOUR };
			const next = async () => (await store.requestConfirmation(request({ limits }))).kind;
			expect([await next(), await next()]).toEqual(["pending", "pending"]);
			clock.advance(-HOUR / 2);
			expect([await next(), await next()]).toEqual(["pending", "pending"]);
			clock.advance(HOUR / 2);
			expect(await next()).toBe("limited");
			clock.advance(HOUR / 2);
			expect([await next(), await next()]).toEqual(["pending", "limited"]);
		},
	);

	tell(
		"the limit for all counts requests that had left the hour before a clock was set back",
		async (scene) => {
			const { store, clock } = scene;
			const limits = { perAction: 10, inAll: 3, windowMs: HOUR };
			const next = async () => (await store.requestConfirmation(request({ limits }))).kind;
			expect([await next(), await next(), await next()]).toEqual(["pending", "pending", "pending"]);
			clock.advance(2 * HOUR);
			expect(await next()).toBe("pending");
			clock.advance(-1.5 * HOUR);
			expect(await next()).toBe("limited");
		},
	);

	tell(
		"a clock that was set back neither uses up the limit nor holds back a webhook",
		async ({ store, clock }) => {
			const limits = { perAction: 1, inAll: 4, windowMs: HOUR };
			const notices = { deliveries: [], webhooks: ["https://example.org"] };
			const id = await asked(store, { limits, notices });
			const due = async () => {
				const now = clock.now();
				const latest = now + 5 * MINUTE;
				return (await store.dueConfirmationNotices({ scope: OPERATOR, now, latest, limit: 10 })).length;
			};
			await store.settleConfirmationNotice({
				id,
				target: "https://example.org",
				as: { kind: "retry", reason: "it answered 500" },
				dueAt: clock.now() + MINUTE,
			});
			expect(await due()).toBe(0);
			clock.advance(-HOUR);
			expect(await due()).toBe(1);
			await asked(store, { limits });
			expect((await store.requestConfirmation(request({ limits }))).kind).toBe("limited");
		},
	);

	tell(
		"a grant covers what it names, for whom it was given, until it ends or is revoked",
		async ({ store, clock }) => {
			const id = await asked(store, { sessionKey: "k" });
			await store.resolveConfirmation({
				id,
				decision: "approved",
				by: "operator",
				via: "cli",
				grant: { scope: "conversation", until: clock.now() + HOUR },
				useWithinMs: 1000,
			});
			const again = async (changes: Partial<ConfirmationRequest>) =>
				(await store.requestConfirmation(request({ sessionKey: "k", ...changes }))).kind;
			expect(await again({})).toBe("auto_approved");
			expect(await again({ sessionKey: "other" })).toBe("pending");
			expect(await again({ askedBy: "token:other" })).toBe("pending");
			expect(await again({ action: "other" })).toBe("pending");
			expect(await again({ grantable: false })).toBe("pending");
			clock.advance(HOUR);
			expect(await again({})).toBe("pending");
			const always = await store.addGrant({
				scope: "always",
				action: "other",
				pattern: '{"version":"*"}',
				by: "operator",
				via: "cli",
			});
			expect(await again({ action: "other", askedBy: "token:anybody" })).toBe("auto_approved");
			expect(await again({ action: "other", details: { rm: 1 } })).toBe("pending");
			expect(await store.revokeGrant({ id: always.id, by: "operator", via: "cli" })).toBe(true);
			expect(await store.revokeGrant({ id: always.id, by: "operator", via: "cli" })).toBe(false);
			expect(await again({ action: "other", askedBy: "token:anybody" })).toBe("pending");
		},
	);

	tell("refused attempts are recorded, so many an hour, and the chain verifies", async ({ store, clock }) => {
		for (let n = 0; n < 120; n++)
			await store.auditRefusal({ who: "token:eve", via: "api", attempt: "resolve", reason: "its role" });
		await store.auditRefusal({ who: "token:bob", via: "api", attempt: "resolve", reason: "its role" });
		const entries = await store.auditLog({ scope: OPERATOR, limit: 500 });
		expect(entries.filter(({ who }) => who === "token:eve")).toHaveLength(100);
		expect(entries[99]?.facts).toHaveProperty("last");
		clock.advance(HOUR);
		await store.auditRefusal({ who: "token:eve", via: "api", attempt: "resolve", reason: "its role" });
		const verified = await store.verifyAudit({ scope: OPERATOR });
		expect(verified).toMatchObject({ count: 102, bad: null });
		expect((await store.auditLog({ scope: OPERATOR, after: 101, limit: 9 })).map(({ mac }) => mac)).toEqual([
			verified.head,
		]);
	});

	tell(
		"a token is found by its digest until it is revoked or has expired, and its name is never given again",
		async ({ store, clock }) => {
			const make = (name: string, expiresAt?: number) =>
				store.createToken({
					name,
					digest: name.repeat(4),
					role: "agent",
					by: "operator",
					via: "cli",
					...(expiresAt !== undefined && { expiresAt }),
				});
			await make("one");
			await make("two", clock.now() + HOUR);
			const find = (name: string) =>
				store.tokenByDigest({ scope: OPERATOR, digest: name.repeat(4), now: clock.now() });
			expect((await find("one"))?.role).toBe("agent");
			expect(await refusal(make("one"))).toBe("token.taken");
			expect(await store.revokeToken({ name: "one", by: "operator", via: "cli" })).toBe(true);
			expect(await find("one")).toBeNull();
			expect(await refusal(make("one"))).toBe("token.taken");
			expect(await find("two")).not.toBeNull();
			clock.advance(HOUR);
			expect(await find("two")).toBeNull();
			expect(await find("three")).toBeNull();
		},
	);

	tell("a person has one role in all their logins, and is logged out at once", async ({ store, clock }) => {
		const by = { by: "operator", via: "cli" } as const;
		const { round } = await store.offerLogin({ name: "ana", role: "member", ...by });
		const make = (id: string, at = round) =>
			store.makeLogin({ id, digest: id.repeat(4), person: "ana", round: at, expiresAt: clock.now() + HOUR });
		const find = (id: string) =>
			store.loginByDigest({ scope: OPERATOR, digest: id.repeat(4), now: clock.now() });
		await make("one");
		await make("two");
		expect(await refusal(make("one"))).toBe("http.login");
		expect((await find("one"))?.person).toEqual({ name: "ana", role: "member" });
		await store.offerLogin({ name: "ana", role: "guest", ...by });
		expect((await find("two"))?.person.role).toBe("guest");
		expect((await find("two"))?.principal).toBe((await find("one"))?.principal);
		expect(await store.revokeLogins({ id: "one", ...by })).toEqual({ person: "ana", ended: ["one"] });
		expect([await find("one"), (await find("two"))?.id]).toEqual([null, "two"]);
		expect(await store.revokeLogins({ person: "ana", ...by })).toEqual({ person: "ana", ended: ["two"] });
		expect(await find("two")).toBeNull();
		expect(await refusal(make("three"))).toBe("http.login");
		const again = await store.offerLogin({ name: "ana", role: "member", ...by });
		expect(await refusal(make("three"))).toBe("http.login");
		await make("four", again.round);
		clock.advance(HOUR);
		expect(await find("four")).toBeNull();
		expect(await refusal(store.revokeLogins({ person: "bob", ...by }))).toBe("store.not_found");
		expect((await store.logins({ scope: OPERATOR, limit: 9 })).map(({ id }) => id).toSorted()).toEqual([
			"four",
			"one",
			"two",
		]);
	});
}
