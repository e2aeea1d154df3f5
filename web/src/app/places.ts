// The views, in the order of the rail.

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

export interface Place {
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
	/** Guests do not see it, or nobody but owners. */
	readonly notFor?: "guests" | "people";
}

const places: readonly Place[] = [
	{ to: "/", name: texts.places.conversations, icon: MessagesSquare, keys: "g c" },
	{
		to: "/confirmations",
		name: texts.places.confirmations,
		icon: ShieldQuestionMark,
		keys: "g a",
		notFor: "guests",
	},
	{ to: "/processes", name: texts.places.processes, icon: SquareTerminal, keys: "g p", notFor: "guests" },
	{ to: "/schedules", name: texts.places.schedules, icon: CalendarClock, keys: "g j", notFor: "guests" },
	{ to: "/checkpoints", name: texts.places.checkpoints, icon: Archive, keys: "g k", notFor: "guests" },
	{ to: "/insights", name: texts.places.insights, icon: ChartNoAxesColumn, keys: "g i", notFor: "people" },
	{ to: "/channels", name: texts.places.channels, icon: Plug, keys: "g h", notFor: "people" },
	{ to: "/search", name: texts.places.search, icon: Search, keys: "g s" },
	{ to: "/settings", name: texts.places.settings, icon: Settings, keys: "g ,", notFor: "people" },
];

/** The places that the caller may go to. */
export function usePlaces(): readonly Place[] {
	const { isPerson, isGuest } = useMe();
	return useMemo(
		() =>
			places.filter(({ notFor }) => notFor === undefined || !(isGuest || (isPerson && notFor === "people"))),
		[isPerson, isGuest],
	);
}
