// When a session ends by itself: the `session_reset` section, its one schema, and the policy of one conversation.
// Here and not in the domain, so that the store's threads start without the schema library.
import { z } from "zod";
import {
	CARRY_OVERS,
	CHAT_TYPES,
	type ChatType,
	isPlatformName,
	isTimeZone,
	RESET_MODES,
	type ResetPolicy,
} from "../domain/index.ts";
import { KeryxError } from "../errors.ts";

/** A century: far beyond any use, near enough that every due time is an exact number. */
const MAX_YEARS = 100;

const PLATFORM = "must be a platform's name: 2 to 32 of a-z, 0-9 and _, starting with a letter";
const ZONE = "must be an IANA time zone such as Europe/Berlin";
const platformName = z.string({ error: PLATFORM }).refine(isPlatformName, PLATFORM);

const fields = {
	mode: oneOf(RESET_MODES),
	at_hour: whole(0, 23),
	timezone: z.string({ error: ZONE }).refine(isTimeZone, ZONE),
	idle_minutes: whole(1, MAX_YEARS * 365 * 24 * 60),
	max_messages: whole(0, 1_000_000_000),
	notify: z.boolean({ error: "must be true or false" }),
	notify_exclude_platforms: z.array(platformName, { error: "must be a list of platforms" }),
	process_max_age_hours: whole(0, MAX_YEARS * 365 * 24),
	carry_over: oneOf(CARRY_OVERS),
};

/** The same fields once more for a chat type or a platform; what is left out or null is taken from below. */
const levelSchema = z.strictObject(
	{
		mode: fields.mode.nullish(),
		at_hour: fields.at_hour.nullish(),
		timezone: fields.timezone.nullish(),
		idle_minutes: fields.idle_minutes.nullish(),
		max_messages: fields.max_messages.nullish(),
		notify: fields.notify.nullish(),
		notify_exclude_platforms: fields.notify_exclude_platforms.nullish(),
		process_max_age_hours: fields.process_max_age_hours.nullish(),
		carry_over: fields.carry_over.nullish(),
	},
	{ error: sectionError(`is not a setting; the settings are ${Object.keys(fields).join(", ")}`) },
);

/** The section as written in YAML, snake_case. Its output has every default but the time zone, which is the host's. */
export const sessionResetSchema = z.strictObject(
	{
		mode: withDefault(fields.mode, () => "both" as const),
		at_hour: withDefault(fields.at_hour, () => 4),
		timezone: fields.timezone.nullish(),
		idle_minutes: withDefault(fields.idle_minutes, () => 1440),
		max_messages: withDefault(fields.max_messages, () => 200),
		notify: withDefault(fields.notify, () => true),
		notify_exclude_platforms: withDefault(fields.notify_exclude_platforms, () => ["api_server", "webhook"]),
		process_max_age_hours: withDefault(fields.process_max_age_hours, () => 24),
		carry_over: withDefault(fields.carry_over, () => "all" as const),
		by_type: withDefault(
			z.partialRecord(z.enum(CHAT_TYPES), levelSchema.nullish(), {
				error: sectionError(`is not a chat type; the chat types are ${CHAT_TYPES.join(", ")}`),
			}),
			() => ({}),
		),
		by_platform: withDefault(
			z.record(platformName, levelSchema.nullish(), { error: sectionError(PLATFORM) }),
			() => ({}),
		),
	},
	{
		error: sectionError(
			`is not a setting; the settings are ${Object.keys(fields).join(", ")}, by_type, by_platform`,
		),
	},
);

export type SessionReset = z.output<typeof sessionResetSchema>;

/**
 * The policy for a platform and chat type: default, then chat type, then platform, field by field. `hostTimezone` applies if no level
 * names a zone; without it, UTC.
 */
export function resolvePolicy(
	sessionReset: unknown,
	{ platform, chatType }: { readonly platform: string; readonly chatType: ChatType },
	hostTimezone = "UTC",
): ResetPolicy {
	const section = parseSection(sessionReset ?? {});
	const ofType = section.by_type[chatType];
	const ofPlatform = section.by_platform[platform];

	return {
		mode: ofPlatform?.mode ?? ofType?.mode ?? section.mode,
		atHour: ofPlatform?.at_hour ?? ofType?.at_hour ?? section.at_hour,
		timezone: ofPlatform?.timezone ?? ofType?.timezone ?? section.timezone ?? checkedHost(hostTimezone),
		idleMinutes: ofPlatform?.idle_minutes ?? ofType?.idle_minutes ?? section.idle_minutes,
		maxMessages: ofPlatform?.max_messages ?? ofType?.max_messages ?? section.max_messages,
		notify: ofPlatform?.notify ?? ofType?.notify ?? section.notify,
		notifyExcludePlatforms:
			ofPlatform?.notify_exclude_platforms ??
			ofType?.notify_exclude_platforms ??
			section.notify_exclude_platforms,
		processMaxAgeHours:
			ofPlatform?.process_max_age_hours ?? ofType?.process_max_age_hours ?? section.process_max_age_hours,
		carryOver: ofPlatform?.carry_over ?? ofType?.carry_over ?? section.carry_over,
	};
}

function parseSection(value: unknown): SessionReset {
	const parsed = sessionResetSchema.safeParse(value);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const unknownKey = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
	const field = ["session_reset", ...(issue?.path ?? []), ...unknownKey].join(".");
	throw new KeryxError("policy.invalid", `${field} ${issue?.message}`, { field });
}

function checkedHost(timezone: string): string {
	if (isTimeZone(timezone)) return timezone;
	const field = "session_reset.timezone";
	throw new KeryxError(
		"policy.invalid",
		`${field} must be set: the host's time zone ${timezone} is unknown`,
		{ field },
	);
}

function withDefault<Output>(schema: z.ZodType<Output>, make: () => NoInfer<Output>) {
	return schema.nullish().transform((given) => given ?? make());
}

function whole(least: number, most: number) {
	const error = `must be a whole number from ${least} to ${most}`;
	return z.int({ error }).min(least, error).max(most, error);
}

function oneOf<const Values extends readonly string[]>(values: Values) {
	return z.enum(values, { error: `must be ${listed(values)}` });
}

function sectionError(ofKey: string) {
	return ({ code }: { readonly code?: string }) =>
		code === "unrecognized_keys" || code === "invalid_key" ? ofKey : "must be a section of settings";
}

function listed(values: readonly string[]): string {
	return `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
}
