// A chat without messages. It becomes a conversation with its first message.

import { Link, useSearch } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { lazy, type ReactNode, Suspense, useId, useRef, useState } from "react";
import { texts } from "../../../texts/conversations.ts";
import { Empty, Select } from "../../../ui/index.ts";
import { Compose, type ComposeHandle } from "../compose/compose.tsx";
import { useOpening } from "../compose/first-messages.ts";
import { ModelButton, type ModelOverride, modelName } from "../compose/model-button.tsx";
import { keyOf, newChat, type OutgoingFile, send, useOutgoing } from "../compose/outgoing.ts";
import { profileName, useProfiles } from "../profiles.ts";

const ModelDialog = lazy(() =>
	import("../compose/model-picker.tsx").then((m) => ({ default: m.ModelDialog })),
);
/** Loaded with the first message, so that the message box appears sooner. */
const OutgoingItem = lazy(() =>
	import("../transcript/message-item.tsx").then((m) => ({ default: m.OutgoingItem })),
);

/** `children` replace the hint until the first message is sent. With them, the message box does not take the focus. */
export function NewConversation({ children }: { readonly children?: ReactNode }) {
	const { profile: asked = "" } = useSearch({ strict: false });
	const profiles = useProfiles();
	const profileId = useId();
	const [profile, setProfile] = useState(asked);
	const answering = profiles.find(({ name }) => name === profile);
	const [override, setOverride] = useState<ModelOverride>(null);
	const [isChoosing, setChoosing] = useState(false);
	const [chat] = useState(newChat);
	const target = { ...chat, profile } as const;
	const outgoing = useOutgoing(keyOf(target));
	const open = useOpening();
	const compose = useRef<ComposeHandle>(null);
	/** Another model is chosen with a command in the chat, so that the transcript shows it. */
	const begin = async (text: string, files: readonly OutgoingFile[]): Promise<void> => {
		if (override) await send(target, `/model ${modelName(override)}`, 0);
		open(await send(target, text, 0, files));
	};
	return (
		<section aria-label={texts.newConversation.newChat} className="flex h-full min-h-0 flex-col">
			<header className="flex h-13 shrink-0 items-center gap-2 border-b px-2 md:px-4">
				<Link
					to="/"
					aria-label={texts.newConversation.backToTheList}
					className="flex size-8 items-center justify-center rounded-sm text-ink-2 hover:bg-hover md:hidden"
				>
					<ChevronLeft size={20} aria-hidden />
				</Link>
				<div className="min-w-0">
					<h1 className="font-semibold leading-5">{texts.newConversation.newChat}</h1>
					{answering && (
						<p className="truncate text-xs text-ink-3">
							{answering.agent === "offline" && texts.header.noModelIsConnected}
							{answering.agent !== "offline" && answering.model === null && answering.agent}
							{answering.model !== null && (
								<ModelButton model={override?.model ?? answering.model} onClick={() => setChoosing(true)} />
							)}
						</p>
					)}
				</div>
				{profiles.length > 1 && (
					<span className="ml-auto flex min-w-0 items-center gap-2 text-sm text-ink-2">
						<label htmlFor={profileId} className="max-sm:sr-only">
							{texts.newConversation.profile}
						</label>
						<Select
							id={profileId}
							value={profile}
							disabled={outgoing.length > 0}
							className="max-w-44"
							onChange={({ target }) => setProfile(target.value)}
						>
							{profiles.map(({ name }) => (
								<option key={name} value={name}>
									{profileName(name)}
								</option>
							))}
						</Select>
					</span>
				)}
			</header>
			<div className="min-h-0 flex-1 overflow-y-auto">
				{outgoing.length === 0 ? (
					(children ?? (
						<Empty title={texts.newConversation.aNewConversation}>
							{texts.newConversation.sendAMessageToStart}
						</Empty>
					))
				) : (
					<div className="mx-auto max-w-3xl pt-4">
						<Suspense>
							{outgoing.map((one) => (
								<OutgoingItem key={one.id} outgoing={one} />
							))}
						</Suspense>
					</div>
				)}
			</div>
			<Compose
				draftKey="new"
				handle={compose}
				takesFocus={children === undefined}
				placeholder={texts.newConversation.writeAMessage}
				history={() => []}
				onSend={(text, files) => void begin(text, files)}
			/>
			<Suspense>
				{isChoosing && (
					<ModelDialog
						override={override}
						profile={profile}
						configured={answering?.model ?? ""}
						onChoose={async (chosen) => setOverride(chosen)}
						onClose={() => setChoosing(false)}
					/>
				)}
			</Suspense>
		</section>
	);
}
