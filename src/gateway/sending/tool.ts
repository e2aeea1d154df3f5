// The agent's tool for sending, on a gateway's targets.
import { createSendTool, type SendToolOptions, type Tool } from "../../tools/index.ts";
import type { Sending } from "./types.ts";

export function sendTool({
	sending,
	...files
}: Pick<SendToolOptions, "workspaceOf" | "limit"> & {
	/** Read per call: the tool is created before the gateway. */
	readonly sending: () => Sending;
}): Tool {
	return createSendTool({
		...files,
		resolve: (text, sender) => sending().resolve(text, sender),
		send: async (message, { conversation, turn, scope }) =>
			sending().send({
				...message,
				by: `agent:${(scope.kind === "principal" && scope.profile) || "default"}`,
				from: await sending().whereOf(conversation),
				turn,
				whileRunning: true,
			}),
	});
}
