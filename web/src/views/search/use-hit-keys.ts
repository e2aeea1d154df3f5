// Moves through the hits by keyboard. The focus itself moves, so Enter opens the hit and a screen reader announces it.

import { type RefObject, useEffect } from "react";
import { useShortcut } from "../../app/shortcuts.ts";
import { texts } from "../../texts/search.ts";

export function useHitKeys(
	list: RefObject<HTMLOListElement | null>,
	field: RefObject<HTMLInputElement | null>,
): void {
	const move = (by: 1 | -1) => {
		const links = [...(list.current?.querySelectorAll<HTMLAnchorElement>("a[data-hit]") ?? [])];
		const at = links.indexOf(document.activeElement as HTMLAnchorElement);
		if (at === 0 && by === -1) field.current?.focus();
		else links[at === -1 ? 0 : Math.min(at + by, links.length - 1)]?.focus();
	};
	useShortcut("j", texts.useHitKeys.nextResult, () => move(1));
	useShortcut("k", texts.useHitKeys.previousResult, () => move(-1));
	useShortcut("ArrowDown", texts.useHitKeys.nextResult, () => move(1));
	useShortcut("ArrowUp", texts.useHitKeys.previousResult, () => move(-1));
	// Keys typed into a field belong to it, but a field with one line does not need ArrowDown.
	useEffect(() => {
		const input = field.current;
		const down = (event: KeyboardEvent) => {
			if (event.key !== "ArrowDown" || event.isComposing) return;
			event.preventDefault();
			list.current?.querySelector<HTMLAnchorElement>("a[data-hit]")?.focus();
		};
		input?.addEventListener("keydown", down);
		return () => input?.removeEventListener("keydown", down);
	}, [list, field]);
}
