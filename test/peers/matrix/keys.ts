// Device keys, one-time keys and messages from device to device.
import { Refusal } from "./errors.ts";
import type { Session, World } from "./world.ts";

type Json = Readonly<Record<string, unknown>>;

interface Device {
	keys: Record<string, unknown> | null;
	readonly oneTime: Map<string, unknown>;
	fallback: { readonly id: string; readonly key: unknown; isUsed: boolean } | null;
	readonly inbox: { readonly at: number; readonly event: Json }[];
}

export class Keys {
	readonly #world: World;
	readonly #devices = new Map<string, Device>();
	/** Of each user: master, self_signing and user_signing keys. */
	readonly #identities = new Map<string, Record<string, Record<string, unknown>>>();
	/** When the devices of a user last changed. */
	readonly #changed = new Map<string, number>();

	constructor(world: World) {
		this.#world = world;
	}

	upload({ user, device }: Session, body: Json): Json {
		const of = this.#device(user.id, device);
		if (body.device_keys) {
			of.keys = { ...(body.device_keys as Record<string, unknown>) };
			this.#touch(user.id);
		}
		for (const [id, key] of Object.entries((body.one_time_keys ?? {}) as Json)) {
			const known = of.oneTime.get(id);
			if (known !== undefined && JSON.stringify(known) !== JSON.stringify(key))
				throw new Refusal(400, "M_UNKNOWN", `One time key ${id} already exists`);
			of.oneTime.set(id, key);
		}
		for (const [id, key] of Object.entries((body.fallback_keys ?? {}) as Json))
			of.fallback = { id, key, isUsed: false };
		return { one_time_key_counts: this.counts(user.id, device) };
	}

	counts(user: string, device: string): Record<string, number> {
		return { signed_curve25519: this.#device(user, device).oneTime.size };
	}

	unusedFallback(user: string, device: string): readonly string[] {
		const { fallback } = this.#device(user, device);
		return fallback && !fallback.isUsed ? ["signed_curve25519"] : [];
	}

	query(body: Json): Json {
		const wanted = Object.entries((body.device_keys ?? {}) as Record<string, readonly string[]>);
		const identity = (kind: string) =>
			Object.fromEntries(
				wanted.flatMap(([user]) => {
					const key = this.#identities.get(user)?.[kind];
					return key ? [[user, key]] : [];
				}),
			);
		return {
			failures: {},
			device_keys: Object.fromEntries(
				wanted.map(([user, devices]) => [
					user,
					Object.fromEntries(
						[...this.#devices].flatMap(([name, { keys }]) => {
							const [of, id = ""] = name.split(" ");
							return of === user && keys && (devices.length === 0 || devices.includes(id))
								? [[id, keys]]
								: [];
						}),
					),
				]),
			),
			master_keys: identity("master_key"),
			self_signing_keys: identity("self_signing_key"),
			user_signing_keys: identity("user_signing_key"),
		};
	}

	claim(body: Json): Json {
		const one_time_keys: Record<string, Record<string, unknown>> = {};
		for (const [user, devices] of Object.entries((body.one_time_keys ?? {}) as Record<string, Json>))
			for (const device of Object.keys(devices)) {
				const of = this.#devices.get(`${user} ${device}`);
				const [first] = of?.oneTime ?? [];
				const given = first
					? { [first[0]]: first[1] }
					: of?.fallback
						? { [of.fallback.id]: of.fallback.key }
						: null;
				if (!of || !given) continue;
				if (first) of.oneTime.delete(first[0]);
				else if (of.fallback) of.fallback.isUsed = true;
				one_time_keys[user] = { ...one_time_keys[user], [device]: given };
			}
		return { failures: {}, one_time_keys };
	}

	sign(body: Json): Json {
		for (const [user, signed] of Object.entries(body as Record<string, Json>)) {
			for (const [id, object] of Object.entries(signed)) {
				const { signatures } = object as { readonly signatures?: unknown };
				const keys = this.#devices.get(`${user} ${id}`)?.keys;
				if (keys) keys.signatures = merged(keys.signatures, signatures);
				for (const key of Object.values(this.#identities.get(user) ?? {}))
					if (Object.keys((key.keys ?? {}) as Json).some((name) => name.endsWith(`:${id}`)))
						key.signatures = merged(key.signatures, signatures);
			}
			this.#touch(user);
		}
		return { failures: {} };
	}

	/** A second identity needs the password, as on the real server. */
	identity({ user }: Session, body: Json): Json {
		if (this.#identities.has(user.id))
			throw new Refusal(401, "M_FORBIDDEN", "Log in again to change your keys");
		this.#identities.set(user.id, { ...(body as Record<string, Record<string, unknown>>) });
		this.#touch(user.id);
		return {};
	}

	send({ user }: Session, type: string, body: Json): void {
		for (const [to, devices] of Object.entries((body.messages ?? {}) as Record<string, Json>))
			for (const [device, content] of Object.entries(devices)) {
				const all = [...this.#devices.keys()].filter((name) => name.startsWith(`${to} `));
				for (const name of device === "*" ? all : [`${to} ${device}`])
					this.#deviceNamed(name).inbox.push({
						at: this.#world.step(),
						event: { type, sender: user.id, content: content as Json },
					});
			}
		this.#world.changed();
	}

	/** Those after the place; those before it are forgotten, because a client that asks from there has them. */
	inbox(user: string, device: string, since: number): readonly Json[] {
		const { inbox } = this.#device(user, device);
		while ((inbox[0]?.at ?? Number.POSITIVE_INFINITY) <= since) inbox.shift();
		return inbox.map(({ event }) => event);
	}

	changedSince(users: readonly string[], since: number): string[] {
		return users.filter((user) => (this.#changed.get(user) ?? 0) > since);
	}

	#touch(user: string): void {
		this.#changed.set(user, this.#world.step());
		this.#world.changed();
	}

	#device(user: string, device: string): Device {
		return this.#deviceNamed(`${user} ${device}`);
	}

	#deviceNamed(name: string): Device {
		const known = this.#devices.get(name) ?? { keys: null, oneTime: new Map(), fallback: null, inbox: [] };
		this.#devices.set(name, known);
		return known;
	}
}

function merged(before: unknown, more: unknown): Json {
	const whole: Record<string, Json> = { ...((before ?? {}) as Record<string, Json>) };
	for (const [user, signatures] of Object.entries((more ?? {}) as Record<string, Json>))
		whole[user] = { ...whole[user], ...signatures };
	return whole;
}
