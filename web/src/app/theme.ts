// Light, dark, or the system's setting; stored in this browser. public/theme.js sets it before the first paint.

import { readLocal, writeLocal } from "../lib/storage.ts";
import { createValue } from "../lib/value.ts";

export type Theme = "system" | "light" | "dark";

const NAME = "theme";
const chosen = createValue<Theme>(known(readLocal(NAME)));

export const useTheme = chosen.use;

export function setTheme(theme: Theme): void {
	chosen.set(theme);
	writeLocal(NAME, theme === "system" ? null : theme);
	if (theme === "system") delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = theme;
}

function known(value: string | null): Theme {
	return value === "light" || value === "dark" ? value : "system";
}
