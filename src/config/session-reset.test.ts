import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CARRY_OVERS, CHAT_TYPES, RESET_MODES } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { resolvePolicy, sessionResetSchema } from "./session-reset.ts";

const DM = { platform: "telegram", chatType: "dm" } as const;

const DEFAULTS = {
	mode: "both",
	atHour: 4,
	timezone: "UTC",
	idleMinutes: 1440,
	maxMessages: 200,
	notify: true,
	notifyExcludePlatforms: ["api_server", "webhook"],
	processMaxAgeHours: 24,
	carryOver: "all",
};

describe("defaults", () => {
	test.each([
		undefined,
		null,
		{},
		{ mode: null, by_type: null, by_platform: null },
		{ by_type: { dm: null } },
	])("%j means the defaults", (section) => expect(resolvePolicy(section, DM)).toEqual(DEFAULTS));

	test("the host's zone stands only where no level names one", () => {
		expect(resolvePolicy({}, DM, "Europe/Berlin").timezone).toBe("Europe/Berlin");
		expect(resolvePolicy({ timezone: "Asia/Bangkok" }, DM, "Europe/Berlin").timezone).toBe("Asia/Bangkok");
		const byType = { by_type: { dm: { timezone: "Asia/Tokyo" } } };
		expect(resolvePolicy(byType, DM, "Europe/Berlin").timezone).toBe("Asia/Tokyo");
		expect(resolvePolicy(byType, { ...DM, chatType: "group" }, "Europe/Berlin").timezone).toBe(
			"Europe/Berlin",
		);
	});

	test("a host with an unknown zone must name one", () => {
		expect(() => resolvePolicy({}, DM, "Etc/Unknown")).toThrow(/session_reset\.timezone must be set/);
		expect(resolvePolicy({ timezone: "UTC" }, DM, "Etc/Unknown").timezone).toBe("UTC");
	});

	test("a change to one result does not reach the next", () => {
		sessionResetSchema.parse({}).notify_exclude_platforms.push("telegram");
		expect(resolvePolicy({}, DM).notifyExcludePlatforms).toEqual(["api_server", "webhook"]);
	});
});

describe("cascade", () => {
	test("platform wins over chat type, chat type over default, field by field", () => {
		const section = {
			mode: "idle",
			idle_minutes: 10,
			at_hour: 1,
			by_type: { dm: { idle_minutes: 20, at_hour: 2, notify: false }, group: { mode: "none" } },
			by_platform: { telegram: { at_hour: 3, notify: null }, discord: { mode: "daily" } },
		};
		expect(resolvePolicy(section, DM)).toMatchObject({
			mode: "idle",
			idleMinutes: 20,
			atHour: 3,
			notify: false,
		});
		expect(resolvePolicy(section, { platform: "discord", chatType: "group" }).mode).toBe("daily");
		expect(resolvePolicy(section, { platform: "slack", chatType: "group" })).toMatchObject({
			mode: "none",
			atHour: 1,
		});
		expect(resolvePolicy(section, { platform: "slack", chatType: "thread" })).toMatchObject({
			mode: "idle",
			atHour: 1,
		});
	});

	test("false, 0 and an empty list are values, not gaps", () => {
		const section = {
			by_platform: { telegram: { notify: false, max_messages: 0, at_hour: 0, notify_exclude_platforms: [] } },
		};
		expect(resolvePolicy(section, DM)).toMatchObject({
			notify: false,
			maxMessages: 0,
			atHour: 0,
			notifyExcludePlatforms: [],
		});
	});

	test("a platform named like a method of Object has no policy of its own", () => {
		expect(resolvePolicy({ by_platform: {} }, { platform: "constructor", chatType: "dm" })).toEqual(DEFAULTS);
		const own = JSON.parse('{ "by_platform": { "constructor": { "mode": "none" } } }');
		expect(resolvePolicy(own, { platform: "constructor", chatType: "dm" }).mode).toBe("none");
	});

	test("every field comes from the highest level that sets it", () => {
		const level = fc.record(
			{
				mode: fc.option(fc.constantFrom(...RESET_MODES)),
				at_hour: fc.option(fc.integer({ min: 0, max: 23 })),
				timezone: fc.option(fc.constantFrom("UTC", "Asia/Bangkok", "America/New_York")),
				idle_minutes: fc.option(fc.integer({ min: 1, max: 52_560_000 })),
				max_messages: fc.option(fc.integer({ min: 0, max: 1_000_000_000 })),
				notify: fc.option(fc.boolean()),
				notify_exclude_platforms: fc.option(fc.uniqueArray(fc.constantFrom("web", "slack", "irc"))),
				process_max_age_hours: fc.option(fc.integer({ min: 0, max: 876_000 })),
				carry_over: fc.option(fc.constantFrom(...CARRY_OVERS)),
			},
			{ requiredKeys: [] },
		);
		const names = {
			mode: "mode",
			atHour: "at_hour",
			timezone: "timezone",
			idleMinutes: "idle_minutes",
			maxMessages: "max_messages",
			notify: "notify",
			notifyExcludePlatforms: "notify_exclude_platforms",
			processMaxAgeHours: "process_max_age_hours",
			carryOver: "carry_over",
		} as const;
		fc.assert(
			fc.property(level, level, level, fc.constantFrom(...CHAT_TYPES), (base, type, platform, chatType) => {
				const section = { ...base, by_type: { [chatType]: type }, by_platform: { slack: platform } };
				const policy = resolvePolicy(section, { platform: "slack", chatType });
				for (const [name, key] of Object.entries(names)) {
					const wanted = [platform[key], type[key], base[key], DEFAULTS[name as keyof typeof names]];
					expect(policy[name as keyof typeof names]).toEqual(
						wanted.find((value) => value !== undefined && value !== null),
					);
				}
			}),
		);
	});
});

