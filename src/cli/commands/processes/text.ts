// The texts of the commands about processes.

import { onOneLine } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import type { Account } from "./account.ts";

/** As requested, if the store knows; otherwise what runs. On one line. */
export function commandOf({ row, info }: Pick<Account, "row" | "info">): string {
	return onOneLine(row?.command ?? info?.argv.join(" ") ?? "");
}

/** Where bytes are no longer in the log. */
export function cutMark(lost: number): string {
	return texts.processes.cut(new Intl.NumberFormat("en").format(lost));
}
