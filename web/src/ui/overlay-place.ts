import { useState } from "react";

/**
 * Inside the page's main part, so that what floats is part of a landmark, too; in a dialog, which hides the rest, beside it. Which of
 * them, is known when it opens.
 */
export function useOverlayPlace(): {
	readonly container: HTMLElement | null;
	readonly onOpenChange: (isOpen: boolean) => void;
} {
	const [container, setContainer] = useState(overlayPlace);
	return { container, onOpenChange: (isOpen) => isOpen && setContainer(overlayPlace()) };
}

function overlayPlace(): HTMLElement | null {
	return document.querySelector('[role="dialog"]') ? null : document.getElementById("main");
}