describe("mistakes are refused, naming the key and what it may be", () => {
	test.each([
		[{ idle_minute: 5 }, "session_reset.idle_minute", "idle_minutes"],
		[{ mode: "weekly" }, "session_reset.mode", "daily, idle, both or none"],
		[{ mode: "" }, "session_reset.mode", "daily, idle, both or none"],
		[{ at_hour: 24 }, "session_reset.at_hour", "from 0 to 23"],
		[{ at_hour: -1 }, "session_reset.at_hour", "from 0 to 23"],
		[{ at_hour: 4.5 }, "session_reset.at_hour", "whole number"],
		[{ at_hour: "4" }, "session_reset.at_hour", "whole number"],
		[{ idle_minutes: 0 }, "session_reset.idle_minutes", "from 1"],
		[{ idle_minutes: Number.POSITIVE_INFINITY }, "session_reset.idle_minutes", "from 1"],
		[{ max_messages: -1 }, "session_reset.max_messages", "from 0"],
		[{ max_messages: true }, "session_reset.max_messages", "from 0"],
		[{ timezone: "Mars/Olympus" }, "session_reset.timezone", "IANA"],
		[{ timezone: "+05:30" }, "session_reset.timezone", "IANA"],
		[{ timezone: "" }, "session_reset.timezone", "IANA"],
		[{ notify: "yes" }, "session_reset.notify", "true or false"],
		[{ notify_exclude_platforms: "slack" }, "session_reset.notify_exclude_platforms", "list"],
		[
			{ notify_exclude_platforms: ["slack", "S L"] },
			"session_reset.notify_exclude_platforms.1",
			"platform's name",
		],
		[{ process_max_age_hours: -1 }, "session_reset.process_max_age_hours", "from 0"],
		[{ carry_over: "some" }, "session_reset.carry_over", "all, limit or none"],
		[{ by_type: { dm: { idle_minutes: 0 } } }, "session_reset.by_type.dm.idle_minutes", "from 1"],
		[{ by_type: { dms: {} } }, "session_reset.by_type.dms", "dm, group, channel, thread, forum, webhook"],
		[{ by_type: { dm: { by_type: {} } } }, "session_reset.by_type.dm.by_type", "the settings are mode"],
		[{ by_type: { dm: 5 } }, "session_reset.by_type.dm", "section"],
		[{ by_type: [] }, "session_reset.by_type", "section"],
		[
			{ by_platform: { telegram: { mode: "off" } } },
			"session_reset.by_platform.telegram.mode",
			"daily, idle",
		],
		[{ by_platform: { telegram: { hour: 4 } } }, "session_reset.by_platform.telegram.hour", "at_hour"],
		[{ by_platform: { "Tele gram": {} } }, "session_reset.by_platform.Tele gram", "platform's name"],
		["both", "session_reset", "section"],
		[[], "session_reset", "section"],
	])("%j", (section, field, may) => {
		const error = refusal(section);
		expect(error.code).toBe("policy.invalid");
		expect(error.field).toBe(field);
		expect(error.message.startsWith(`${field} `)).toBe(true);
		expect(error.message).toContain(may);
	});

	test("a mistake at another chat type or platform is a mistake all the same", () => {
		expect(refusal({ by_type: { forum: { at_hour: 99 } } }).field).toBe(
			"session_reset.by_type.forum.at_hour",
		);
		expect(refusal({ by_platform: { irc: { at_hour: 99 } } }).field).toBe(
			"session_reset.by_platform.irc.at_hour",
		);
	});
});

function refusal(section: unknown): KeryxError {
	try {
		resolvePolicy(section, DM);
	} catch (error) {
		if (error instanceof KeryxError) return error;
		throw error;
	}
	throw new Error("nothing was refused");
}
