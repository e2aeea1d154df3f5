import { texts } from "../texts/app.ts";
import { Dialog, Kbd } from "../ui/index.ts";
import { useShortcuts } from "./shortcuts.ts";

/** The shortcuts that work on the current view. */
export function ShortcutSheet({ onClose }: { readonly onClose: () => void }) {
	const known = new Map(useShortcuts().map((shortcut) => [shortcut.keys, shortcut]));
	return (
		<Dialog open onOpenChange={onClose} title={texts.shortcutSheet.keyboardShortcuts}>
			<dl className="grid grid-cols-1 gap-x-8 sm:grid-cols-2">
				{[...known.values()].map(({ keys, what }) => (
					<div key={keys} className="flex h-8 items-center justify-between gap-4 border-b border-line/60">
						<dt className="text-ink-2">{what}</dt>
						<dd>
							<Kbd keys={keys === "Escape" ? "Esc" : keys} />
						</dd>
					</div>
				))}
			</dl>
		</Dialog>
	);
}
