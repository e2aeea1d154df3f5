import { useState } from "react";

/**
 * The container for overlays: the page's main part, so that they belong to a landmark. Null inside a dialog, because a dialog hides the
 * main part. Determined on opening.
 */
export function useOverlayContainer(): {
	readonly container: HTMLElement | null;
	readonly onOpenChange: (isOpen: boolean) => void;
} {
	const [container, setContainer] = useState(overlayContainer);
	return { container, onOpenChange: (isOpen) => isOpen && setContainer(overlayContainer()) };
}

function overlayContainer(): HTMLElement | null {
	return document.querySelector('[role="dialog"]') ? null : document.getElementById("main");
}
