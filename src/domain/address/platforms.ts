// Facts about platforms. A registry, not an enum: an unlisted name works with default traits.
import { KeryxError } from "../../errors.ts";

export interface PlatformTraits {
	/** The name in sources, keys and settings. */
	readonly name: string;
	/** The name people know it by. */
	readonly label: string;
	/** The longest text of one message, in the unit the platform counts. */
	readonly messageLimit: { readonly max: number; readonly unit: "utf16" | "codepoints" | "bytes" };
	/** Whether ids may be replaced by pseudonyms in a prompt; false where a mention needs the real id. */
	readonly piiSafe: boolean;
	/** Whether its users are notified by default when a session ends. */
	readonly notifyBoundaries: boolean;
	readonly markup: "telegram_html" | "matrix_html" | "discord" | "slack" | "irc" | "markdown" | "plain";
}

export interface Platforms {
	/** Never throws: an unknown name has default traits. */
	traits(name: string): PlatformTraits;
	has(name: string): boolean;
	names(): readonly string[];
}

/** Below this there is hardly room for markup and a word: answers cannot be split into such parts. */
export const SMALLEST_MESSAGE_LIMIT = 32;

/** Only the program's own memory limits the text. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

const BUILT_IN: readonly PlatformTraits[] = [
	entry("local", "Terminal", UNLIMITED, "utf16", { markup: "markdown" }),
	entry("web", "Web page", UNLIMITED, "utf16", { markup: "markdown" }),
	entry("telegram", "Telegram", 4096, "utf16", { markup: "telegram_html", piiSafe: true }),
	entry("discord", "Discord", 2000, "utf16", { markup: "discord" }),
	entry("slack", "Slack", 39_000, "utf16", { markup: "slack" }),
	entry("whatsapp", "WhatsApp", 4096, "utf16", { piiSafe: true }),
	entry("whatsapp_cloud", "WhatsApp Cloud", 4096, "utf16"),
	entry("signal", "Signal", 2000, "bytes", { piiSafe: true }),
	// An event holds the text twice, plain and as HTML, within 65,536 bytes.
	entry("matrix", "Matrix", 16_000, "bytes", { markup: "matrix_html" }),
	entry("mattermost", "Mattermost", 16_383, "codepoints", { markup: "markdown" }),
	entry("email", "Email", 500_000, "utf16", { markup: "markdown" }),
	entry("sms", "SMS", 1600, "utf16"),
	// A line has 512 bytes with our own name, command and target, which can take 186.
	entry("irc", "IRC", 320, "bytes", { markup: "irc" }),
	// Every server takes stanzas of 10,000 bytes; escaping needs room.
	entry("xmpp", "XMPP", 6000, "bytes"),
	entry("bluebubbles", "iMessage", 4000, "utf16", { piiSafe: true }),
	entry("yuanbao", "Yuanbao", 4000, "utf16"),
	entry("weixin", "WeChat", 2000, "bytes"),
	entry("wecom", "WeCom", 2000, "bytes", { markup: "markdown" }),
	entry("wecom_callback", "WeCom", 2000, "bytes"),
	entry("dingtalk", "DingTalk", 16_000, "bytes", { markup: "markdown" }),
	entry("feishu", "Feishu", 20_000, "bytes", { markup: "markdown" }),
	entry("google_chat", "Google Chat", 16_000, "bytes"),
	entry("teams", "Microsoft Teams", 12_000, "utf16", { markup: "markdown" }),
	entry("line", "LINE", 5000, "utf16"),
	entry("simplex", "SimpleX", 14_000, "bytes"),
	entry("ntfy", "ntfy", 4096, "bytes", { markup: "markdown" }),
	entry("homeassistant", "Home Assistant", 4000, "utf16"),
	entry("webhook", "Webhook", UNLIMITED, "utf16", { markup: "markdown", notifyBoundaries: false }),
	entry("schedule", "Scheduled job", UNLIMITED, "utf16", { markup: "markdown", notifyBoundaries: false }),
	entry("api_server", "API", UNLIMITED, "utf16", { markup: "markdown", notifyBoundaries: false }),
];

/** Our own channels for people: terminal, page, API. Keryx itself has authenticated their users. */
export const OWN_PLATFORMS = ["local", "web", "api_server"] as const;
export type OwnPlatform = (typeof OWN_PLATFORMS)[number];

export function isOwnPlatform(platform: string): platform is OwnPlatform {
	return (OWN_PLATFORMS as readonly string[]).includes(platform);
}

/** The platform of the jobs' own conversations. Nobody writes there. */
export const SCHEDULE_PLATFORM = "schedule" as const;

/** The platforms of the channels that Keryx brings along. They need no set-up, and cannot be removed. */
const BUILT_IN_CHANNELS = [...OWN_PLATFORMS, "webhook", SCHEDULE_PLATFORM] as const;
export type BuiltInChannel = (typeof BUILT_IN_CHANNELS)[number];

export function isBuiltInChannel(platform: string): platform is BuiltInChannel {
	return (BUILT_IN_CHANNELS as readonly string[]).includes(platform);
}

/** Whether Keryx itself knows who sends there, by a login, a token or a webhook's secret. */
export function isKnownByKeryx(platform: string): platform is Exclude<BuiltInChannel, "schedule"> {
	return isBuiltInChannel(platform) && platform !== SCHEDULE_PLATFORM;
}

const PLATFORM_NAME = /^[a-z][a-z0-9_]{1,31}$/;

export function isPlatformName(name: string): boolean {
	return PLATFORM_NAME.test(name);
}

/** The built-in platforms and `extra`; an extra entry replaces a built-in one of the same name. */
export function createPlatforms(extra: readonly PlatformTraits[] = []): Platforms {
	const registry = new Map<string, PlatformTraits>();
	for (const traits of [...BUILT_IN, ...extra]) {
		checkTraits(traits);
		registry.set(traits.name, traits);
	}
	const names = Object.freeze([...registry.keys()]);
	return {
		traits: (name) => registry.get(name) ?? entry(name, name, 4000, "utf16"),
		has: (name) => registry.has(name),
		names: () => names,
	};
}

/** Only the built-in platforms. */
export const builtInPlatforms: Platforms = createPlatforms();

export function platformTraits(name: string): PlatformTraits {
	return builtInPlatforms.traits(name);
}

export function registeredPlatforms(): readonly string[] {
	return builtInPlatforms.names();
}

function checkTraits({ name, messageLimit }: PlatformTraits): void {
	if (!isPlatformName(name)) {
		throw new KeryxError(
			"argument.invalid",
			"a platform's name must be 2 to 32 of a-z, 0-9 and _, starting with a letter",
			{ field: "name" },
		);
	}
	if (!Number.isSafeInteger(messageLimit.max) || messageLimit.max < SMALLEST_MESSAGE_LIMIT) {
		throw new KeryxError(
			"argument.invalid",
			`messageLimit.max of platform ${name} is ${messageLimit.max}; it must be a whole number of at least ${SMALLEST_MESSAGE_LIMIT}`,
			{ field: "messageLimit.max" },
		);
	}
}

function entry(
	name: string,
	label: string,
	max: number,
	unit: PlatformTraits["messageLimit"]["unit"],
	rest: Partial<Pick<PlatformTraits, "piiSafe" | "notifyBoundaries" | "markup">> = {},
): PlatformTraits {
	const { piiSafe = false, notifyBoundaries = true, markup = "plain" } = rest;
	return { name, label, messageLimit: { max, unit }, piiSafe, notifyBoundaries, markup };
}
