// Where one can go, in the order of the rail.

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
}

export const places: readonly Place[] = [
	{ to: "/", name: texts.places.conversations, icon: MessagesSquare, keys: "g c" },
	{ to: "/confirmations", name: texts.places.confirmations, icon: ShieldQuestionMark, keys: "g a" },
	{ to: "/processes", name: texts.places.processes, icon: SquareTerminal, keys: "g p" },
	{ to: "/schedules", name: texts.places.schedules, icon: CalendarClock, keys: "g j" },
	{ to: "/checkpoints", name: texts.places.checkpoints, icon: Archive, keys: "g k" },
	{ to: "/insights", name: texts.places.insights, icon: ChartNoAxesColumn, keys: "g i" },
	{ to: "/channels", name: texts.places.channels, icon: Plug, keys: "g h" },
	{ to: "/search", name: texts.places.search, icon: Search, keys: "g s" },
	{ to: "/settings", name: texts.places.settings, icon: Settings, keys: "g ," },
];
