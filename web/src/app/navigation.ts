// The views, in the order of the navigation rail.

import {
	Archive,
	CalendarClock,
	ChartNoAxesColumn,
	type LucideIcon,
	MessagesSquare,
	Plug,
	Search,
	Settings,
	ShieldQuestionMark,
	SquareTerminal,
} from "lucide-react";
import { useMemo } from "react";
import { useMe } from "../api/index.ts";
import { texts } from "../texts/app.ts";

export interface NavigationItem {
	readonly to:
		| "/"
		| "/confirmations"
		| "/processes"
		| "/schedules"
		| "/checkpoints"
		| "/insights"
		| "/channels"
		| "/settings"
		| "/search";
	readonly name: string;
	readonly icon: LucideIcon;
	readonly keys: string;
	/** "guests": hidden from guests. "people": shown to owners only. */
	readonly notFor?: "guests" | "people";
}

const items: readonly NavigationItem[] = [
	{ to: "/", name: texts.views.conversations, icon: MessagesSquare, keys: "g c" },
	{
		to: "/confirmations",
		name: texts.views.confirmations,
		icon: ShieldQuestionMark,
		keys: "g a",
		notFor: "guests",
	},
	{ to: "/processes", name: texts.views.processes, icon: SquareTerminal, keys: "g p", notFor: "guests" },
	{ to: "/schedules", name: texts.views.schedules, icon: CalendarClock, keys: "g j", notFor: "guests" },
	{ to: "/checkpoints", name: texts.views.checkpoints, icon: Archive, keys: "g k", notFor: "guests" },
	{ to: "/insights", name: texts.views.insights, icon: ChartNoAxesColumn, keys: "g i", notFor: "people" },
	{ to: "/channels", name: texts.views.channels, icon: Plug, keys: "g h", notFor: "people" },
	{ to: "/search", name: texts.views.search, icon: Search, keys: "g s" },
	{ to: "/settings", name: texts.views.settings, icon: Settings, keys: "g ,", notFor: "people" },
];

/** The views the caller may open. */
export function useNavigation(): readonly NavigationItem[] {
	const { isPerson, isGuest } = useMe();
	return useMemo(
		() =>
			items.filter(({ notFor }) => notFor === undefined || !(isGuest || (isPerson && notFor === "people"))),
		[isPerson, isGuest],
	);
}
