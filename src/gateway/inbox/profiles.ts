// Which agent answers a message, with which tools and instructions: from configuration and facts only. Pure.
import { type Config, commandMachine } from "../../config/index.ts";
import { profileName, type Source, type Standing } from "../../domain/index.ts";
import { mayUseServer, RESOURCE_TOOL, serverOf, WORLD_TOOLS } from "../../tools/index.ts";
import { chooseWall } from "../turn/walls/choice.ts";

/**
 * The profile of a message: the one its transport may choose, the first matching rule's, or its channel's; "" is none. Null: not
 * configured, so the message is refused and never served by another profile.
 */
export function profileFor(
	source: Source,
	mayChoose: boolean,
	{ profiles, profile_rules, channels }: Pick<Config, "profiles" | "profile_rules" | "channels">,
): string | null {
	const chosen = mayChoose ? profileName(source.profile) : "";
	const channel = Object.values(channels).find(
		({ platform, account }) => platform === source.platform && account === source.account,
	);
	const rule = profile_rules.find((one) => fits(one, source));
	const name = chosen || (rule?.profile ?? channel?.profile ?? "");
	return name === "" || Object.hasOwn(profiles, name) ? name : null;
}

function fits(rule: Config["profile_rules"][number], source: Source): boolean {
	const asked: readonly (readonly [string | undefined, readonly (string | undefined)[]])[] = [
		[rule.platform, [source.platform]],
		[rule.account, [source.account]],
		[rule.scope, [source.scopeId]],
		[rule.chat, [source.chatId, source.chatIdAlt]],
		[rule.thread, [source.threadId]],
		[rule.user, [source.userId, source.userIdAlt]],
	];
	return asked.every(([wanted, given]) => wanted === undefined || given.includes(wanted));
}

/** The profile's persona, then instructions for the platform, the chat and the thread: the most specific last. */
export function instructionsFor(
	{ agent, profiles, instructions }: Pick<Config, "agent" | "profiles" | "instructions">,
	profile: string,
	{ platform, chatId, chatIdAlt, threadId }: Source,
): string[] {
	const persona = profile === "" ? agent.instructions : profiles[profile]?.agent.instructions;
	const keys = [
		platform,
		...(chatIdAlt ? [`${platform}/${chatIdAlt}`] : []),
		`${platform}/${chatId}`,
		...(threadId ? [`${platform}/${chatId}/${threadId}`] : []),
	];
	return [
		persona,
		...keys.map((key) => (Object.hasOwn(instructions, key) ? instructions[key] : undefined)),
	].filter((text) => text !== undefined && text !== "") as string[];
}

const NONE: ReadonlySet<string> = new Set();
const WEB_FETCH = "web_fetch";

type ToolsConfig = Pick<Config, "tools" | "profiles" | "mcp" | "walls" | "approvals" | "terminal">;

/**
 * If a wall blocks a role's network, Keryx fetches no pages for it either: an address can leak data. The role's tool list can allow it.
 */
function mayFetch(config: ToolsConfig, profile: string, role: Exclude<Standing, "none">): boolean {
	if (config.tools.by_role[role]?.includes(WEB_FETCH) || config.walls.mode === "off") return true;
	const { ssh, container } = commandMachine(config, profile);
	if (ssh) return true;
	if (container) return container.network === "on";
	return chooseWall(config, { profile, standing: role }).network !== "none";
}

/** The allowed tools: each applicable list narrows them. Without a role: those everyone may use. */
export function toolsFor(
	all: readonly string[],
	config: ToolsConfig,
	{
		profile,
		platform,
		role,
	}: { readonly profile: string; readonly platform: string; readonly role: Standing | null },
): string[] {
	if (role === "none") return [];
	const { tools, profiles, mcp } = config;
	const lists = [
		(profile === "" ? undefined : profiles[profile]?.tools) ?? tools.enabled,
		Object.hasOwn(tools.by_platform, platform) ? tools.by_platform[platform] : undefined,
		role === null ? undefined : tools.by_role[role],
	];
	// A guest has no programs, jobs, files or web access unless a list of guests' tools names them.
	const withheld = role === "guest" && tools.by_role.guest === undefined ? WORLD_TOOLS : NONE;
	const fetches = mayFetch(config, profile, role ?? "owner");
	return all.filter((name) => {
		if (withheld.has(name) || (name === WEB_FETCH && !fetches)) return false;
		const server = serverOf(name);
		const settings = server === null || !Object.hasOwn(mcp.servers, server) ? null : mcp.servers[server];
		// Without a role: what every role may use.
		const roles = role === null ? (["owner", "member", "guest"] as const) : [role];
		const mayUse = (one: Config["mcp"]["servers"][string]) =>
			roles.every((standing) => mayUseServer(one, { profile, standing }));
		if (settings && !mayUse(settings)) return false;
		if (name === RESOURCE_TOOL && !Object.values(mcp.servers).some(mayUse)) return false;
		const names = settings ? [name, `${server}__*`] : [name];
		return lists.every((list) => list === undefined || names.some((one) => list.includes(one)));
	});
}
