import { useState } from "react";

/**
 * The container for overlays: the page's main part, so that they belong to a landmark. Null, the body, while a dialog is open, because it
 * hides the main part. Determined on opening.
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
