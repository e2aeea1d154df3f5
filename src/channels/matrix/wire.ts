// What the server sends, read field by field. An event that cannot be read is left out: the next one must not wait for it.
import { z } from "zod";

const eventSchema = z.looseObject({
	type: z.string(),
	event_id: z.string().default(""),
	sender: z.string().default(""),
	origin_server_ts: z.number().default(0),
	content: z.record(z.string(), z.unknown()),
	state_key: z.string().optional(),
	/** In rooms of older versions, which event a redaction is about. */
	redacts: z.string().optional(),
	unsigned: z
		.looseObject({
			transaction_id: z.string().optional(),
			prev_content: z.record(z.string(), z.unknown()).optional(),
		})
		.optional(),
});

export type MatrixEvent = z.output<typeof eventSchema>;

const events = z.looseObject({ events: z.array(z.unknown()).default([]) }).prefault({});

const syncSchema = z.looseObject({
	next_batch: z.string(),
	rooms: z
		.looseObject({
			join: z
				.record(
					z.string(),
					z.looseObject({
						state: events,
						timeline: z
							.looseObject({
								events: z.array(z.unknown()).default([]),
								limited: z.boolean().default(false),
								prev_batch: z.string().optional(),
							})
							.prefault({}),
					}),
				)
				.default({}),
			invite: z.record(z.string(), z.looseObject({ invite_state: events })).default({}),
			leave: z.record(z.string(), z.looseObject({ timeline: events })).default({}),
		})
		.prefault({}),
	account_data: events,
	to_device: events,
	device_lists: z
		.looseObject({ changed: z.array(z.string()).default([]), left: z.array(z.string()).default([]) })
		.prefault({}),
	device_one_time_keys_count: z.record(z.string(), z.number()).default({}),
	device_unused_fallback_key_types: z.array(z.string()).optional(),
});

export type SyncAnswer = z.output<typeof syncSchema>;

export const whoamiSchema = z.looseObject({ user_id: z.string(), device_id: z.string().default("") });
export const sentSchema = z.looseObject({ event_id: z.string() });
export const messagesSchema = z.looseObject({
	chunk: z.array(z.unknown()).default([]),
	end: z.string().optional(),
});

/** Throws if the answer has another form. */
export function readSync(answer: unknown): SyncAnswer {
	return syncSchema.parse(answer);
}

export function readEvents(given: unknown): readonly MatrixEvent[] {
	return Array.isArray(given) ? given.flatMap((one) => readEvent(one) ?? []) : [];
}

export function readEvent(given: unknown): MatrixEvent | null {
	return eventSchema.safeParse(given).data ?? null;
}

/** A text field of untrusted content. */
export function textIn(content: unknown, field: string): string | undefined {
	const value = objectOf(content)[field];
	return typeof value === "string" ? value : undefined;
}

/** The object, or an empty one. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? (value as Record<string, unknown>)
		: {};
}
