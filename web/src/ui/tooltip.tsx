import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Kbd } from "./kbd.tsx";
import { useOverlayContainer } from "./overlay-container.ts";

/** Wraps the whole page once. */
export const TooltipProvider = Radix.Provider;

export function Tooltip({
	text,
	keys,
	side = "top",
	children,
}: {
	readonly text: ReactNode;
	readonly keys?: string | undefined;
	readonly side?: "top" | "right" | "bottom" | "left";
	readonly children: ReactNode;
}) {
	const { container, onOpenChange } = useOverlayContainer();
	return (
		<Radix.Root onOpenChange={onOpenChange}>
			<Radix.Trigger asChild>{children}</Radix.Trigger>
			<Radix.Portal container={container}>
				<Radix.Content
					side={side}
					sideOffset={6}
					collisionPadding={8}
					className="z-50 flex max-w-72 items-center gap-2 rounded-sm bg-ink px-2 py-1 text-xs text-ground"
				>
					{text}
					{keys !== undefined && <Kbd keys={keys} inverse />}
				</Radix.Content>
			</Radix.Portal>
		</Radix.Root>
	);
}
