import { Monitor, Moon, Sun } from "lucide-react";
import { texts } from "../texts/app.ts";
import { IconButton, Menu, MenuChoice } from "../ui/index.ts";
import { setTheme, useTheme } from "./theme.ts";

export const THEMES = [
	{ value: "system", name: texts.themeMenu.system, icon: <Monitor size={16} /> },
	{ value: "light", name: texts.themeMenu.light, icon: <Sun size={16} /> },
	{ value: "dark", name: texts.themeMenu.dark, icon: <Moon size={16} /> },
] as const;

export function ThemeMenu() {
	const theme = useTheme();
	return (
		<Menu
			label={texts.themeMenu.theme}
			align="start"
			trigger={
				<IconButton label={texts.themeMenu.theme} size="sm">
					{THEMES.find(({ value }) => value === theme)?.icon}
				</IconButton>
			}
		>
			<MenuChoice value={theme} choices={THEMES} onChange={setTheme} />
		</Menu>
	);
}
