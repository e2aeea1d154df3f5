import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { classes } from "../lib/classes.ts";
import { useOverlayContainer } from "./overlay-container.ts";

export function Menu({
	trigger,
	label,
	align = "end",
	defaultOpen = false,
	children,
}: {
	/** One button, with its own label. */
	readonly trigger: ReactNode;
	readonly label: string;
	readonly align?: "start" | "end";
	/** For a menu that is first mounted by the click that opens it. */
	readonly defaultOpen?: boolean;
	readonly children: ReactNode;
}) {
	const { container, onOpenChange } = useOverlayContainer();
	return (
		<Radix.Root modal={false} defaultOpen={defaultOpen} onOpenChange={onOpenChange}>
			<Radix.Trigger asChild>{trigger}</Radix.Trigger>
			<Radix.Portal container={container}>
				<Radix.Content
					aria-label={label}
					align={align}
					sideOffset={4}
					collisionPadding={8}
					className="rise z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 max-w-80 overflow-y-auto rounded-md border border-line-strong/60 bg-raised p-1"
				>
					{children}
				</Radix.Content>
			</Radix.Portal>
		</Radix.Root>
	);
}

const ITEM =
	"flex min-h-8 w-full cursor-default select-none items-center gap-2 rounded-sm px-2 py-1 outline-none data-highlighted:bg-hover data-disabled:opacity-50";

export function MenuItem({
	icon,
	hint,
	danger = false,
	disabled = false,
	onSelect,
	children,
}: {
	readonly icon?: ReactNode;
	readonly hint?: ReactNode;
	readonly danger?: boolean;
	readonly disabled?: boolean;
	readonly onSelect: () => void;
	readonly children: ReactNode;
}) {
	return (
		<Radix.Item
			disabled={disabled}
			onSelect={onSelect}
			className={classes(ITEM, danger ? "text-danger" : "text-ink")}
		>
			{icon !== undefined && <span className={danger ? "" : "text-ink-3"}>{icon}</span>}
			<span className="min-w-0 flex-1 truncate">{children}</span>
			{hint !== undefined && <span className="text-xs text-ink-3">{hint}</span>}
		</Radix.Item>
	);
}

/** One of several choices; the current one has a mark. */
export function MenuChoice<Choice extends string>({
	value,
	choices,
	onChange,
}: {
	readonly value: Choice;
	readonly choices: readonly {
		readonly value: Choice;
		readonly name: ReactNode;
		readonly icon?: ReactNode;
	}[];
	readonly onChange: (value: Choice) => void;
}) {
	return (
		<Radix.RadioGroup value={value} onValueChange={(next) => onChange(next as Choice)}>
			{choices.map((choice) => (
				<Radix.RadioItem key={choice.value} value={choice.value} className={ITEM}>
					<span className="text-ink-3">{choice.icon}</span>
					<span className="min-w-0 flex-1 truncate">{choice.name}</span>
					<Radix.ItemIndicator className="size-1.5 rounded-full bg-accent" />
				</Radix.RadioItem>
			))}
		</Radix.RadioGroup>
	);
}

export function MenuSeparator() {
	return <Radix.Separator className="mx-2 my-1 h-px bg-line" />;
}
