import { expect, test } from "vitest";
import type { McpServerSettings } from "../../config/index.ts";
import { createMcpServers, type McpServersOptions } from "./servers.ts";

test("an agent program gets only servers that it cannot use in more ways than the configuration allows", () => {
	const settings = (more: Partial<McpServerSettings>) =>
		({ command: "it", roles: ["owner"], confirm: "writes", ...more }) as McpServerSettings;
	const all = {
		plain: settings({}),
		asks: settings({ confirm: "always" }),
		some: settings({ tools: ["read"] }),
		members: settings({ roles: ["member"] }),
		elsewhere: settings({ profiles: ["work"] }),
	};
	const servers = createMcpServers({ settings: () => all } as unknown as McpServersOptions);
	const passed = servers.passedOn({ profile: "", standing: "owner" });
	expect(passed.map(({ name }) => name)).toEqual(["plain"]);
});
