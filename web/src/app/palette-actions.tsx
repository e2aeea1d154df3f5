// The palette's own actions: on the open conversation, the theme, and the tabs of the settings.

import { Archive, Download, Pin, PinOff, Settings2 } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../api/index.ts";
import type { Conversation } from "../api/types.ts";
import { texts } from "../texts/app.ts";
import { texts as ofConversations } from "../texts/conversations.ts";
import { texts as ofSettings } from "../texts/settings.ts";
import { exportConversation, putAway } from "../views/conversations/index.tsx";
import { setTheme } from "./theme.ts";
import { THEMES } from "./theme-menu.tsx";

export interface Action {
	readonly id: string;
	readonly name: string;
	readonly about: string;
	readonly icon: ReactNode;
	readonly act: () => Promise<unknown>;
}

export function actionsOn({ id, name, pinned, state }: Conversation): readonly Action[] {
	const { pinToTheTop, unpin, exportAsMarkdown, exportAsJSON, archive } = ofConversations.manageItems;
	const action = (key: string, what: string, icon: ReactNode, act: Action["act"]): Action => ({
		id: `action ${key}`,
		name: what,
		about: name,
		icon,
		act,
	});
	return [
		...(state === "open"
			? [
					action("pin", pinned ? unpin : pinToTheTop, pinned ? <PinOff size={16} /> : <Pin size={16} />, () =>
						api.pinConversation({ conversation: id, pinned: !pinned }),
					),
					action("archive", archive, <Archive size={16} />, () => putAway([id], "archived")),
				]
			: []),
		action("markdown", exportAsMarkdown, <Download size={16} />, () =>
			exportConversation({ id, name }, "markdown"),
		),
		action("json", exportAsJSON, <Download size={16} />, () => exportConversation({ id, name }, "jsonl")),
	];
}

export const THEME_ACTIONS: readonly Action[] = THEMES.map(({ value, name, icon }) => ({
	id: `theme ${value}`,
	name: texts.palette.theme(name),
	about: "",
	icon,
	act: () => Promise.resolve(setTheme(value)),
}));

/** One action per tab of the settings, keyed by the name in the address. */
export function settingsTabs(go: (tab: string) => Promise<unknown>): readonly Action[] {
	const { model, general, profiles, mcp, configuration, checkAFile, people, tokens, about } = ofSettings.view;
	const tabs = { model, general, profiles, mcp, configuration, check: checkAFile, people, tokens, about };
	return Object.entries(tabs).map(([tab, name]) => ({
		id: `settings ${tab}`,
		name: texts.palette.settings(name),
		about: "",
		icon: <Settings2 size={16} />,
		act: () => go(tab),
	}));
}
