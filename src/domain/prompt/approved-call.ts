// The row that tells the agent what became of a call that a person approved. Pure.
import type { NewMessage } from "../message.ts";

export interface ApprovedCall {
	/** Of the confirmation. */
	readonly id: string;
	readonly tool: string | null;
	readonly details: Readonly<Record<string, unknown>>;
	readonly resolvedBy: string | null;
}

/** States call, decision and result. */
export function approvedCallResult(
	{ id, tool, details, resolvedBy }: ApprovedCall,
	result: NewMessage["content"],
): NewMessage {
	const said = `The call ${tool ?? ""} ${JSON.stringify(details)} (confirmation ${id}, approved by ${resolvedBy ?? "a person"}). Result:`;
	const content =
		typeof result === "string" ? `${said}\n${result}` : [{ type: "text" as const, text: said }, ...result];
	return { role: "meta", kind: "note", content, confirmation: { id, as: "result" } };
}
