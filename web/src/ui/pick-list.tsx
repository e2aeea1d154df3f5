import { Check } from "lucide-react";
import { classes } from "../lib/classes.ts";

interface Pick {
	readonly value: string;
	readonly name: string;
	/** The origin or a description. */
	readonly about?: string;
}

/** A list of names to choose from with a click, below the field that filters them. */
export function PickList({
	label,
	picks,
	chosen,
	chosenLabel,
	disabled = false,
	onPick,
}: {
	readonly label: string;
	readonly picks: readonly Pick[];
	readonly chosen: string;
	readonly chosenLabel: string;
	readonly disabled?: boolean;
	readonly onPick: (value: string) => void;
}) {
	return (
		<ul aria-label={label} className="max-h-64 overflow-y-auto rounded-sm border">
			{picks.map(({ value, name, about }) => (
				<li key={value} className="border-b last:border-0">
					<button
						type="button"
						disabled={disabled}
						className={classes(
							"flex min-h-8 w-full items-center gap-2 px-2.5 py-1 text-left -outline-offset-2 hover:bg-hover",
							value === chosen && "bg-selected",
						)}
						onClick={() => onPick(value)}
					>
						<span className="min-w-0 flex-1 truncate">{name}</span>
						{about !== undefined && <span className="shrink-0 text-xs text-ink-3">{about}</span>}
						<span className="flex w-4 shrink-0 justify-end text-accent">
							{value === chosen && <Check size={14} aria-label={chosenLabel} />}
						</span>
					</button>
				</li>
			))}
		</ul>
	);
}
