// The values in force, the editable settings, and who has access.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { texts } from "../../texts/settings.ts";
import { Page, Tabs } from "../../ui/index.ts";
import { AboutTab } from "./about-tab.tsx";
import { CheckTab } from "./check-tab.tsx";
import { ConfigurationTab } from "./configuration-tab.tsx";
import { GeneralTab } from "./general-tab.tsx";
import { McpTab } from "./mcp-tab.tsx";
import { ModelTab } from "./model-tab.tsx";
import { PeopleTab } from "./people-tab.tsx";
import { ProfilesTab } from "./profiles-tab.tsx";
import { TokensTab } from "./tokens-tab.tsx";

const TABS = [
	"model",
	"general",
	"profiles",
	"mcp",
	"configuration",
	"check",
	"people",
	"tokens",
	"about",
] as const;

export function SettingsView() {
	const { tab } = useSearch({ from: "/settings" });
	const navigate = useNavigate({ from: "/settings" });
	return (
		<Page title={texts.view.settings}>
			<Tabs
				label={texts.view.settings}
				value={TABS.find((one) => one === tab) ?? "model"}
				onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
				tabs={[
					{ name: "model", label: texts.view.model, content: <ModelTab /> },
					{ name: "general", label: texts.view.general, content: <GeneralTab /> },
					{ name: "profiles", label: texts.view.profiles, content: <ProfilesTab /> },
					{ name: "mcp", label: texts.view.mcp, content: <McpTab /> },
					{ name: "configuration", label: texts.view.configuration, content: <ConfigurationTab /> },
					{ name: "check", label: texts.view.checkAFile, content: <CheckTab /> },
					{ name: "people", label: texts.view.people, content: <PeopleTab /> },
					{ name: "tokens", label: texts.view.tokens, content: <TokensTab /> },
					{ name: "about", label: texts.view.about, content: <AboutTab /> },
				]}
			/>
		</Page>
	);
}
