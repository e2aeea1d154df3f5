// The events of a chat, from any source: the closed list of what a person sees in a conversation.

export type ChatEvent =
	/** A message of a person; `mine` if it was written here. */
	| { readonly kind: "user"; readonly author: string | null; readonly text: string; readonly mine: boolean }
	/** A streaming piece; `offset` counts UTF-16 units within the message (turn, index). */
	| {
			readonly kind: "delta";
			readonly turn: string;
			readonly index: number;
			readonly offset: number;
			readonly text: string;
	  }
	/** An assistant message's final text. It replaces the streamed one for (turn, index). */
	| { readonly kind: "answer"; readonly turn: string; readonly index: number | null; readonly text: string }
	| {
			readonly kind: "call";
			readonly turn: string;
			readonly id: string;
			readonly name: string;
			/** JSON, or a line that says it. */
			readonly args: string;
	  }
	| {
			readonly kind: "result";
			readonly id: string;
			readonly name: string;
			readonly text: string;
			readonly isError: boolean;
	  }
	| { readonly kind: "notice"; readonly text: string }
	/** A command's answer. */
	| { readonly kind: "reply"; readonly text: string }
	| { readonly kind: "boundary"; readonly text: string }
	| {
			readonly kind: "turn";
			readonly turn: string;
			readonly state: "begun" | "ended";
			readonly outcome?: string;
	  }
	| { readonly kind: "connection"; readonly state: "lost" | "restored" };

export type EventOf<Kind extends ChatEvent["kind"]> = Extract<ChatEvent, { readonly kind: Kind }>;
