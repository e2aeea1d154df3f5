// Strangers who asked for access, and the owner's decisions.
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../errors.ts";
import type { Pairing, PairingDecision, PairingRef } from "../store/index.ts";
import { type HandlersOf, operator } from "./call.ts";
import { endpoint } from "./endpoint.ts";
import { time } from "./schemas.ts";
import { iso, isoOrNull } from "./wire.ts";

const role = z.enum(["owner", "member", "guest"]);

const pairing = z
	.object({
		n: z.int(),
		platform: z.string(),
		account: z.string(),
		id: z.string().openapi({ description: "the sender's id on the platform" }),
		name: z.string().nullable().openapi({ description: "the name the sender uses" }),
		state: z.enum(["open", "approved", "denied", "expired", "revoked"]),
		role: role.nullable(),
		principal: z.string().nullable(),
		asked_at: time,
		expires_at: time.openapi({ description: "of the code" }),
		decided_at: time.nullable(),
		decided_by: z.string().nullable(),
	})
	.openapi("Pairing");

const which = {
	n: z.int().min(1).optional().openapi({ description: "of the list; or platform and code" }),
	platform: z.string().min(1).max(64).optional(),
	code: z.string().min(1).max(64).optional().openapi({ description: "as the person was sent it" }),
};

export const pairingEndpoints = {
	pairings: endpoint("get", "/api/pairings", {
		about: "open requests and people who were let in, newest first",
		answer: z.object({ pairings: z.array(pairing) }),
	}),
	approvePairing: endpoint("post", "/api/pairings/approve", {
		about: "let a person in and tell them",
		body: { ...which, role: role.default("member") },
		answer: pairing,
	}),
	denyPairing: endpoint("post", "/api/pairings/deny", {
		about: "refuse a request, or remove someone who was let in",
		body: which,
		answer: pairing,
	}),
} as const;

export const pairingHandlers: HandlersOf<typeof pairingEndpoints> = {
	pairings: async (_input, { host: { store, now }, scope }) => ({
		pairings: (await store.pairings({ scope: operator(scope), now: now() })).map(toWirePairing),
	}),
	approvePairing: async (input, { host: { store }, visitor: { who: by, via } }) => {
		const { LET_IN: welcome } = await gateway();
		const which = await refOf(input);
		return decided(await store.approvePairing({ which, role: input.role, welcome, by, via }));
	},
	denyPairing: async (input, { host: { store }, visitor: { who: by, via } }) =>
		decided(await store.denyPairing({ which: await refOf(input), by, via })),
};

/** On demand: clients also load this file, for its schemas. */
function gateway() {
	return import("../gateway/index.ts");
}

async function refOf({
	n,
	platform,
	code,
}: {
	readonly n?: number | undefined;
	readonly platform?: string | undefined;
	readonly code?: string | undefined;
}): Promise<PairingRef> {
	if (n !== undefined) return { n, ...(platform !== undefined && { platform }) };
	if (platform !== undefined && code !== undefined)
		return { platform, digest: (await gateway()).codeDigest(platform, code) };
	throw new KeryxError("argument.invalid", "n is required, or platform and code", { field: "n" });
}

function decided(decision: PairingDecision) {
	if (decision.kind === "done") return toWirePairing(decision.pairing);
	if (decision.kind === "wrong")
		throw new KeryxError(
			"pairing.wrong",
			`no open request has this code; after ${decision.left} more wrong ones, codes are refused for an hour`,
			{ field: "code" },
		);
	throw new KeryxError(
		"pairing.locked",
		`too many wrong codes: codes are refused until ${new Date(decision.until).toISOString()}`,
		{ field: "code" },
	);
}

function toWirePairing(one: Pairing): z.output<typeof pairing> {
	return {
		n: one.n,
		platform: one.platform,
		account: one.account,
		id: one.id,
		name: one.name,
		state: one.state,
		role: one.role,
		principal: one.principal,
		asked_at: iso(one.askedAt),
		expires_at: iso(one.expiresAt),
		decided_at: isoOrNull(one.decidedAt),
		decided_by: one.decidedBy,
	};
}
