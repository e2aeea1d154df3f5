import { useState } from "react";

/**
 * Inside the page's main part, so that overlays belong to a landmark, too; next to it in a dialog, which hides the rest. Determined when
 * it opens.
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
