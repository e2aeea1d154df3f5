// The confirmation calls, as used by the commands. A refusal becomes the command's error.
import { type ConfirmCallInput, callConfirm } from "../../../http/client/index.ts";
import type { Client, ConfirmAnswer, ConfirmCallName } from "../../../http/index.ts";

/** The most that one page holds. */
export const PAGE = 200;

export function ask<Name extends ConfirmCallName>(
	client: Client,
	name: Name,
	input: ConfirmCallInput<Name> = {},
): Promise<ConfirmAnswer<Name>> {
	return callConfirm(client, name, input);
}
