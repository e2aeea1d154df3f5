// Starts a chat with its first message, and opens it.
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../../api/index.ts";
import { newChat, send } from "./outgoing.ts";

/** Starts a chat with one message, opens it, and sends the others there. False if it was not accepted. */
export function useFirstMessages(): (texts: readonly string[]) => Promise<boolean> {
	const open = useOpening();
	return async ([first = "", ...others]) => {
		const id = await send(newChat(), first, 0);
		if (id === null) return false;
		open(id);
		if (others.length === 0) return true;
		const conversation = await api.conversation({ conversation: id });
		for (const text of others) await send({ kind: "conversation", conversation }, text, 0);
		return true;
	};
}

export function useOpening(): (conversation: string | null) => void {
	const navigate = useNavigate();
	return (conversation) => {
		if (conversation !== null)
			void navigate({ to: "/c/$conversation", params: { conversation }, replace: true });
	};
}
