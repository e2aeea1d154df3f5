// A chat that nobody has written in yet. It becomes a conversation with its first message.
import { Link } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { useRef, useState } from "react";
import { Empty } from "../../ui/index.ts";
import { Compose, type ComposeHandle } from "./compose.tsx";
import { useOpening } from "./first-messages.ts";
import { OutgoingItem } from "./message-item.tsx";
import { keyOf, newChat, send, useOutgoing } from "./outgoing.ts";

export function NewConversation() {
	const [place] = useState(newChat);
	const outgoing = useOutgoing(keyOf(place));
	const open = useOpening();
	const compose = useRef<ComposeHandle>(null);
	return (
		<section aria-label="New chat" className="flex h-full min-h-0 flex-col">
			<header className="flex h-13 shrink-0 items-center gap-2 border-b px-2 md:px-4">
				<Link
					to="/"
					aria-label="Back to the list"
					className="flex size-8 items-center justify-center rounded-sm text-ink-2 hover:bg-hover md:hidden"
				>
					<ChevronLeft size={20} aria-hidden />
				</Link>
				<h1 className="font-semibold">New chat</h1>
			</header>
			<div className="min-h-0 flex-1 overflow-y-auto">
				{outgoing.length === 0 ? (
					<Empty title="A fresh conversation">
						Its first message begins it. A slash lists what can be commanded.
					</Empty>
				) : (
					<div className="mx-auto max-w-3xl pt-4">
						{outgoing.map((one) => (
							<OutgoingItem key={one.id} outgoing={one} />
						))}
					</div>
				)}
			</div>
			<Compose
				draftKey="new"
				handle={compose}
				placeholder="Write a message"
				history={() => []}
				onSend={(text) => void send(place, text, 0).then(open)}
			/>
		</section>
	);
}
