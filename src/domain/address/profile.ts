// Profile names. "No profile" has one form inside Keryx, the empty string.
import { KeryxError } from "../../errors.ts";

const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** null, "" and "default" mean no profile and become "". */
export function profileName(name: string | null | undefined): string {
	if (!name || name === "default") return "";
	if (PROFILE_NAME.test(name)) return name;
	throw new KeryxError(
		"profile.invalid",
		"profile must be 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit",
		{ field: "profile" },
	);
}
