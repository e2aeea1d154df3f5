import { Monitor, Moon, Sun } from "lucide-react";
import { IconButton, Menu, MenuChoice } from "../ui/index.ts";
import { setTheme, useTheme } from "./theme.ts";

export const THEMES = [
	{ value: "system", name: "As the system", icon: <Monitor size={16} /> },
	{ value: "light", name: "Light", icon: <Sun size={16} /> },
	{ value: "dark", name: "Dark", icon: <Moon size={16} /> },
] as const;

export function ThemeMenu() {
	const theme = useTheme();
	return (
		<Menu
			label="Theme"
			align="start"
			trigger={
				<IconButton label="Theme" size="sm">
					{THEMES.find(({ value }) => value === theme)?.icon}
				</IconButton>
			}
		>
			<MenuChoice value={theme} choices={THEMES} onChange={setTheme} />
		</Menu>
	);
}
