// What is in force, what can be changed here, and who may come in.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Page, Tabs } from "../../ui/index.ts";
import { AboutTab } from "./about-tab.tsx";
import { CheckTab } from "./check-tab.tsx";
import { ConfigurationTab } from "./configuration-tab.tsx";
import { GeneralTab } from "./general-tab.tsx";
import { McpTab } from "./mcp-tab.tsx";
import { ModelTab } from "./model-tab.tsx";
import { ProfilesTab } from "./profiles-tab.tsx";
import { TokensTab } from "./tokens-tab.tsx";

const TABS = ["model", "general", "profiles", "mcp", "configuration", "check", "tokens", "about"] as const;

export function SettingsView() {
	const { tab } = useSearch({ from: "/settings" });
	const navigate = useNavigate({ from: "/settings" });
	return (
		<Page title="Settings">
			<Tabs
				label="Settings"
				value={TABS.find((one) => one === tab) ?? "model"}
				onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
				tabs={[
					{ name: "model", label: "Model", content: <ModelTab /> },
					{ name: "general", label: "General", content: <GeneralTab /> },
					{ name: "profiles", label: "Profiles", content: <ProfilesTab /> },
					{ name: "mcp", label: "MCP servers", content: <McpTab /> },
					{ name: "configuration", label: "Configuration", content: <ConfigurationTab /> },
					{ name: "check", label: "Check a file", content: <CheckTab /> },
					{ name: "tokens", label: "Tokens", content: <TokensTab /> },
					{ name: "about", label: "This Keryx", content: <AboutTab /> },
				]}
			/>
		</Page>
	);
}
