import { Tabs as Radix } from "radix-ui";
import { type ReactNode, useLayoutEffect, useRef } from "react";

export interface Tab<Name extends string> {
	readonly name: Name;
	readonly label: ReactNode;
	readonly content: ReactNode;
}

export function Tabs<Name extends string>({
	label,
	tabs,
	value,
	onChange,
}: {
	readonly label: string;
	readonly tabs: readonly Tab<Name>[];
	readonly value: Name;
	readonly onChange: (value: Name) => void;
}) {
	const list = useRef<HTMLDivElement>(null);
	// Not all tabs fit on a phone. The current one is always in view.
	// biome-ignore lint/correctness/useExhaustiveDependencies: another tab is what moves it.
	useLayoutEffect(() => {
		list.current
			?.querySelector("[data-state=active]")
			?.scrollIntoView({ block: "nearest", inline: "center" });
	}, [value]);
	return (
		<Radix.Root
			value={value}
			onValueChange={(next) => onChange(next as Name)}
			className="flex min-h-0 flex-1 flex-col"
		>
			<Radix.List
				ref={list}
				aria-label={label}
				className="flex shrink-0 gap-4 overflow-x-auto border-b px-4 lg:px-6"
			>
				{tabs.map((tab) => (
					<Radix.Trigger
						key={tab.name}
						value={tab.name}
						className="-mb-px flex h-9 items-center gap-1.5 whitespace-nowrap rounded-t-xs border-b-2 border-transparent px-0.5 text-ink-2 -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
					>
						{tab.label}
					</Radix.Trigger>
				))}
			</Radix.List>
			{tabs.map((tab) => (
				<Radix.Content key={tab.name} value={tab.name} className="min-h-0 flex-1 overflow-y-auto">
					{tab.content}
				</Radix.Content>
			))}
		</Radix.Root>
	);
}
