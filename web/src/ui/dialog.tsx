import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { classes } from "../lib/classes.ts";
import { texts } from "../texts/app.ts";
import { IconButton } from "./button.tsx";

export interface DialogProps {
	readonly open: boolean;
	readonly onOpenChange: (open: boolean) => void;
	readonly title: string;
	/** One sentence below the title. */
	readonly about?: ReactNode;
	readonly children: ReactNode;
	/** Buttons, the confirming one last. */
	readonly actions?: ReactNode;
	readonly wide?: boolean;
}

export function Dialog({ open, onOpenChange, title, about, children, actions, wide = false }: DialogProps) {
	return (
		<Radix.Root open={open} onOpenChange={onOpenChange}>
			<Radix.Portal>
				<Radix.Overlay className="fixed inset-0 z-40 bg-shade" />
				<Radix.Content
					{...(about === undefined && { "aria-describedby": undefined })}
					onOpenAutoFocus={focusOnWhole}
					className={classes(
						"rise fixed inset-x-3 top-[10vh] z-50 mx-auto flex max-h-[80vh] flex-col rounded-lg border border-line-strong/50 bg-raised",
						wide ? "max-w-3xl" : "max-w-lg",
					)}
				>
					<header className="flex items-start gap-2 border-b px-5 py-3.5">
						<div className="min-w-0 flex-1">
							<Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
							{about !== undefined && <Radix.Description className="text-ink-2">{about}</Radix.Description>}
						</div>
						<Radix.Close asChild>
							<IconButton label={texts.dialog.close} size="sm" className="-mr-1.5">
								<X size={16} />
							</IconButton>
						</Radix.Close>
					</header>
					<div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
					{actions !== undefined && (
						<footer className="flex justify-end gap-2 border-t px-5 py-3">{actions}</footer>
					)}
				</Radix.Content>
			</Radix.Portal>
		</Radix.Root>
	);
}

/** Focuses the dialog, not its close button, so that its question is read first. A field with the focus keeps it. */
function focusOnWhole(event: Event): void {
	const dialog = event.currentTarget;
	event.preventDefault();
	if (dialog instanceof HTMLElement && !dialog.contains(document.activeElement)) dialog.focus();
}
