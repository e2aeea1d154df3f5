/** Inside the page's main part, so that what floats is part of a landmark, too; in a dialog, which hides the rest, beside it. */
export function overlayPlace(): HTMLElement | null {
	return document.querySelector('[role="dialog"]') ? null : document.getElementById("main");
}
