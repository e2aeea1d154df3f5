// `keryx mcp list`, `test`, `add` and `remove`. A running Keryx is asked; otherwise this process connects briefly.
import { openHome } from "../../../app/home.ts";
import { mcpSetup } from "../../../app/setup/mcp-setup.ts";
import { keryxHome } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import type { Answer } from "../../../http/index.ts";
import { running } from "../../connect.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { readOneOf } from "../../io/arguments.ts";
import type { Output } from "../../io/output.ts";
import { EXIT } from "../../io/report.ts";
import { texts } from "../../texts.ts";

export interface AddFlags {
	readonly url?: string;
	readonly header?: readonly string[];
	readonly env?: readonly string[];
	readonly role?: readonly string[];
	readonly profile?: readonly string[];
	readonly confirm?: string;
}

type Server = Answer<"mcpServers">["servers"][number];

export async function listServers(context: CliContext): Promise<void> {
	const { config, output } = openConfig(context);
	const client = await running(context);
	const live = client === null ? null : (await client.mcpServers()).servers;
	const servers =
		live ??
		Object.entries(config.values.mcp.servers).map(([name, { command, args, url, roles, profiles }]) => ({
			name,
			state: texts.mcp.list.notRunning,
			address: url ?? [command, ...args].join(" "),
			roles,
			profiles: profiles ?? null,
		}));
	if (output.json) return output.value({ servers });
	if (servers.length === 0) return output.note(texts.mcp.list.none);
	if (live === null)
		return output.table(
			["name", "state", "address"],
			servers.map(({ name, state, address }) => [name, state, address]),
			{ elastic: [2] },
		);
	output.table(
		["name", "state", "tools", "visible to", "detail"],
		live.map((one) => [
			one.name,
			one.state,
			String(used(one)),
			visible(one),
			one.why ?? one.remarks.join("; "),
		]),
		{ elastic: [4] },
	);
}

export async function testServer(context: CliContext, name: string): Promise<void> {
	const { output } = openConfig(context);
	const client = await running(context);
	const server = client === null ? await tryHere(context, name) : await client.testMcpServer({ name });
	if (server.state !== "connected") context.exitWith(EXIT.failure);
	if (output.json) return output.value(server);
	tell(output, server);
}

export function used({ tools }: Pick<Server, "tools">): number {
	return tools.filter((tool) => tool.used).length;
}

export function visible({ profiles, roles }: Pick<Server, "profiles" | "roles">): string {
	if (profiles.length === 0 || roles.length === 0) return texts.mcp.list.nobody;
	return `${roles.join(", ")} (${profiles.map((profile) => profile || "default").join(", ")})`;
}

function tell(output: Output, server: Server): void {
	if (server.state !== "connected") {
		output.warn(texts.mcp.test.failed(server.name, server.state, server.why ?? ""));
		return;
	}
	output.line(texts.mcp.test.done(server.name, used(server), visible(server)));
	for (const { name, asks } of server.tools.filter((tool) => tool.used))
		output.line(`  ${name}${asks ? texts.mcp.test.asks : ""}`);
	for (const prompt of server.prompts) output.line(`  ${prompt}`);
	for (const remark of server.remarks) output.warn(remark);
}

/** Nothing else is started: no store, no channel. */
async function tryHere(context: CliContext, name: string): Promise<Server> {
	const { config } = openConfig(context);
	if (!config.values.mcp.servers[name])
		throw new KeryxError("store.not_found", `there is no mcp.servers.${name} in config.yaml`, {
			field: "name",
		});
	const { tryMcpServer } = await import("../../../app/setup/mcp-try.ts");
	return tryMcpServer(name, { home: openHome(keryxHome(context.env)).path, env: context.env, config });
}

const CONFIRM = ["always", "writes", "never"] as const;

export async function addServer(
	context: CliContext,
	name: string,
	words: readonly string[],
	flags: AddFlags,
): Promise<void> {
	const { output } = openConfig(context);
	const { path: home } = openHome(keryxHome(context.env));
	const [command, ...args] = words;
	const headers = Object.fromEntries((flags.header ?? []).map(readHeader));
	const settings = {
		...(command !== undefined && { command }),
		...(args.length > 0 && { args }),
		...(flags.env && { env: flags.env }),
		...(flags.url !== undefined && { url: flags.url }),
		...(flags.header && { headers_env: headers }),
		...(flags.role && { roles: flags.role }),
		...(flags.profile && { profiles: flags.profile }),
		...(flags.confirm !== undefined && { confirm: readOneOf("confirm", flags.confirm, CONFIRM) }),
	};
	await mcpSetup({ home, env: context.env }).add(name, settings, { who: "operator", via: "cli" });
	if (output.json) return output.value({ name, added: true });
	output.line(texts.mcp.add.done(name));
	output.note(texts.mcp.add.next(name));
}

export async function removeServer(context: CliContext, name: string): Promise<void> {
	const { output } = openConfig(context);
	const home = keryxHome(context.env);
	await mcpSetup({ home, env: context.env }).remove(name, { who: "operator", via: "cli" });
	if (output.json) return output.value({ name, removed: true });
	output.line(texts.mcp.remove.done(name));
}

function readHeader(given: string): readonly [string, string] {
	const [, header, variable] = /^([^=\s]+)=([A-Za-z_]\w*)$/.exec(given) ?? [];
	if (header !== undefined && variable !== undefined) return [header, variable];
	throw new KeryxError("usage.invalid", texts.mcp.add.badHeader(given), { field: "header" });
}
