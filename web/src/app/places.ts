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
	{ to: "/", name: "Conversations", icon: MessagesSquare, keys: "g c" },
	{ to: "/confirmations", name: "Confirmations", icon: ShieldQuestionMark, keys: "g a" },
	{ to: "/processes", name: "Processes", icon: SquareTerminal, keys: "g p" },
	{ to: "/schedules", name: "Schedules", icon: CalendarClock, keys: "g j" },
	{ to: "/checkpoints", name: "Checkpoints", icon: Archive, keys: "g k" },
	{ to: "/insights", name: "Insights", icon: ChartNoAxesColumn, keys: "g i" },
	{ to: "/channels", name: "Channels", icon: Plug, keys: "g h" },
	{ to: "/search", name: "Search", icon: Search, keys: "g s" },
	{ to: "/settings", name: "Settings", icon: Settings, keys: "g ," },
];
