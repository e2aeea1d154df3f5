// The calls about confirmations as the commands make them. What is refused there is the error that the command reports.
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
