// Action names. A name that a human would read as a known one counts as that one, whatever invisible or wide characters it contains.

const ALPHABET = /^[A-Za-z0-9_.:-]+$/;
/** Said wherever a name is refused. */
export const ACTION_ALPHABET = "letters from a to z, digits and _ . : -";

/** The stored name, or null if it contains anything outside the alphabet. Case is kept. */
export function actionName(text: string): string | null {
	const visible = text
		.normalize("NFKC")
		.replace(/[\p{C}\p{Default_Ignorable_Code_Point}\p{Z}]+/gv, (gap) => (/\p{Z}/v.test(gap) ? " " : ""));
	const name = visible.trim();
	return ALPHABET.test(name) ? name : null;
}

/** For comparing: case does not matter. */
export function foldedAction(text: string): string {
	return (actionName(text) ?? text).toLowerCase();
}
